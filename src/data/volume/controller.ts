/**
 * Gives each bound dataset its volume and its claim. Sole writer of: both, as objects. Runs again when the dataset, its runtime or
 * the profile of that, the volume or the claim changes, and when a pod that holds a deleted claim has ended; of a dataset that refers
 * to another, also with that one's volume and with pods that use the claim. Deletion: when the dataset or its runtime goes, the claim
 * goes and, once it is gone, the volume. Pods that use the claim hold it; those that have ended do for half a minute, because
 * Kubernetes' protection of claims would let them hold it for ever. Nothing is made again for a dataset that goes.
 */
import { deepEqual } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import { hasOwnCache } from '../../kinds/fluid/admission/index.ts'
import type { Dataset, ThinRuntime, ThinRuntimeProfile } from '../../kinds/fluid/index.ts'
import { volumeName } from '../../kinds/fluid/names.ts'
import { isReference, type Referred, referenceOf } from '../../kinds/fluid/reference.ts'
import {
  ALLUXIO_RUNTIMES,
  CACHE_RUNTIMES,
  DATASETS,
  JINDO_RUNTIMES,
  JUICEFS_RUNTIMES,
  THIN_RUNTIME_PROFILES,
  THIN_RUNTIMES,
} from '../../kinds/fluid/resources.ts'
import { RUNTIME_TYPES, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject, type ObjectRef, refOf, refOfKey } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Controller, defineController, indexOf, type PassReader, type Reader, via } from '../../runtime/controller.ts'
import { liveOwner } from '../../runtime/live-owner.ts'
import { podsUsing } from '../dataset/observe.ts'
import { claimKeys, isComplete } from '../dataset/pods.ts'
import { BY_CLAIM } from '../dataset/triggers.ts'
import { thinSpec } from '../engines/thin/spec.ts'
import { REFERENCE_INDEXES, referencesOf } from '../reference/indexes.ts'
import { isOurClaim, isOurVolume, mountInfo, type VolumeSource } from './desired.ts'
import { type Observed, plan, VOLUME_CONTROLLER } from './plan.ts'
import type { ReferenceSource } from './reference.ts'

/** Runtimes whose datasets have volumes, by the kind that serves them. */
const RUNTIMES: readonly Resource[] = [CACHE_RUNTIMES, ALLUXIO_RUNTIMES, JUICEFS_RUNTIMES, JINDO_RUNTIMES, THIN_RUNTIMES]
const BY_PROFILE = 'profile'
const BY_VOLUME_NAME = 'volume-name'
/** The phases of a dataset that has a runtime. */
const BOUND_PHASES = ['Bound', 'Failed', 'Updating', 'DataMigrating']

