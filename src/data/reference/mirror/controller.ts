/**
 * Keeps copies of what reading an original takes in the namespaces of its references: the ConfigMaps that its client mounts, and the
 * client's pod template as a DaemonSet that never runs. Sole writer of these copies. Runs again when a reference, one beside it, a
 * grant, or something of the original that is copied changes. Deletion: copies are garbage-collected with the last reference that
 * they belong to; where consent is withdrawn they are deleted.
 */
import type { Client } from '../../../client/client.ts'
import type { Dataset } from '../../../kinds/fluid/index.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS } from '../../../kinds/kubernetes/resources.ts'
import { type Action, type Controller, defineController, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { liveOwner } from '../../../runtime/live-owner.ts'
import type { ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { isGoing, isOtherReference } from '../indexes.ts'
import { isCopy, type Sharing } from './mirror.ts'
import { INDEXES, type Observed, observe } from './observe.ts'
import { watchesWith } from './triggers.ts'

export interface MirrorDeps extends Sharing {
  /** What holds where an owner has stated nothing. */
  referenceConsent: ReferenceConsent
}

export const referenceMirrorController = ({ referenceConsent: mode, ...sharing }: MirrorDeps): Controller =>
  defineController<Observed | undefined, Dataset>({
    name: 'data.reference.mirror',
    for: DATASETS,
    isRelevantUpdate: isOtherReference,
    watches: watchesWith(mode),
    indexes: INDEXES,
    writes: [CONFIG_MAPS, DAEMON_SETS].map((resource) => ({ resource, verbs: ['create', 'patch', 'delete'] })),
    reads: [{ resource: DATASETS, verbs: ['get'] }],
    concurrency: 8,
    async observe(_ref, dataset, read, client) {
      if (dataset === undefined) return undefined
      const observed = observe(dataset, { read, mode, sharing })
      const isMaking = observed.wanted.some(({ live }) => live === undefined)
      return isMaking && !(await isStillSo(client, dataset)) ? undefined : observed
    },
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed)),
  })

/**
 * Nothing is made again for a reference that only an old cache still shows. What others write to it since makes no difference: no
 * change of that kind would lead here again.
 */
async function isStillSo(client: Client, dataset: Dataset): Promise<boolean> {
  const live = await liveOwner(client, DATASETS, dataset)
  return live !== undefined && !isOtherReference(dataset, live as Dataset)
}

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
