/** What makes the controller of a kind of runtime look at one again: look-ups through indexes, never scans. */
import { deepEqual } from '../../base/json.ts'
import { hasOwnCache } from '../../kinds/fluid/admission/index.ts'
import type { CacheRuntimeSpec, Dataset } from '../../kinds/fluid/index.ts'
import {
  ADVANCED_STATEFUL_SETS,
  CACHE_RUNTIME_CLASSES,
  DATASETS,
  THIN_RUNTIME_PROFILES,
  THIN_RUNTIMES,
} from '../../kinds/fluid/resources.ts'
import { NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type ObjectRef, refOf, refOfKey } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../runtime/controller.ts'
import { controllerOf } from '../../runtime/workloads/pod/ownership.ts'
import type { Engine } from '../engines/engine.ts'
import { isLeavingLabel } from '../node/labels.ts'
import { leavingIn } from '../scaling/handover.ts'
import { datasetOfVolume, readsOn } from '../scaling/readers.ts'
import { SCALE_IN_HELD } from '../scaling/texts.ts'
import { isOurClaim } from '../volume/desired.ts'
import { NAME_TAKEN, servedCondition } from './decide.ts'
import { isGoing, OWNED_RESOURCES } from './parts.ts'
import { simulationOf, startingSinceMs, troubleOf } from './pods.ts'
import { datasetsOfClaim, datasetsReadBy, READER_INDEXES } from './readers.ts'
import { CHOOSING, NODE_INDEX, WORKER_INDEX, workersOn } from './scale-in.ts'

const OWNER = 'owner'
const CLASS = 'class'
const BLOCKED = 'blocked'
/** Of a runtime whose class its engine chooses: any class may be the one. */
const ANY_CLASS = '*'

export function indexesOf({ resource, type }: Engine): Index[] {
  return [
    ...OWNED_RESOURCES.map((owned) => indexOf(owned, OWNER, (object) => ownersIn(resource, object).map(({ uid }) => uid))),
    ...(CHOOSING.includes(type) ? [...READER_INDEXES, WORKER_INDEX, NODE_INDEX] : []),
    indexOf(resource, CLASS, ({ spec }) => [classIn(type, spec)]),
    indexOf(resource, BLOCKED, (runtime) => (isBlocked(runtime) ? [runtime.metadata.namespace ?? ''] : [])),
  ]
}

export const ownedBy = (read: Reader, resource: Resource, { metadata }: KubeObject): KubeObject[] =>
  read.byIndex(resource, OWNER, metadata.uid ?? '')

function classIn(type: Engine['type'], spec: unknown): string {
  if (type === 'cache') return (spec as Partial<CacheRuntimeSpec> | undefined)?.runtimeClassName ?? ''
  if (type === 'thin') return (spec as { profileName?: string } | undefined)?.profileName ?? ''
  return ANY_CLASS
}

const isBlocked = (runtime: KubeObject): boolean => servedCondition(runtime)?.reason === NAME_TAKEN

const isHeld = ({ status }: KubeObject): boolean => {
  const { conditions } = (status ?? {}) as { conditions?: { type: string }[] }
  return (Array.isArray(conditions) ? conditions : []).some(({ type }) => type === SCALE_IN_HELD)
}

function datasetOf(volume: PersistentVolume): ObjectRef[] {
  const key = datasetOfVolume(volume)
  return key === undefined ? [] : [refOfKey(key)]
}

/** The runtime of this kind that an object belongs to: at most one. */
function ownersIn(runtimes: Resource, object: KubeObject): { name: string; uid: string }[] {
  const owner = controllerOf(object)
  return owner?.kind === runtimes.kind && owner.apiVersion.startsWith(`${runtimes.group}/`) ? [owner] : []
}

/** `data.reference.runtime` looks after those that stand for the runtime of another dataset. */
export const isOthers = (runtime: KubeObject): boolean => runtime.kind === THIN_RUNTIMES.kind && !hasOwnCache(runtime)

