/** Everything that a decision about a dataset needs, from caches and from the outcomes of commands. */
import { createHash } from 'node:crypto'
import type { Client } from '../../client/client.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { volumeName } from '../../kinds/fluid/names.ts'
import { isReference } from '../../kinds/fluid/reference.ts'
import { CACHE_RUNTIME_CLASSES, DATASETS, THIN_RUNTIME_PROFILES } from '../../kinds/fluid/resources.ts'
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { keyOfRef, type ObjectRef, refOfKey } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Outcome, PassReader } from '../../runtime/controller.ts'
import { isUnchanged } from '../../runtime/live-owner.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import type { Engine, EngineOptions, Prepared } from '../engines/engine.ts'
import { type References, referencesTo } from '../reference/referring.ts'
import { isOurClaim } from '../volume/desired.ts'
import { takenBy } from '../volume/taken.ts'
import { type DatasetEffects, LONGEST_REPORT_MS } from './effects.ts'
import { followingIn } from './follow-request.ts'
import { entryPod, isComplete, isOfComponent, runOf, simulatedBecause } from './pods.ts'
import { refusalIn } from './readiness.ts'
import { type Asked, type Asking, asking, type Pace, type Turn } from './report.ts'
import { requestedRuntime } from './requested-runtime.ts'
import { boundType, type Choice, choose, RUNTIME_KINDS, type Runtime, runtimesNamed } from './runtimes.ts'
import { BY_CLAIM, BY_RUNTIME, BY_SIDECAR } from './triggers.ts'

export interface DatasetDeps {
  engines: readonly Engine[]
  options: EngineOptions
  effects: DatasetEffects
  pace: Pace
  referenceConsent: ReferenceConsent
}

export interface Observed {
  dataset: Dataset
  nowMs: number
  choice: Choice
  /** How the runtime is served; undefined: there is none. */
  service: Service | undefined
  /** Whether what is missing is certainly missing, as far as something follows from it. */
  isCertain: boolean
  /** What keeps a dataset that is to be deleted. */
  users: Users
  /** Datasets that refer to this one. */
  references: References
  /** Why it has no volume or claim: somebody else has one of that name. */
  taken: string | undefined
  lastFailure: string | undefined
}

export type Service = { refused: string; prepared?: undefined } | (Working & { refused?: undefined })

interface Working {
  prepared: Prepared
  pods: readonly Pod[]
  /** Why a master or worker runs nothing; undefined: they run. */
  simulated: string | undefined
  /** Undefined: there is nothing to be mounted, or no container to do it. */
  mount: { key: string; outcome: Outcome<true> | undefined } | undefined
  /** Undefined: there is nobody to ask. */
  asking: (Asking & { run: string; workers: string }) | undefined
}

export interface Users {
  /** Names of pods, sorted. */
  pods: readonly string[]
  /** Datasets that refer to this one. */
  datasets: readonly string[]
}

const NO_USERS: Users = Object.freeze({ pods: [], datasets: [] })

export async function observe(
  deps: DatasetDeps,
  ref: ObjectRef,
  dataset: Dataset | undefined,
  { read, client }: { read: PassReader; client: Client },
): Promise<Observed | undefined> {
  if (dataset === undefined || isReference(dataset)) return undefined
  const isGoing = dataset.metadata.deletionTimestamp !== undefined
  const choice = choose(runtimesNamed(ref, read), boundType(dataset.status))
  const seen = { dataset, choice, ref }
  const references = referencesTo(dataset, { read, mode: deps.referenceConsent })
  return {
    dataset,
    nowMs: read.nowMs(),
    choice,
    service: choice.runtime === undefined ? undefined : serviceOf(deps, choice.runtime, { ...seen, read }),
    isCertain: isCertain(seen, read) && (!asksForRuntime(seen) || (await isUnchanged(client, DATASETS, dataset))),
    users: isGoing ? usersOf(seen, references, read) : NO_USERS,
    references,
    taken: isGoing ? undefined : takenIn(ref, read),
    lastFailure: read.lastFailure()?.message,
  }
}

interface Seen {
  dataset: Dataset
  choice: Choice
  ref: ObjectRef
}

function serviceOf(
  deps: DatasetDeps,
  { type, kind, object }: Runtime,
  { dataset, ref, read }: Omit<Seen, 'choice'> & { read: PassReader },
): Service {
  const engine = deps.engines.find((one) => one.type === type)
  if (engine === undefined)
    return {
      refused: `no engine serves runtimes of kind ${kind}: delete it, and create a CacheRuntime ${ref.name} of class builtin instead`,
    }
  const { prepared, refused } = engine.serve(
    {
      runtime: object,
      dataset,
      classOf: (name) => read.get(CACHE_RUNTIME_CLASSES, '', name),
      profileOf: (name) => read.get(THIN_RUNTIME_PROFILES, '', name),
    },
    deps.options,
  )
  if (prepared === undefined) return { refused: refused.message }
  const refusal = refusalIn(object)
  if (refusal !== undefined) return { refused: refusal }
  const pods = read.byIndex(PODS, BY_RUNTIME, keyOfRef(ref))
  const simulated = prepared.simulated ?? simulationOf(prepared, pods)
  if (simulated !== undefined) return { prepared, pods, simulated, mount: undefined, asking: undefined }
  return {
    ...{ prepared, pods, simulated },
    mount: mountOf(deps, { dataset, prepared, read }),
    asking: askingOf(deps, { dataset, prepared, read }, pods),
  }
}

