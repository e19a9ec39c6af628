/**
 * Which pods are workers of a dataset, and what is known about the datasets that have workers on a node. A pod counts from
 * the moment it is assigned until it is gone, whatever its phase: what it has cached is on the node that long.
 */
import { AdvancedStatefulSet, type CacheTierLevel, runtimeKinds, type TierLevel } from '../../kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, DATASETS } from '../../kinds/fluid/resources.ts'
import { cacheTiersOf, tiersOf } from '../../kinds/fluid/tiered-store.ts'
import { LABELS, RUNTIME_TYPES, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfRef, type ObjectRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Reader } from '../../runtime/controller.ts'
import { controllerOf } from '../../runtime/workloads/pod/ownership.ts'
import { ordinalsOf } from '../../runtime/workloads/stateful-set/ordinals.ts'
import { leavingIn } from '../scaling/handover.ts'

/** What one worker may hold. Undefined: it has no store of that kind. */
export interface Quotas {
  memoryBytes?: number
  diskBytes?: number
}

/** A dataset with workers on a node. What cannot be known any more, because its object is gone before the worker, is undefined. */
export interface CachedDataset {
  namespace: string
  name: string
  uid: string | undefined
  type: RuntimeType | undefined
  quotas: Quotas | undefined
  isExclusive: boolean
  /** A worker of it on the node is being led out, or is not wanted any more: nobody new should come for it. */
  isLeaving: boolean
}

export const RUNTIMES: readonly Resource[] = runtimeKinds.map(({ resource }) => resource as Resource)

/** Where workers of a ThinRuntime keep something, if they do, only their file system knows: as in Fluid, nodes are not labelled. */
const THIN_WORKER = 'thin-worker'

/** The dataset of a worker; undefined of other pods. Labels alone make no worker: whoever may create a pod may set them. */
export function datasetOf(pod: Pod): ObjectRef | undefined {
  const { namespace = '', labels } = pod.metadata
  const name = labels?.[LABELS.cacheRuntimeName] ?? ''
  if (name === '' || labels?.[LABELS.dataset] === undefined || labels.role === THIN_WORKER) return undefined
  const { kind, apiVersion = '' } = controllerOf(pod) ?? {}
  return kind === AdvancedStatefulSet.kind && apiVersion.startsWith(`${AdvancedStatefulSet.group}/`) ? { namespace, name } : undefined
}

/** Sorted, each once. */
export function cachedDatasets(workers: readonly Pod[], read: Pick<Reader, 'get'>): CachedDataset[] {
  const byDataset = new Map<string, { dataset: ObjectRef; pods: Pod[] }>()
  for (const pod of workers) {
    const dataset = datasetOf(pod)
    if (dataset === undefined) continue
    const found = byDataset.get(keyOfRef(dataset))
    if (found === undefined) byDataset.set(keyOfRef(dataset), { dataset, pods: [pod] })
    else found.pods.push(pod)
  }
  return [...byDataset.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { dataset, pods }]) => cachedDataset(dataset, pods, read))
}

function cachedDataset({ namespace, name }: ObjectRef, pods: readonly Pod[], read: Pick<Reader, 'get'>): CachedDataset {
  const runtime = runtimeOf({ namespace, name }, pods, read)
  const referred = runtime?.object?.metadata.ownerReferences?.find((owner) => owner.kind === DATASETS.kind && owner.name === name)
  return {
    namespace,
    name,
    uid: read.get(DATASETS, namespace, name)?.metadata.uid ?? referred?.uid,
    type: runtime?.type,
    quotas: runtime?.object === undefined ? undefined : quotasOf(runtime.object),
    isExclusive: pods.some(({ metadata }) => metadata.labels?.[LABELS.datasetPlacement] !== 'Shared'),
    isLeaving: pods.some((pod) => isLeaving(pod, read)),
  }
}

function isLeaving(pod: Pod, read: Pick<Reader, 'get'>): boolean {
  const { namespace = '', name = '', uid } = pod.metadata
  const set = read.get(ADVANCED_STATEFUL_SETS, namespace, controllerOf(pod)?.name ?? '')
  if (set === undefined) return false
  const marked = leavingIn(set.metadata.annotations)
  return (marked?.pod === name && marked.uid === uid) || !ordinalsOf(set).has(ordinalIn(name))
}

const ordinalIn = (pod: string): number => Number(pod.slice(pod.lastIndexOf('-') + 1))

/** The owner of the set that made the workers says it; without the set, the runtime that has the name of the dataset. */
function runtimeOf(
  { namespace, name }: ObjectRef,
  pods: readonly Pod[],
  read: Pick<Reader, 'get'>,
): { type: RuntimeType; object: KubeObject | undefined } | undefined {
  for (const pod of pods) {
    const set = read.get(ADVANCED_STATEFUL_SETS, namespace, controllerOf(pod)?.name ?? '')
    const owner = set === undefined ? undefined : controllerOf(set)
    const resource = RUNTIMES.find(({ kind }) => kind === owner?.kind)
    const type = typeOf(resource?.kind ?? '')
    if (resource !== undefined && type !== undefined) return { type, object: read.get(resource, namespace, owner?.name ?? '') }
  }
  for (const resource of RUNTIMES) {
    const object = read.get(resource, namespace, name)
    const type = typeOf(resource.kind)
    if (object !== undefined && type !== undefined) return { type, object }
  }
  return undefined
}

const typeOf = (kind: string): RuntimeType | undefined =>
  Object.hasOwn(RUNTIME_TYPES, kind) ? (RUNTIME_TYPES as Readonly<Record<string, RuntimeType>>)[kind] : undefined

interface Stored {
  tieredstore?: { levels?: TierLevel[] }
  worker?: { tieredStore?: { levels?: CacheTierLevel[] } }
}

/** Levels that make no sense hold nothing: the status of the runtime says what is wrong with them. */
export function quotasOf({ kind, spec }: KubeObject): Quotas {
  const { tieredstore, worker } = (spec ?? {}) as Stored
  const { tiers } = kind === 'CacheRuntime' ? cacheTiersOf(worker?.tieredStore?.levels) : tiersOf(tieredstore?.levels)
  const quotas: Quotas = {}
  for (const { medium, stores } of tiers) {
    const field = medium === 'MEM' ? 'memoryBytes' : 'diskBytes'
    quotas[field] = stores.reduce((sum, { quotaBytes }) => sum + quotaBytes, quotas[field] ?? 0)
  }
  return quotas
}