export function volumeController(): Controller {
  return defineController<Observed, Dataset>({
    name: VOLUME_CONTROLLER,
    for: DATASETS,
    isRelevantUpdate: isOtherDataset,
    watches: [
      ...RUNTIMES.map((resource) => via(resource, (runtime) => [refOf(runtime)], { isRelevantUpdate: isOtherRuntime })),
      via(THIN_RUNTIME_PROFILES, ({ metadata }, read) => read.byIndex(THIN_RUNTIMES, BY_PROFILE, metadata.name ?? '').map(refOf)),
      via(PERSISTENT_VOLUME_CLAIMS, (claim, read) => (isOurClaim(claim) || isNamedLikeDataset(claim, read) ? [refOf(claim)] : [])),
      via(PERSISTENT_VOLUMES, (volume, read) => [
        ...claimsOf(volume),
        // Those that waited for the name.
        ...read.byIndex(DATASETS, BY_VOLUME_NAME, volume.metadata.name ?? '').map(refOf),
        ...claimsOf(volume).flatMap((ref) => referencesOf(ref, read).map(refOf)),
      ]),
      via(PODS, (pod, read) => claimKeys(pod).flatMap((key) => ifWaited(refOfKey(key), read)), {
        isRelevantUpdate: (old, pod) => hasEnded(old) !== hasEnded(pod) || isComplete(old) !== isComplete(pod),
      }),
    ],
    indexes: [
      indexOf(THIN_RUNTIMES, BY_PROFILE, ({ spec }: ThinRuntime) => (spec?.profileName === undefined ? [] : [spec.profileName])),
      indexOf(DATASETS, BY_VOLUME_NAME, (dataset) => [volumeName(refOf(dataset))]),
      indexOf(PODS, BY_CLAIM, claimKeys),
      ...REFERENCE_INDEXES,
    ],
    writes: [
      { resource: PERSISTENT_VOLUMES, verbs: ['create', 'patch', 'delete'] },
      { resource: PERSISTENT_VOLUME_CLAIMS, verbs: ['create', 'patch', 'delete'] },
    ],
    reads: [NAMESPACES, PERSISTENT_VOLUME_CLAIMS, DATASETS, ...RUNTIMES].map((resource) => ({ resource, verbs: ['get'] })),
    concurrency: 8,
    async observe({ namespace, name }, dataset, read, client) {
      const found = dataset === undefined ? undefined : sourceOf(dataset, read)
      const volume = read.get(PERSISTENT_VOLUMES, '', volumeName({ namespace, name }))
      const claim = read.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
      const isMaking = found !== undefined && (volume === undefined || claim === undefined)
      const isStale =
        isMaking && !((await isStillWanted(found, client)) && (claim !== undefined || (await isClaimGone({ namespace, name }, client))))
      const isUsed = found !== undefined && 'referred' in found.source && podsUsing({ namespace, name }, read).length > 0
      const isHeld = claim !== undefined && isGoing(claim) && isMounted(claim, read)
      const seen = { key: { namespace, name }, dataset, source: found?.source, isStale, volume, claim }
      return { ...seen, isUsed, isHeld, nowMs: read.nowMs() }
    },
    plan,
  })
}

/** A claim of a user: its dataset waits until it is gone. */
const isNamedLikeDataset = ({ metadata: { namespace = '', name = '' } }: KubeObject, read: Reader): boolean =>
  read.get(DATASETS, namespace, name) !== undefined

/** A claim that is to be deleted waits for its pods, and so does the volume of a reference that has changed. */
function ifWaited(ref: ObjectRef, read: Reader): ObjectRef[] {
  const claim = read.get(PERSISTENT_VOLUME_CLAIMS, ref.namespace, ref.name)
  return (claim !== undefined && isGoing(claim) && isOurClaim(claim)) || isOfReference(ref, read) ? [ref] : []
}

/**
 * Whether a pod that has not ended mounts it, or may, as far as the cache of pods is behind. No new pod starts with a claim that goes:
 * those without a node wait for the claim that comes after it, and must not hold this one.
 */
function isMounted(claim: PersistentVolumeClaim, read: PassReader): boolean {
  const { namespace = '', resourceVersion } = claim.metadata
  if (!read.reflects(PODS, namespace, Number(resourceVersion))) return true
  return read.byIndex(PODS, BY_CLAIM, keyOfObject(claim)).some((pod: Pod) => (pod.spec?.nodeName ?? '') !== '' && !hasEnded(pod))
}

/** Its volumes are unmounted; those of one that is only to be deleted are not. */
const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

const hasVolume = (dataset: Dataset): boolean => BOUND_PHASES.includes(dataset.status?.phase ?? '') && !isGoing(dataset)

const isOtherDataset = (old: Dataset, dataset: Dataset): boolean =>
  hasVolume(old) !== hasVolume(dataset) ||
  old.metadata.annotations !== dataset.metadata.annotations ||
  !deepEqual(referenceOf(old), referenceOf(dataset))

const isOtherRuntime = (old: KubeObject, runtime: KubeObject): boolean =>
  isGoing(old) !== isGoing(runtime) ||
  old.metadata.annotations !== runtime.metadata.annotations ||
  old.metadata.generation !== runtime.metadata.generation

