/**
 * The revisions that a set's pods are made from: the one of its template, which the update goes to, the one that the others
 * still have, and the old ones that may go.
 */
import type { ControllerRevision, Pod } from '../../../kinds/kubernetes/types.ts'
import type { Action } from '../../controller.ts'
import type { Claim } from '../pod/ownership.ts'
import { dataHash } from '../revision/hash.ts'
import { dataOf, type Found, type History, newRevision, readHistory, templateIn, truncate } from '../revision/history.ts'
import { revisionOf, type Version } from './identity.ts'
import type { ObservedSet } from './observe.ts'
import type { StatefulWorkload } from './workload.ts'

const HASH_LABEL = 'controller.kubernetes.io/hash'
const HISTORY_LIMIT = 10

type HistoryInput = Pick<ObservedSet<StatefulWorkload>, 'set' | 'revisions' | 'revisionNamed'>

export const historyOf = ({ set, revisions }: HistoryInput): History => readHistory(revisions.claimed, dataOf(set.spec?.template))

export function updateRevisionOf({ set, revisionNamed }: HistoryInput, history: History): Found {
  const collisions = set.status?.collisionCount ?? 0
  if (history.current !== undefined) return { revision: history.current, exists: true, collisions }
  const template = set.spec?.template
  const data = dataOf(template)
  return newRevision({
    ...{ owner: set, template, data, number: history.number, hashLabel: HASH_LABEL, collisions },
    hashOf: (count) => dataHash(data, count ?? 0),
    lookUp: revisionNamed,
  })
}

/** The revision that the status names; that of the update where there is none. */
export const currentRevisionOf = ({ set, revisions }: HistoryInput, update: ControllerRevision): ControllerRevision =>
  revisions.claimed.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update

export const versionOf = (revision: ControllerRevision): Version => ({ name: revision.metadata.name ?? '', template: templateIn(revision) })

export interface Outdated {
  set: StatefulWorkload
  pods: Claim<Pod>
  history: History
  /** Revisions in use besides those of the pods. */
  used: readonly ControllerRevision[]
}

/** Deletes revisions that nothing uses beyond the limit, the oldest first. */
export function truncateHistory({ set, pods, history, used }: Outdated): Action[] {
  const live = new Set([...used.map(({ metadata }) => metadata.name), ...pods.claimed.map(revisionOf)])
  const isLive = ({ metadata }: ControllerRevision): boolean => live.has(metadata.name)
  const excess = history.all.filter((one) => !isLive(one)).length - (set.spec?.revisionHistoryLimit ?? HISTORY_LIMIT)
  return truncate(history.all, excess, isLive)
}
