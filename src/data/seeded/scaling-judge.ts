/** What the stored objects say about the workers of a cache, and about who reads beside them. Like `judge.ts`, on its own. */
import type { AdvancedStatefulSet, CacheRuntime } from '../../kinds/fluid/index.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'
import { CLAIMS, isGoing, RUNTIMES, SETS, VOLUMES, volumeNameOf, whereOf } from './judge.ts'

const WORKERS = '-worker'
const LEAVING = 'sluice.dev/leaving-worker'

export interface WorkerSet {
  set: AdvancedStatefulSet
  /** `namespace/name`. */
  where: string
  /** `namespace/name` of the dataset. */
  dataset: string
  /** The plural of the runtime that it belongs to. */
  plural: string
}

/** Undefined: it is not the set of the workers of a cache. */
export function workerSetOf(object: KubeObject): WorkerSet | undefined {
  const { namespace, name = '', ownerReferences = [] } = object.metadata
  const owner = ownerReferences.find(({ controller }) => controller === true)
  const plural = owner === undefined ? undefined : RUNTIMES[owner.kind.replace(/Runtime$/, '').toLowerCase()]
  if (owner === undefined || plural === undefined || !name.endsWith(WORKERS)) return undefined
  return { set: object as AdvancedStatefulSet, where: whereOf(object), dataset: `${namespace}/${owner.name}`, plural }
}

export const workerSetsIn = (view: InvariantView): WorkerSet[] => view.list(SETS).flatMap((object) => workerSetOf(object) ?? [])

/** The pods that it has by its spec. */
export function podNamesIn(set: KubeObject | undefined): string[] {
  if (set === undefined) return []
  const { replicas = 1, reserveOrdinals = [] } = (set as AdvancedStatefulSet).spec
  const ranges = reserveOrdinals.map((one) => String(one).split('-').map(Number))
  const isReserved = (ordinal: number): boolean => ranges.some(([first = 0, last = first]) => ordinal >= first && ordinal <= last)
  const names: string[] = []
  for (let ordinal = 0; names.length < replicas; ordinal++) if (!isReserved(ordinal)) names.push(`${set.metadata.name}-${ordinal}`)
  return names
}

/** The pod that is being led out. */
export const leavingIn = (set: KubeObject | undefined): string | undefined => set?.metadata.annotations?.[LEAVING]?.split(' ')[0]

/** How many workers a runtime asks for; one that is gone asks for none. */
export function askedOf(runtime: KubeObject | undefined): number {
  if (runtime === undefined) return 0
  const { worker, replicas } = runtime.spec as NonNullable<CacheRuntime['spec']> & { replicas?: number }
  return runtime.kind === 'CacheRuntime' ? (worker?.replicas ?? 1) : (replicas ?? 1)
}

/** Whether its clients are only where workers are: what its volume demands decides. */
export function isBesideWorkers(view: InvariantView, dataset: string): boolean {
  const volume = view.get(VOLUMES, volumeNameOf(dataset)) as PersistentVolume | undefined
  const terms = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
  return terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ key }) => key?.startsWith('fluid.io/s-') === true))
}

export interface Reader {
  pod: Pod
  node: string
  /** Those that it reads. */
  datasets: readonly string[]
}

/** Every pod that has a node, has not ended, and mounts a claim whose volume shows a dataset, in any namespace. */
export const readersIn = (view: InvariantView): Reader[] =>
  (view.list('pods') as Pod[]).flatMap((pod) => {
    const node = pod.spec?.nodeName ?? ''
    if (node === '' || ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) return []
    const datasets = (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
      persistentVolumeClaim === undefined
        ? []
        : (datasetOfClaim(view, `${pod.metadata.namespace}/${persistentVolumeClaim.claimName}`) ?? []),
    )
    return datasets.length === 0 ? [] : [{ pod, node, datasets }]
  })

function datasetOfClaim(view: InvariantView, where: string): string | undefined {
  const claim = view.get(CLAIMS, where) as PersistentVolumeClaim | undefined
  const volume = view.get(VOLUMES, claim?.spec?.volumeName ?? '') as PersistentVolume | undefined
  const { claimRef, csi } = volume?.spec ?? {}
  if (`${claimRef?.namespace}/${claimRef?.name}` !== where || csi?.driver !== 'fuse.csi.fluid.io') return undefined
  const { runtime_namespace: namespace, runtime_name: name } = (csi.volumeAttributes ?? {}) as Record<string, string>
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`
}

export const nodeOf = (view: InvariantView, pod: string): string => (view.get('pods', pod) as Pod | undefined)?.spec?.nodeName ?? ''

export const isThere = (object: KubeObject | undefined): object is KubeObject => object !== undefined && !isGoing(object)
