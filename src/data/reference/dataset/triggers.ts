/** What makes the controller look at a reference again: look-ups through indexes, never scans. */
import { deepEqual } from '../../../base/json.ts'
import { hasOwnCache } from '../../../kinds/fluid/admission/index.ts'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { volumeName } from '../../../kinds/fluid/names.ts'
import { isReference, referenceOf } from '../../../kinds/fluid/reference.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import {
  CONFIG_MAPS,
  DAEMON_SETS,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
} from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, refOf, refOfKey } from '../../../kube/object-reference.ts'
import { type Index, indexOf, type Reader, via, type Watch } from '../../../runtime/controller.ts'
import { claimKeys, isComplete, sidecarKeys } from '../../dataset/pods.ts'
import { RUNTIME_KINDS } from '../../dataset/runtimes.ts'
import { BY_CLAIM, BY_SIDECAR } from '../../dataset/triggers.ts'
import { isGoing, REFERENCE_INDEXES, referencesIn, referencesOf, watchGrants } from '../indexes.ts'
import { blockedBy, HASH_INDEX, ownerOf, READ_WATCHES } from '../mirror/mirror.ts'
import { MOST_REFERENCES } from '../referring.ts'

const BY_VOLUME = 'volume'

export const INDEXES: readonly Index[] = [
  ...REFERENCE_INDEXES,
  HASH_INDEX,
  indexOf(PODS, BY_CLAIM, claimKeys),
  indexOf(PODS, BY_SIDECAR, sidecarKeys),
  indexOf(DATASETS, BY_VOLUME, (dataset) => [volumeName(refOf(dataset))]),
]

const ifReference = (ref: ObjectRef, read: Reader): ObjectRef[] => {
  const dataset = read.get(DATASETS, ref.namespace, ref.name)
  return dataset !== undefined && isReference(dataset) ? [ref] : []
}

/** Datasets that refer to the one which an object belongs to, and those whose copy it stands in the way of. */
const referring = (object: KubeObject, read: Reader): ObjectRef[] => [
  ...ownerOf(object).flatMap((original) => referencesOf(original, read).map(refOf)),
  ...blockedBy(object, read),
]

export const WATCHES: readonly Watch[] = [
  via(DATASETS, (original, read) => referencesOf(refOf(original), read).map(refOf), { isRelevantUpdate: isOtherOriginal }),
  via(DATASETS, relisted, { isRelevantUpdate: (old, original) => !deepEqual(listOf(old), listOf(original)) }),
  ...RUNTIME_KINDS.map(({ resource }) =>
    via(resource, (runtime, read) => ifReference(refOf(runtime), read), { isRelevantUpdate: isOtherRuntime }),
  ),
  watchGrants(referencesIn),
  via(NAMESPACES, ({ metadata }, read) => referencesIn(metadata.name ?? '', read), {
    isRelevantUpdate: (old, namespace) => isGoing(old) !== isGoing(namespace),
  }),
  via(PODS, (pod, read) => [...claimKeys(pod), ...sidecarKeys(pod)].flatMap((key) => ifGoing(refOfKey(key), read)), {
    isRelevantUpdate: (old, pod) => isComplete(old) !== isComplete(pod),
  }),
  // Those of others may be in the way, and what is there decides whether pods count.
  via(PERSISTENT_VOLUME_CLAIMS, (claim, read) => ifReference(refOf(claim), read), { isRelevantUpdate: () => false }),
  via(
    PERSISTENT_VOLUMES,
    ({ metadata }, read) =>
      read
        .byIndex(DATASETS, BY_VOLUME, metadata.name ?? '')
        .filter(isReference)
        .map(refOf),
    {
      isRelevantUpdate: () => false,
    },
  ),
  // What the client of the original mounts decides whether it can be copied.
  via(DAEMON_SETS, referring, { isRelevantUpdate: (old, set) => old.metadata.generation !== set.metadata.generation }),
  via(CONFIG_MAPS, referring, { isRelevantUpdate: () => false }),
  ...READ_WATCHES,
]

/** Who uses a reference matters when it is to be deleted, and not before. */
const ifGoing = (ref: ObjectRef, read: Reader): ObjectRef[] =>
  ifReference(ref, read).filter(({ namespace, name }) => {
    const dataset = read.get(DATASETS, namespace, name)
    return dataset !== undefined && isGoing(dataset)
  })

/** But for its list: most references are in it before and after. */
function isOtherOriginal(old: Dataset, original: Dataset): boolean {
  const seen = ({ metadata, spec, status }: Dataset): unknown => {
    const { datasetRef: _, ...shown } = status ?? {}
    return [isGoing({ metadata }), referenceOf({ spec }), shown]
  }
  return !deepEqual(seen(old), seen(original))
}

const listOf = ({ status }: Dataset): readonly string[] => status?.datasetRef ?? []

/** Those that are in this list and not in the other one; those that wait are told when there is no room, and when there is again. */
function relisted(original: Dataset, read: Reader, other?: Dataset): ObjectRef[] {
  const [list, before] = [listOf(original), new Set(other === undefined ? [] : listOf(other))]
  if (list.length >= MOST_REFERENCES !== before.size >= MOST_REFERENCES) return referencesOf(refOf(original), read).map(refOf)
  return list.filter((key) => !before.has(key)).map(refOfKey)
}

const isOtherRuntime = (old: KubeObject, runtime: KubeObject): boolean =>
  isGoing(old) !== isGoing(runtime) || hasOwnCache(old) !== hasOwnCache(runtime)