const claimsOf = ({ metadata, spec }: PersistentVolume): ObjectRef[] => {
  const { namespace = '', name = '' } = spec?.claimRef ?? {}
  // Of all volumes only those that may be ours, or stand where ours should be.
  return metadata.name === volumeName({ namespace, name }) ? [{ namespace, name }] : []
}

const isOfReference = ({ namespace, name }: ObjectRef, read: Reader): boolean => {
  const dataset = read.get(DATASETS, namespace, name)
  return dataset !== undefined && isReference(dataset)
}

/** A volume is made anew with its claim: a claim that only an old cache does not show must not lead to that. */
const isClaimGone = async (ref: ObjectRef, client: Client): Promise<boolean> =>
  (await ifFound(client.get(PERSISTENT_VOLUME_CLAIMS, ref))) === undefined

interface Found {
  source: VolumeSource | ReferenceSource
  /** Of the runtime. */
  resource: Resource
}

/** An old cache must not make again what was taken back already: its events are coming, and lead here again. */
async function isStillWanted({ source, resource }: Found, client: Client): Promise<boolean> {
  // What is in a namespace that goes is deleted one by one: its claims before its datasets.
  const home = await ifFound(client.get(NAMESPACES, { name: source.dataset.metadata.namespace ?? '' }))
  if (home === undefined || isGoing(home)) return false
  const dataset = await liveOwner(client, DATASETS, source.dataset)
  if (dataset === undefined || !hasVolume(dataset as Dataset)) return false
  const runtime = await liveOwner(client, resource, source.runtime)
  return runtime !== undefined && !isGoing(runtime)
}

function sourceOf(dataset: Dataset, read: Reader): Found | undefined {
  if (!hasVolume(dataset)) return undefined
  const { namespace = '', name = '' } = dataset.metadata
  const referred = referenceOf(dataset)
  if (referred !== undefined) return referenceSource(dataset, referred, read)
  for (const resource of RUNTIMES) {
    const runtime = read.get(resource, namespace, name)
    if (runtime === undefined || isGoing(runtime)) continue
    const type = (RUNTIME_TYPES as Readonly<Record<string, RuntimeType>>)[resource.kind]
    if (type === undefined) continue
    const source =
      type === 'thin'
        ? thinSource(dataset, runtime, read)
        : { dataset, runtime, mount: mountInfo(type, dataset.metadata), ...nodeSelectorOf(runtime) }
    return { resource, source }
  }
  return undefined
}

function referenceSource(dataset: Dataset, referred: Referred, read: Reader): Found | undefined {
  const runtime = read.get(THIN_RUNTIMES, dataset.metadata.namespace ?? '', dataset.metadata.name ?? '')
  if (runtime === undefined || isGoing(runtime) || hasOwnCache(runtime)) return undefined
  const volume = read.get(PERSISTENT_VOLUMES, '', volumeName(referred))
  const original = volume !== undefined && isOurVolume(volume, referred) && !isGoing(volume) ? volume : undefined
  return { resource: THIN_RUNTIMES, source: { dataset, runtime, referred, original } }
}

/** Its profile says what the file system is called. */
function thinSource(dataset: Dataset, runtime: ThinRuntime, read: Reader): VolumeSource {
  const { path } = mountInfo('thin', dataset.metadata)
  const profile: ThinRuntimeProfile | undefined = read.get(THIN_RUNTIME_PROFILES, '', runtime.spec?.profileName ?? '')
  if (profile?.spec === undefined) return { dataset, runtime, mount: { path, type: undefined } }
  const { nodeSelector } = thinSpec(runtime.spec ?? {}, profile.spec).fuse
  return { dataset, runtime, mount: { path, type: profile.spec.fileSystemType }, ...(nodeSelector === undefined ? {} : { nodeSelector }) }
}

function nodeSelectorOf(runtime: KubeObject): Pick<VolumeSource, 'nodeSelector'> {
  const spec = runtime.spec as Partial<Record<'client' | 'fuse', { nodeSelector?: Record<string, string> }>> | undefined
  const { nodeSelector } = spec?.client ?? spec?.fuse ?? {}
  return nodeSelector === undefined ? {} : { nodeSelector }
}
