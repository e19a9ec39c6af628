/**
 * What makes the controller look at copies again: look-ups through indexes, never scans. Of the references that share copies only
 * the one that looks after them has something to do, so it alone is queued; when consent changes, each that may have lost it is.
 */
import type { Dataset, RuntimeCondition } from '../../../kinds/fluid/index.ts'
import { type Original, referenceOf } from '../../../kinds/fluid/reference.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { DaemonSet } from '../../../kinds/kubernetes/types.ts'
import { isConditionTrue } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { keyOfRef, type ObjectRef, refOf, refOfKey } from '../../../kube/object-reference.ts'
import { type Reader, via, type Watch } from '../../../runtime/controller.ts'
import type { ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { RUNTIME_KINDS } from '../../dataset/runtimes.ts'
import { SERVED_CONDITION } from '../../engines/engine.ts'
import { isGoing, isOtherReference, referencesIn, referencesOf, watchGrants } from '../indexes.ts'
import { blockedBy, isCopy, MIRROR_SOURCE, ownerOf, READ_WATCHES } from './mirror.ts'
import { keeperIn } from './observe.ts'

export function watchesWith(mode: ReferenceConsent): Watch[] {
  const keepers = (namespaces: Iterable<string>, original: Original, read: Reader): ObjectRef[] =>
    [...new Set(namespaces)].flatMap((namespace) => {
      const keeper = keeperIn(namespace, original, { read, mode })
      return keeper === undefined ? [] : [refOf(keeper)]
    })
  /** Of all namespaces with references to it. */
  const keepersOf = (original: ObjectRef, read: Reader): ObjectRef[] =>
    keepers(
      referencesOf(original, read).map(({ metadata }) => metadata.namespace ?? ''),
      original,
      read,
    )
  const besides = (dataset: Dataset, read: Reader): ObjectRef[] => {
    const referred = referenceOf(dataset)
    return referred === undefined ? [] : keepers([dataset.metadata.namespace ?? ''], referred, read)
  }
  /** Those whose copy it stands in the way of: it has the name of one, and is none. */
  const blockedOnes = (object: KubeObject, read: Reader): ObjectRef[] => {
    const blocked = blockedBy(object, read).flatMap(({ namespace, name }) => read.get(DATASETS, namespace, name) ?? [])
    const originals = new Map(blocked.flatMap((one) => referenceOf(one) ?? []).map((original) => [keyOfRef(original), original]))
    return [...originals.values()].flatMap((original) => keepers([object.metadata.namespace ?? ''], original, read))
  }
  const concernedBy = (object: KubeObject, read: Reader): ObjectRef[] => {
    if (!isCopy(object)) return [...ownerOf(object).flatMap((original) => keepersOf(original, read)), ...blockedOnes(object, read)]
    const { namespace = '', annotations, ownerReferences = [] } = object.metadata
    const found = keepers([namespace], refOfKey(annotations?.[MIRROR_SOURCE] ?? ''), read)
    // Without anybody who may have it, those that it was made for take it back.
    return found.length > 0 ? found : ownerReferences.map(({ name }) => ({ namespace, name }))
  }
  return [
    via(DATASETS, besides, { isRelevantUpdate: isOtherReference }),
    watchGrants(referencesIn),
    via(CONFIG_MAPS, concernedBy),
    // What it says about its pods is no part of it.
    via(DAEMON_SETS, concernedBy, { isRelevantUpdate: isOtherSet }),
    // What a runtime says is seen in its objects, but not that they stay as they are because it is not served.
    ...RUNTIME_KINDS.map(({ resource }) =>
      via(resource, (runtime, read) => keepersOf(refOf(runtime), read), {
        isRelevantUpdate: (old, runtime) => isServed(old) !== isServed(runtime),
      }),
    ),
    ...READ_WATCHES,
  ]
}

const isServed = ({ status }: KubeObject): boolean =>
  isConditionTrue((status as { conditions?: RuntimeCondition[] } | undefined)?.conditions, SERVED_CONDITION)

const isOtherSet = (old: DaemonSet, set: DaemonSet): boolean =>
  old.metadata.generation !== set.metadata.generation ||
  isGoing(old) !== isGoing(set) ||
  old.metadata.labels !== set.metadata.labels ||
  old.metadata.ownerReferences !== set.metadata.ownerReferences
