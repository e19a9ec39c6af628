/** What makes the controller look at a dataset again, and the look-ups that this and the controller need. */
import type { CacheRuntime, CacheRuntimeClass, ThinRuntime, ThinRuntimeProfile } from '../../kinds/fluid/index.ts'
import { volumeName } from '../../kinds/fluid/names.ts'
import { isReference } from '../../kinds/fluid/reference.ts'
import { CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS, THIN_RUNTIME_PROFILES, THIN_RUNTIMES } from '../../kinds/fluid/resources.ts'
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { type ObjectRef, refOf, refOfKey } from '../../kube/object-reference.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../runtime/controller.ts'
import { isGoing, isOtherReference, originalOf, originalsIn, REFERENCE_INDEXES, watchGrants } from '../reference/indexes.ts'
import { isOurClaim } from '../volume/desired.ts'
import { claimKeys, runtimeKeys, sidecarKeys } from './pods.ts'
import { RUNTIME_KINDS } from './runtimes.ts'

/** Pods by `namespace/name` of the claims that they mount. */
export const BY_CLAIM = 'claim'
/** Pods by `namespace/name` of the datasets that they read by a sidecar. */
export const BY_SIDECAR = 'sidecar'
/** Pods by `namespace/name` of the runtime that they are part of. */
export const BY_RUNTIME = 'runtime'
/** Datasets by the name of their volume, which two of them can share. */
const BY_VOLUME = 'volume'
const BY_CLASS = 'class'
const BY_PROFILE = 'profile'
/** Datasets that are to be deleted, by namespace. */
const GOING_IN = 'going-in'

/** The class that serves runtimes which name none. */
const TRANSLATED_TO = 'builtin'

export const WATCHES: readonly Watch[] = [
  ...RUNTIME_KINDS.map(({ resource }) => via(resource, (runtime, read) => unlessReference(refOf(runtime), read))),
  via(CACHE_RUNTIME_CLASSES, (runtimeClass, read) => runtimesOf(runtimeClass, read)),
  via(THIN_RUNTIME_PROFILES, (profile, read) => thinRuntimesOf(profile, read)),
  via(PODS, (pod, read) => datasetsOfPod(pod, read)),
  // Those of others may be in the way.
  via(PERSISTENT_VOLUME_CLAIMS, (claim, read) => (isOurClaim(claim) ? ifGoing(refOf(claim), read) : [refOf(claim)])),
  via(PERSISTENT_VOLUMES, (volume, read) => read.byIndex(DATASETS, BY_VOLUME, volume.metadata.name ?? '').map(refOf), {
    isRelevantUpdate: () => false,
  }),
  via(DATASETS, originalOf, { isRelevantUpdate: isOtherReference }),
  watchGrants(originalsIn),
  // What goes with its namespace is not held by others.
  via(NAMESPACES, ({ metadata }, read) => read.byIndex(DATASETS, GOING_IN, metadata.name ?? '').map(refOf), {
    isRelevantUpdate: (old, namespace) => isGoing(old) !== isGoing(namespace),
  }),
]

export const INDEXES: readonly Index[] = [
  indexOf(PODS, BY_CLAIM, claimKeys),
  indexOf(PODS, BY_SIDECAR, sidecarKeys),
  indexOf(PODS, BY_RUNTIME, runtimeKeys),
  indexOf(DATASETS, BY_VOLUME, (dataset) => [volumeName(refOf(dataset))]),
  indexOf(DATASETS, GOING_IN, (dataset) => (isGoing(dataset) ? [dataset.metadata.namespace ?? ''] : [])),
  ...REFERENCE_INDEXES,
  indexOf(THIN_RUNTIMES, BY_PROFILE, ({ spec }: ThinRuntime) => (spec?.profileName === undefined ? [] : [spec.profileName])),
  ...RUNTIME_KINDS.map(({ resource }) =>
    indexOf(resource, BY_CLASS, (runtime) => [
      resource.plural === CACHE_RUNTIMES.plural ? ((runtime as CacheRuntime).spec?.runtimeClassName ?? '') : TRANSLATED_TO,
    ]),
  ),
]

const runtimesOf = ({ metadata: { name = '' } }: CacheRuntimeClass, read: Reader): ObjectRef[] =>
  RUNTIME_KINDS.flatMap(({ resource }) => read.byIndex(resource, BY_CLASS, name).map(refOf))

const thinRuntimesOf = ({ metadata: { name = '' } }: ThinRuntimeProfile, read: Reader): ObjectRef[] =>
  read.byIndex(THIN_RUNTIMES, BY_PROFILE, name).map(refOf)

/** References are another controller's, with the runtimes that stand for that of their original. */
function unlessReference(ref: ObjectRef, read: Reader): ObjectRef[] {
  const dataset = read.get(DATASETS, ref.namespace, ref.name)
  return dataset !== undefined && isReference(dataset) ? [] : [ref]
}

/** Who uses a dataset matters when it is to be deleted, and not before. */
function ifGoing(ref: ObjectRef, read: Reader): ObjectRef[] {
  const dataset = read.get(DATASETS, ref.namespace, ref.name)
  return dataset !== undefined && isGoing(dataset) ? [ref] : []
}

const datasetsOfPod = (pod: Pod, read: Reader): ObjectRef[] => [
  ...runtimeKeys(pod).map(refOfKey),
  ...[...claimKeys(pod), ...sidecarKeys(pod)].flatMap((key) => ifGoing(refOfKey(key), read)),
]
