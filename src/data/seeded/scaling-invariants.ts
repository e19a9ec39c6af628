/**
 * What holds at every moment while the workers of a cache become fewer. What leaves was decided from the set as it was last written
 * (the server refuses anything else), and because more workers were there than asked for. So whatever is older than both was known.
 */
import type { CacheRuntime } from '../../kinds/fluid/index.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { Change, Invariant, InvariantView } from '../../runtime/seams/seeded.ts'
import { cachedBytesOf, versionOfAnswers, workersOf } from './answers.ts'
import { REPORTING } from './generators/drawing.ts'
import { CLAIMS, namespaceIn, RUNTIMES, SETS, VOLUMES, whereOf } from './judge.ts'
import {
  askedOf,
  isBesideWorkers,
  leavingIn,
  nodeOf,
  podNamesIn,
  readersIn,
  type WorkerSet,
  workerSetOf,
  workerSetsIn,
} from './scaling-judge.ts'

const SCALED = [RUNTIMES.cache, RUNTIMES.alluxio].flatMap((plural) => plural ?? [])

const askedIn = (view: InvariantView, { plural, dataset }: WorkerSet): number => askedOf(view.get(plural, dataset))

/** The fewest that were asked for since each set was last written. */
type Fewest = Map<string, number>

export const neverTooFew: Invariant<Fewest> = {
  says: 'workers never become fewer than was asked for at some moment since their set was last written',
  about: [SETS, ...SCALED],
  memory: () => new Map(),
  broken(view, { resource, object, previous, isDeletion }, fewest) {
    const changed = resource === SETS ? workerSetOf(object) : undefined
    for (const set of workerSetsIn(view)) {
      const asked = askedIn(view, set)
      fewest.set(set.where, Math.min(fewest.get(set.where) ?? asked, asked))
    }
    if (changed === undefined) return undefined
    const least = fewest.get(changed.where) ?? 0
    fewest.delete(changed.where)
    if (isDeletion) return undefined
    fewest.set(changed.where, askedIn(view, changed))
    const [before, after] = [podNamesIn(previous).length, podNamesIn(object).length]
    return after < before && after < least ? `${changed.where} has ${after} of ${least}` : undefined
  },
}

/** Pods that a write of their set lets go, or begins to lead out. */
function chosenBy({ object, previous, isDeletion }: Change): string[] {
  if (isDeletion || previous === undefined) return []
  const kept = new Set(podNamesIn(object))
  const [mark, before] = [leavingIn(object), leavingIn(previous)]
  return [...podNamesIn(previous).filter((name) => !kept.has(name)), ...(mark === undefined || mark === before ? [] : [mark])]
}

interface Readers {
  step: number
  /** Since when each pod reads each dataset on its node. */
  since: Map<string, number>
  /** When each set was last written, and since when there are too many of it after that. */
  written: Map<string, number>
  surplus: Map<string, number>
}

const READING = ['pods', CLAIMS, VOLUMES]

export const readersKeepWorkers: Invariant<Readers> = {
  says: 'a worker of a co-located cache is never chosen to leave while a pod that was there before reads beside it, in whatever namespace',
  about: [...READING, SETS, ...SCALED],
  memory: () => ({ step: 0, since: new Map(), written: new Map(), surplus: new Map() }),
  broken(view, change, memory) {
    if (memory.step === 0 || READING.includes(change.resource)) noteReaders(view, memory)
    const step = ++memory.step
    const set = change.resource === SETS ? workerSetOf(change.object) : undefined
    const since = set === undefined ? 0 : (memory.surplus.get(set.where) ?? memory.written.get(set.where) ?? 0)
    if (set !== undefined) {
      memory.written.set(set.where, step)
      memory.surplus.delete(set.where)
    }
    for (const one of workerSetsIn(view))
      if (!memory.surplus.has(one.where) && podNamesIn(one.set).length > askedIn(view, one)) memory.surplus.set(one.where, step)
    if (set === undefined || !isBesideWorkers(view, set.dataset)) return undefined
    for (const pod of chosenBy(change)) {
      const node = nodeOf(view, `${namespaceIn(set.where)}/${pod}`)
      const reader = [...memory.since].find(([key, from]) => from < since && key.endsWith(` ${set.dataset} ${node}`))
      if (node !== '' && reader !== undefined) return `${pod} of ${set.where} leaves ${node}, where ${reader[0].split(' ')[0]} reads`
    }
    return undefined
  },
}