function simulationOf({ components }: Prepared, pods: readonly Pod[]): string | undefined {
  const names = [components.master?.name, components.worker?.name].filter((name) => name !== undefined)
  const reasons = pods.flatMap((pod) => (names.some((name) => isOfComponent(pod, name)) ? (simulatedBecause(pod) ?? []) : []))
  // The same one each time, in whatever order pods are found.
  return reasons.sort()[0]
}

interface InPod {
  dataset: Dataset
  prepared: Prepared
  read: PassReader
}

/**
 * Mounting is repeated when the container is another one, and with each generation of the dataset: a mount that is changed and
 * changed back is mounted again, too.
 */
function mountOf({ effects }: DatasetDeps, { dataset, prepared, read }: InPod): Working['mount'] {
  const { mountUfs: entry, mountPaths } = prepared
  if (entry === undefined) return undefined
  const { namespace = '', uid = '', generation = 0 } = dataset.metadata
  const run = runOf(entryPod(read.get(PODS, namespace, entry.pod), entry.pod), entry.container)
  if (run === undefined) return undefined
  const hash = createHash('sha256').update(JSON.stringify([entry.command, mountPaths, dataset.spec?.mounts ?? []]))
  const key = `${uid} ${generation} ${run} ${hash.digest('hex').slice(0, 16)}`
  return { key, outcome: read.outcome(effects.mountUfs, key) }
}

export const reportKey = (run: string, { slot, turn }: Turn): string => `${run} ${slot}.${turn}`

function askingOf({ effects, pace }: DatasetDeps, { dataset, prepared, read }: InPod, pods: readonly Pod[]): Working['asking'] {
  const { reportSummary: entry } = prepared
  if (entry === undefined) return undefined
  const run = runOf(entryPod(read.get(PODS, dataset.metadata.namespace ?? '', entry.pod), entry.pod), entry.container)
  if (run === undefined) return undefined
  const { worker } = prepared.components
  const uids = pods.filter((pod) => worker !== undefined && isOfComponent(pod, worker.name)).map(({ metadata }) => metadata.uid ?? '')
  const workers = createHash('sha256').update(uids.sort().join()).digest('hex').slice(0, 16)
  const outcomeOf = (turn: Turn): Outcome<Asked> | undefined => read.outcome(effects.reportSummary, reportKey(run, turn))
  return { ...asking({ nowMs: read.nowMs(), pace, longestMs: LONGEST_REPORT_MS, workers, outcomeOf }), run, workers }
}

/** A runtime must not be made or changed for a dataset that only an old cache still shows. */
const asksForRuntime = ({ dataset, choice }: Seen): boolean => {
  const { runtime, others, going } = choice
  if (runtime !== undefined) return followingIn({ dataset, choice }).change !== undefined
  return others.length + going.length === 0 && requestedRuntime(dataset)?.runtime !== undefined
}

/** A cache that is behind may not show yet what the dataset was bound to, or who uses it. */
function isCertain({ dataset, choice, ref }: Seen, read: PassReader): boolean {
  const revision = Number(dataset.metadata.resourceVersion)
  const reflects = (resource: Resource, namespace = ref.namespace): boolean => read.reflects(resource, namespace, revision)
  const bound = RUNTIME_KINDS.find(({ type }) => type === boundType(dataset.status))
  const isUnseen = bound !== undefined && ![choice.runtime, ...choice.going].some((one) => one?.type === bound.type)
  const known = isUnseen ? [reflects(bound.resource)] : []
  if (dataset.metadata.deletionTimestamp !== undefined) {
    known.push(reflects(PODS), reflects(PERSISTENT_VOLUME_CLAIMS))
    for (const key of dataset.status?.datasetRef ?? []) known.push(reflects(DATASETS, refOfKey(key).namespace))
    known.push(reflects(NAMESPACES, ''))
  }
  return known.every(Boolean)
}

export const takenIn = (key: ObjectRef, read: PassReader): string | undefined =>
  takenBy({
    key,
    volume: read.get(PERSISTENT_VOLUMES, '', volumeName(key)),
    claim: read.get(PERSISTENT_VOLUME_CLAIMS, key.namespace, key.name),
  })

function usersOf({ ref }: Seen, { holding }: References, read: PassReader): Users {
  // What is in a namespace goes with it, whoever refers to it from elsewhere.
  const isLeaving = read.get(NAMESPACES, '', ref.namespace)?.metadata.deletionTimestamp !== undefined
  return { pods: podsReading(ref, read), datasets: isLeaving ? [] : holding }
}

/** Names of pods that read a dataset by its claim or by a sidecar, sorted: its deletion waits for them. */
export function podsReading(ref: ObjectRef, read: PassReader): string[] {
  const bySidecar = read.byIndex(PODS, BY_SIDECAR, keyOfRef(ref)).filter((pod) => !isComplete(pod))
  return [...new Set([...podsUsing(ref, read), ...bySidecar.map(({ metadata }) => metadata.name ?? '')])].sort()
}

/** Names of pods that use the claim of a dataset, sorted. */
export function podsUsing(ref: ObjectRef, read: PassReader): string[] {
  const claim = read.get(PERSISTENT_VOLUME_CLAIMS, ref.namespace, ref.name)
  const pods = claim === undefined || !isOurClaim(claim) ? [] : read.byIndex(PODS, BY_CLAIM, keyOfRef(ref))
  return pods
    .filter((pod) => !isComplete(pod))
    .map(({ metadata }) => metadata.name ?? '')
    .sort()
}
