/**
 * Keeps copies of what reading an original takes in the namespaces of its references: the ConfigMaps that its client mounts, and the
 * client's pod template as a DaemonSet that never runs. Sole writer of these copies. Runs again when a reference, one beside it, a
 * grant, or something of the original that is copied changes. Deletion: copies are garbage-collected with the last reference that
 * they belong to; where consent is withdrawn they are deleted.
 */
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { referenceOf } from '../../../kinds/fluid/reference.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { DaemonSet } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import { type Action, type Controller, defineController, NOTHING_TO_DO, type Plan, type Reader, via } from '../../../runtime/controller.ts'
import { isUnchanged } from '../../../runtime/live-owner.ts'
import type { ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { RUNTIME_KINDS } from '../../dataset/runtimes.ts'
import { isGoing, isOtherReference, referencesIn, referencesOf, watchGrants } from '../indexes.ts'
import { blockedBy, isCopy, ownerOf, READ_WATCHES, type Sharing } from './mirror.ts'
import { INDEXES, type Observed, observe } from './observe.ts'

export interface MirrorDeps extends Sharing {
  /** What holds where an owner has stated nothing. */
  referenceConsent: ReferenceConsent
}

export const referenceMirrorController = ({ referenceConsent: mode, ...sharing }: MirrorDeps): Controller =>
  defineController<Observed | undefined, Dataset>({
    name: 'data.reference.mirror',
    for: DATASETS,
    isRelevantUpdate: isOtherReference,
    watches: [
      via(DATASETS, besides, { isRelevantUpdate: isOtherReference }),
      watchGrants(referencesIn),
      via(CONFIG_MAPS, concernedBy),
      // What it says about its pods is no part of it.
      via(DAEMON_SETS, concernedBy, { isRelevantUpdate: isOtherSet }),
      ...RUNTIME_KINDS.map(({ resource }) =>
        via(resource, (runtime, read) => referencesOf(refOf(runtime), read).map(refOf), { isRelevantUpdate: () => false }),
      ),
      ...READ_WATCHES,
    ],
    indexes: INDEXES,
    writes: [CONFIG_MAPS, DAEMON_SETS].map((resource) => ({ resource, verbs: ['create', 'patch', 'delete'] })),
    reads: [{ resource: DATASETS, verbs: ['get'] }],
    concurrency: 8,
    async observe(_ref, dataset, read, client) {
      if (dataset === undefined || isGoing(dataset)) return undefined
      const observed = observe(dataset, { read, mode, sharing })
      // Nothing is made again for a reference that only an old cache still shows.
      const isMaking = observed.wanted.some(({ live }) => live === undefined)
      return isMaking && !(await isUnchanged(client, DATASETS, dataset)) ? undefined : observed
    },
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
  })

/** Those of the same namespace that share its copies. */
function besides(dataset: Dataset, read: Reader): ObjectRef[] {
  const referred = referenceOf(dataset)
  if (referred === undefined) return []
  return referencesOf(referred, read)
    .filter(({ metadata }) => metadata.namespace === dataset.metadata.namespace)
    .map(refOf)
}

/** Of a copy, those that it belongs to; of anything else, those that refer to the dataset whose it is. */
function concernedBy(object: KubeObject, read: Reader): ObjectRef[] {
  if (!isCopy(object))
    return [...ownerOf(object).flatMap((original) => referencesOf(original, read).map(refOf)), ...blockedBy(object, read)]
  return (object.metadata.ownerReferences ?? []).map(({ name }) => ({ namespace: object.metadata.namespace ?? '', name }))
}

const isOtherSet = (old: DaemonSet, set: DaemonSet): boolean =>
  old.metadata.generation !== set.metadata.generation ||
  isGoing(old) !== isGoing(set) ||
  old.metadata.labels !== set.metadata.labels ||
  old.metadata.ownerReferences !== set.metadata.ownerReferences

export function plan({ wanted, surplus }: Observed): Plan {
  return {
    actions: [
      ...wanted.flatMap(({ resource, object, live }): Action[] => {
        if (live === undefined) return [{ do: 'apply', resource, object }]
        // One that goes is waited for, and what a user has under its name stays as it is.
        return isGoing(live) || !isCopy(live) ? [] : [{ do: 'apply', resource, object }]
      }),
      ...surplus.map(({ resource, object }): Action => ({ do: 'delete', resource, of: object })),
    ],
  }
}