/** `namespace/pod uid dataset node`. */
function noteReaders(view: InvariantView, { step, since }: Readers): void {
  const keys = new Set(
    readersIn(view).flatMap(({ pod, node, datasets }) => datasets.map((one) => `${whereOf(pod)} ${pod.metadata.uid} ${one} ${node}`)),
  )
  for (const key of keys) if (!since.has(key)) since.set(key, step)
  for (const key of since.keys()) if (!keys.has(key)) since.delete(key)
}

/** What a report can have been about: the workers, and the versions of the answers while they were these. By the uids and nodes of the workers. */
type Reported = Map<string, { workers: readonly Pod[]; versions: Set<string> }>

export const leastGoFirst: Invariant<Map<string, Reported>> = {
  says: 'of those that may leave, the worker goes first that holds the least by a report about the workers as they are; or the last one',
  about: ['pods', 'configmaps', SETS],
  memory: () => new Map(),
  broken(view, change, said) {
    const written = change.resource === SETS ? workerSetOf(change.object)?.where : undefined
    const wrong = written === undefined ? undefined : wrongChoice(view, change, said.get(written))
    for (const { where, dataset } of workerSetsIn(view)) {
      const workers = workersOf(view, dataset)
      const key = JSON.stringify(workers.map(({ metadata, spec }) => [metadata.uid, spec?.nodeName]))
      const known: Reported = said.get(where) ?? new Map()
      const now = known.get(key) ?? { workers, versions: new Set() }
      now.versions.add(versionOfAnswers(view))
      said.set(where, where === written ? new Map([[key, now]]) : known.set(key, now))
    }
    return wrong
  },
}

function wrongChoice(view: InvariantView, change: Change, reported: Reported = new Map()): string | undefined {
  const set = workerSetOf(change.object)
  const [chosen] = chosenBy(change)
  if (set === undefined || chosen === undefined || chosen === leavingIn(change.previous)) return undefined
  const runtime = view.get(set.plural, set.dataset) as CacheRuntime | undefined
  if (runtime?.kind !== 'CacheRuntime' || runtime.spec?.runtimeClassName !== REPORTING) return undefined
  const candidates = candidatesOf(view, set, podNamesIn(change.previous))
  const victim = candidates?.find(({ metadata }) => metadata.name === chosen)
  // Where a cache does not answer, the last one goes.
  if (candidates === undefined || victim === undefined || candidates.at(-1) === victim) return undefined
  const reports = [...reported.values()].flatMap(({ workers, versions }) => [...versions].map((version) => ({ workers, version })))
  const holdsLess = (one: Pod): boolean =>
    reports.every(({ workers, version }) => cachedBytesOf(one, workers, version) < cachedBytesOf(victim, workers, version))
  const other = reports.length === 0 ? undefined : candidates.find((one) => one !== victim && holdsLess(one))
  return other === undefined ? undefined : `${chosen} of ${set.where} leaves, and ${other.metadata.name} holds less`
}

/** In the order of their ordinals; undefined: one is not placed, and what others hold decides nothing. */
function candidatesOf(view: InvariantView, { dataset }: WorkerSet, names: readonly string[]): Pod[] | undefined {
  const workers = workersOf(view, dataset)
  const there = names.map((name) => workers.find(({ metadata }) => metadata.name === name))
  if (!there.every((pod): pod is Pod => (pod?.spec?.nodeName ?? '') !== '')) return undefined
  if (!isBesideWorkers(view, dataset)) return there
  const read = new Set(readersIn(view).flatMap(({ node, datasets }) => (datasets.includes(dataset) ? [node] : [])))
  return there.filter(({ spec }) => !read.has(spec?.nodeName ?? ''))
}
