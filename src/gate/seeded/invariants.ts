/** What holds at every moment for workloads that need data: the gate never opens by mistake, and never shakes what runs. */
import type { Binding } from '../../kinds/karmada/index.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import type { Change, Invariant } from '../../runtime/seams/seeded.ts'
import { History, WATCHED } from './history.ts'
import { allowOf, BINDINGS, CLAIMS, namesOf, RELEASED, WORKS, whereOf } from './judge.ts'

const HUB = 'hub'

/** Written by a controller, on the hub. */
const isDecision = ({ cluster, resource, isDeletion, isPeoples }: Change): boolean =>
  isOnHub(cluster) && resource === BINDINGS && !isDeletion && !isPeoples

/** The prover of a single controller does not name its cluster. */
const isOnHub = (cluster: string): boolean => cluster === HUB || cluster === ''

/** The clusters that a write adds to a binding. */
function addedBy({ object, previous }: Change): string[] {
  const before = previous === undefined ? [] : namesOf(previous as Binding)
  return namesOf(object as Binding).filter((name) => !before.includes(name))
}

/** Of what is scheduled, of what is released, and of what is sent to members. */
const neverTooEarly: Invariant<History> = {
  says: 'a workload goes only to clusters where all of the data that it claims was, at some moment since it claimed it',
  about: [...WATCHED, BINDINGS, WORKS],
  memory: () => new History(),
  broken(hub, change, history) {
    if (!isOnHub(change.cluster)) return undefined
    history.note(hub, change)
    if (isDecision(change)) return wrongDecision(change, history)
    if (change.resource !== WORKS || change.isDeletion || change.previous !== undefined) return undefined
    const { annotations = {}, namespace = '' } = change.object.metadata
    const where = `${annotations['resourcebinding.karmada.io/namespace']}/${annotations['resourcebinding.karmada.io/name']}`
    const binding = hub.get(BINDINGS, where) as Binding | undefined
    const cluster = namespace.replace(/^karmada-es-/, '')
    return binding === undefined || namesOf(binding).includes(cluster) || history.mayBeIn(binding, cluster)
      ? undefined
      : `${whereOf(change.object)} is made for ${where}`
  },
}

function wrongDecision(change: Change, history: History): string | undefined {
  const binding = change.object as Binding
  const wrong = addedBy(change).find((name) => !history.mayBeIn(binding, name))
  if (wrong !== undefined) return `${whereOf(binding)} is scheduled to ${wrong}`
  const before = change.previous === undefined ? [] : (allowOf(change.previous) ?? [])
  const opened = (allowOf(binding) ?? []).find((name) => !before.includes(name) && !history.mayBeIn(binding, name))
  return opened === undefined ? undefined : `${whereOf(binding)} is released to ${opened}`
}

const withinRelease: Invariant = {
  says: 'what is held is not scheduled, and what was released only to the clusters that it was released to',
  about: [BINDINGS],
  broken(_hub, change) {
    const { previous } = change
    if (!isDecision(change) || previous === undefined) return undefined
    const added = addedBy(change)
    const [now, before] = [change.object as Binding, previous as Binding]
    if (added.length > 0 && before.spec.suspension?.scheduling === true) return `${whereOf(now)} is held, and scheduled to ${added.join()}`
    const allow = allowOf(before)
    const outside = allow === undefined ? [] : added.filter((name) => !allow.includes(name))
    return outside.length === 0 ? undefined : `${whereOf(now)} was released to ${allow?.join()}, and is scheduled to ${outside.join()}`
  },
}

/** What a release was decided from, except for where the data was. */
function reasonsOf({ metadata }: Binding): string {
  const { seen, policy, rescheduled } = JSON.parse(metadata.annotations?.[RELEASED] ?? '{}') as Record<string, unknown>
  return JSON.stringify([seen, policy, rescheduled])
}

/** Data that moves or gets lost is no reason to move what runs, unless a claim says so. */
const frozen: Invariant<{ mayMove: boolean }> = {
  says: 'what a placed workload was released to changes only with its claims, its policy, an eviction or a request',
  about: [BINDINGS, CLAIMS],
  memory: () => ({ mayMove: false }),
  broken(_hub, change, memory) {
    if (!isOnHub(change.cluster)) return undefined
    if (change.resource === CLAIMS) memory.mayMove ||= movesWithData(change.object as DataSourceClaim)
    if (!isDecision(change) || change.previous === undefined) return undefined
    const [now, before] = [change.object as Binding, change.previous as Binding]
    const [after, was] = [allowOf(now), allowOf(before)]
    if (after === undefined || was === undefined || namesOf(before).length === 0 || memory.mayMove) return undefined
    if (JSON.stringify(after) === JSON.stringify(was) || reasonsOf(now) !== reasonsOf(before)) return undefined
    if ((before.spec.gracefulEvictionTasks ?? []).length > 0) return undefined
    return `${whereOf(now)} was released to ${was.join()}, and now to ${after.join()}`
  },
}

const movesWithData = ({ metadata }: DataSourceClaim): boolean => metadata.annotations?.['sluice.dev/on-locality-change'] === 'Move'

export const INVARIANTS: readonly Invariant[] = [neverTooEarly, withinRelease, frozen]