export function watchesOf({ resource, type }: Engine): Watch[] {
  const ownerOf = (object: KubeObject): ObjectRef[] =>
    ownersIn(resource, object).map(({ name }) => ({ namespace: object.metadata.namespace ?? '', name }))
  /** Also those that another object stands in the way of, in case it is this one. */
  const concernedBy = (object: KubeObject, read: Reader): ObjectRef[] => {
    const owners = ownerOf(object)
    return owners.length > 0 ? owners : read.byIndex(resource, BLOCKED, object.metadata.namespace ?? '').map(refOf)
  }
  const ofClass = (object: KubeObject, read: Reader): ObjectRef[] =>
    [object.metadata.name ?? '', ANY_CLASS].flatMap((name) => read.byIndex(resource, CLASS, name)).map(refOf)
  /** Datasets and claims have the name of their runtime, which is of one kind of many. */
  const ifThere = ({ namespace, name }: ObjectRef, read: Reader): ObjectRef[] => {
    const runtime = read.get(resource, namespace, name)
    return runtime === undefined || isOthers(runtime) ? [] : [{ namespace, name }]
  }
  /** Workers are to leave, and it matters who reads. */
  const isChoosing = ({ namespace, name }: ObjectRef, read: Reader): boolean => {
    const runtime = CHOOSING.includes(type) ? read.get(resource, namespace, name) : undefined
    if (runtime === undefined) return false
    const isLeadingOut = ({ metadata }: KubeObject): boolean => leavingIn(metadata.annotations) !== undefined
    return isHeld(runtime) || ownedBy(read, ADVANCED_STATEFUL_SETS, runtime).some(isLeadingOut)
  }
  return [
    via(DATASETS, (dataset, read) => ifThere(refOf(dataset), read), {
      isRelevantUpdate: (old, dataset) => isOtherDataset(old, dataset, type !== 'cache'),
    }),
    via(CACHE_RUNTIME_CLASSES, ofClass),
    via(THIN_RUNTIME_PROFILES, ofClass),
    ...OWNED_RESOURCES.map((owned) => via(owned, concernedBy)),
    via(PODS, (pod, read) => [...setOf(pod, read).flatMap(ownerOf), ...datasetsReadBy(pod, read).filter((ref) => isChoosing(ref, read))], {
      isRelevantUpdate: (old, pod) => saysOther(old, pod) || readsOn(old) !== readsOn(pod),
    }),
    // A node is kept free for a worker that leaves.
    ...(CHOOSING.includes(type)
      ? [
          via(
            NODES,
            (node, read) =>
              workersOn(node, read).flatMap((pod) =>
                setOf(pod, read)
                  .flatMap(ownerOf)
                  .filter((ref) => isChoosing(ref, read)),
              ),
            {
              isRelevantUpdate: (old, node) => leavingLabelsOf(old) !== leavingLabelsOf(node),
            },
          ),
        ]
      : []),
    // Only that they are there or gone matters.
    via(
      PERSISTENT_VOLUME_CLAIMS,
      (claim, read) => [
        ...(isOurClaim(claim) ? ifThere(refOf(claim), read) : []),
        ...datasetsOfClaim(claim, read).filter((ref) => isChoosing(ref, read)),
      ],
      { isRelevantUpdate: () => false },
    ),
    via(
      PERSISTENT_VOLUMES,
      (volume, read) => [
        ...claimOf(volume).flatMap((ref) => ifThere(ref, read)),
        ...datasetOf(volume).filter((ref) => isChoosing(ref, read)),
      ],
      { isRelevantUpdate: () => false },
    ),
  ]
}

const leavingLabelsOf = ({ metadata }: KubeObject): string =>
  Object.keys(metadata.labels ?? {})
    .filter(isLeavingLabel)
    .sort()
    .join()

/** Its sizes and states change while it is used: they matter to kinds that repeat them. */
function isOtherDataset(old: Dataset, dataset: Dataset, isRepeated: boolean): boolean {
  const said = ({ metadata, status }: Dataset): unknown => [
    [metadata.uid, metadata.generation, isGoing({ metadata } as KubeObject)],
    [status?.phase, status?.runtimes, status?.conditions?.find(({ type }) => type === 'Ready')],
    isRepeated ? [status?.cacheStates, status?.mounts] : [],
  ]
  return !deepEqual(said(old), said(dataset))
}

const isOfSet = (pod: KubeObject): boolean => controllerOf(pod)?.kind === ADVANCED_STATEFUL_SETS.kind

function setOf(pod: Pod, read: Reader): KubeObject[] {
  if (!isOfSet(pod)) return []
  const set = read.get(ADVANCED_STATEFUL_SETS, pod.metadata.namespace ?? '', controllerOf(pod)?.name ?? '')
  return set === undefined ? [] : [set]
}

/** Pods change all the time; most of it reaches the runtime through the status of their set. */
function saysOther(old: Pod, pod: Pod): boolean {
  if (!isOfSet(pod)) return false
  const said = (one: Pod): unknown => [troubleOf(one), simulationOf(one), startingSinceMs(one)]
  return !deepEqual(said(old), said(pod))
}

function claimOf({ spec }: PersistentVolume): ObjectRef[] {
  const { namespace = '', name = '' } = spec?.claimRef ?? {}
  return name === '' ? [] : [{ namespace, name }]
}
