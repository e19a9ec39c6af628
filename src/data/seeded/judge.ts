/**
 * What the stored objects say about datasets, their caches and who uses them: written independently of the controllers, so that
 * the judge does not trust the judged. Knows what seeds use: names that are short, and paths that are made of names.
 */
import type { CacheRuntime, Dataset, RuntimeCondition } from '../../kinds/fluid/index.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { InvariantView } from '../../runtime/seams/seeded.ts'

export const DATASETS = 'datasets.data.fluid.io'
export const VOLUMES = 'persistentvolumes'
export const CLAIMS = 'persistentvolumeclaims'
export const SETS = 'advancedstatefulsets.workload.fluid.io'
/** The kinds of runtimes that seeds use, by where they are stored. */
export const RUNTIMES: Readonly<Record<string, string>> = {
  cache: 'cacheruntimes.data.fluid.io',
  alluxio: 'alluxioruntimes.data.fluid.io',
  thin: 'thinruntimes.data.fluid.io',
}
export const BOUND: readonly string[] = ['Bound', 'Failed', 'Updating']

export const whereOf = ({ metadata: { namespace, name = '' } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`

export const namespaceIn = (where: string): string => where.slice(0, where.indexOf('/'))

export const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export const phaseOf = (dataset: KubeObject | undefined): string => (dataset as Dataset | undefined)?.status?.phase ?? ''

/** Made for a dataset: a volume or a claim. */
export const isMade = ({ metadata: { annotations, labels } }: KubeObject): boolean =>
  annotations?.CreatedBy === 'fluid' && labels?.['fluid.io/dataset-id'] !== undefined

/** How the volume of a dataset is called. */
export const volumeNameOf = (where: string): string => where.replace('/', '-')

/** The dataset that a volume or a claim was made for. */
export function datasetOfVolume(object: KubeObject): string {
  const { namespace, name } = (object as PersistentVolume).spec?.claimRef ?? {}
  return object.kind === 'PersistentVolume' ? `${namespace}/${name}` : whereOf(object)
}

export function runtimesOf(view: InvariantView, where: string): { type: string; object: KubeObject }[] {
  return Object.entries(RUNTIMES).flatMap(([type, plural]) => {
    const object = view.get(plural, where)
    return object === undefined ? [] : [{ type, object }]
  })
}

/** Whether there is a dataset of this name, and a runtime, and neither is being deleted. */
export function isWanted(view: InvariantView, where: string): boolean {
  const dataset = view.get(DATASETS, where)
  return dataset !== undefined && !isGoing(dataset) && runtimesOf(view, where).some(({ object }) => !isGoing(object))
}

export interface Worker {
  pod: Pod
  node: string
  /** `namespace/name`. */
  dataset: string
}

/** Undefined: it is no worker, or on no node. */
export function workerOf(object: KubeObject): Worker | undefined {
  const pod = object as Pod
  const { namespace, labels = {}, ownerReferences = [] } = pod.metadata
  const [name, node] = [labels['cacheruntime.fluid.io/name'], pod.spec?.nodeName]
  const isOwned = ownerReferences.some(({ kind, controller }) => kind === 'AdvancedStatefulSet' && controller === true)
  if (name === undefined || node === undefined || !isOwned || labels['fluid.io/dataset'] === undefined) return undefined
  return { pod, node, dataset: `${namespace}/${name}` }
}

export const workersIn = (view: InvariantView): Worker[] => view.list('pods').flatMap((pod) => workerOf(pod) ?? [])

/** How the label of a dataset ends: `default-demo`. */
export const labelNameOf = (dataset: string): string => dataset.replace('/', '-')

export const commonLabelOf = (dataset: string): string => `fluid.io/s-${labelNameOf(dataset)}`

/** Pods that use the claim of a dataset, on a node and not at their end. */
export function usersOf(view: InvariantView, where: string): Pod[] {
  const [namespace, name] = where.split('/')
  return (view.list('pods') as Pod[]).filter(
    (pod) =>
      pod.metadata.namespace === namespace &&
      !isGoing(pod) &&
      (pod.spec?.nodeName ?? '') !== '' &&
      !['Succeeded', 'Failed'].includes(pod.status?.phase ?? '') &&
      (pod.spec?.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
  )
}

export function claimOf(view: InvariantView, where: string): PersistentVolumeClaim | undefined {
  return view.get(CLAIMS, where) as PersistentVolumeClaim | undefined
}

export const mountPathsOf = (dataset: KubeObject): string[] =>
  ((dataset as Dataset).spec?.mounts ?? []).map(({ path, name }) => path ?? `/${name}`).sort()

export const classNameOf = (runtime: KubeObject): string => (runtime as CacheRuntime).spec?.runtimeClassName ?? ''

export const conditionIn = ({ status }: KubeObject, type: string): RuntimeCondition | undefined =>
  (status as { conditions?: RuntimeCondition[] } | undefined)?.conditions?.find((one) => one.type === type)

/** Whether a runtime is served as it is written: what a server refused is not. */
export function isServed(runtime: KubeObject): boolean {
  const { status, reason } = conditionIn(runtime, 'Served') ?? {}
  return status === 'True' && reason !== 'NotAccepted'
}
