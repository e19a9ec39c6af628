/** Reads what decisions about an operation need. */

import type { Client } from '../../client/client.ts'
import { ifFound } from '../../client/errors.ts'
import type { GetText } from '../../client/get-text.ts'
import type { CacheRuntime, CacheRuntimeClass, DataBackup, Dataset } from '../../kinds/fluid/index.ts'
import {
  nameOfOperation,
  type Operation,
  type OperationName,
  operationResource,
  predecessorOf,
  runAfterOf,
  targetOf,
} from '../../kinds/fluid/operation.ts'
import { CACHE_RUNTIME_CLASSES, CACHE_RUNTIMES, DATASETS } from '../../kinds/fluid/resources.ts'
import { CRON_JOBS, JOBS, NODES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { Job, NodeAffinity, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Effect, PassReader } from '../../runtime/controller.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import { isGoing } from '../reference/indexes.ts'
import { inheritedAffinity, placeOf } from './affinity.ts'
import { backupInfos } from './build/backup.ts'
import { type Built, build } from './build/index.ts'
import { namesOf } from './build/workload.ts'
import { mayWaitFor } from './consent.ts'
import type { Seen } from './decide.ts'
import { hasSeenEnd } from './flow/decide.ts'
import { type ProgramOptions, programOf, runtimeTypeOf } from './programs.ts'
import type { Heard } from './progress/asking.ts'
import type { ProgressInput } from './progress/effect.ts'
import { type Progress, progressOf } from './progress/observe.ts'
import { endOf, newestRun } from './run.ts'
import { simulationNow } from './simulated.ts'
import { isCron, statusOf } from './spec.ts'
import { podsOf, runsOf, successorsOf } from './triggers.ts'

export interface OperationDeps extends ProgramOptions {
  referenceConsent: ReferenceConsent
  /** Absent: no pod can be asked how far its program is. */
  getText?: GetText
}

export interface Observed extends Seen {
  /** A Job or CronJob of its name that is not its own. */
  stranger: KubeObject | undefined
  /** That nothing of its present or last run is real, and what to do. */
  simulated: string | undefined
  /** Undefined: nobody says how far it is. */
  progress: Progress | undefined
}

export type ProgressEffect = Effect<ProgressInput, Heard>

interface Reading extends OperationDeps {
  effect: ProgressEffect | undefined
  read: PassReader
  client: Client
}

export async function observe(operation: Operation, reading: Reading): Promise<Observed> {
  const { read } = reading
  const { namespace = '' } = operation.metadata
  const target = targetOf(operation)
  const dataset = target === undefined || target.namespace !== namespace ? undefined : read.get(DATASETS, namespace, target.name)
  const { workload } = namesOf(operation)
  const [anyJob, anyCronJob] = [read.get(JOBS, namespace, workload), read.get(CRON_JOBS, namespace, workload)]
  const own = <T extends KubeObject>(one: T | undefined): T | undefined => (one !== undefined && isOwn(one, operation) ? one : undefined)
  const [job, cronJob] = [own(anyJob), own(anyCronJob)]
  const runs = cronJob === undefined ? [] : runsOf(cronJob, read)
  const run = cronJob === undefined ? job : newestRun(cronJob, runs)
  const pods = run === undefined ? [] : podsOf(run, read)
  const stranger = isCron(operation) ? anyCronJob : anyJob
  return {
    operation,
    dataset,
    built: await builtOf(operation, dataset, reading),
    job,
    cronJob,
    runs,
    unseen: unseenBy(operation, reading),
    simulated: simulationNow(operation, pods),
    progress:
      run === undefined || statusOf(operation).phase !== 'Executing' || simulationNow(operation, pods) !== undefined
        ? undefined
        : progressOf(run, pods, reading),
    ...(await endingOf(operation, run, reading.client)),
    stranger: own(stranger) === undefined ? stranger : undefined,
    nowMs: read.nowMs(),
  }
}

const isOwn = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true

const NEEDS_WORKLOAD: readonly string[] = ['Pending', 'Executing']

/** Of a run by schedule also later, because its CronJob follows the spec. */
async function builtOf(operation: Operation, dataset: Dataset | undefined, reading: Reading): Promise<Built | undefined> {
  const { phase = '' } = statusOf(operation)
  if (dataset === undefined || isGoing(operation) || !(NEEDS_WORKLOAD.includes(phase) || isCron(operation))) return undefined
  const { read, client, translates } = reading
  const { namespace = '' } = operation.metadata
  const nodeAffinity = placeBefore(operation, reading)
  const { kind } = operation
  const cached = await programOf(kind, dataset, {
    runtimeOf: async (name) => read.get(CACHE_RUNTIMES, namespace, name),
    classOf: async (name) => read.get(CACHE_RUNTIME_CLASSES, '', name),
    translates,
  })
  // An old cache must not make it fail for ever.
  const program =
    cached ??
    (kind === 'DataProcess'
      ? undefined
      : await programOf(kind, dataset, {
          runtimeOf: (name) => ifFound(client.get<CacheRuntime>(CACHE_RUNTIMES, { namespace, name })),
          classOf: (name) => ifFound(client.get<CacheRuntimeClass>(CACHE_RUNTIME_CLASSES, { name })),
          translates,
        }))
  return build({ operation, dataset, runtimeType: runtimeTypeOf(dataset), nodeAffinity, program })
}

/** Where the operation ran that this one is to follow. */
function placeBefore(operation: Operation, { read, referenceConsent }: Reading): NodeAffinity | undefined {
  const { affinityStrategy: strategy } = runAfterOf(operation) ?? {}
  if (strategy === undefined) return undefined
  const { namespace = '' } = operation.metadata
  const { dependOn } = strategy
  const before: OperationName | undefined =
    dependOn === undefined
      ? predecessorOf(operation)
      : { kind: dependOn.kind, name: dependOn.name, namespace: dependOn.namespace || namespace }
  if (before === undefined || !mayWaitFor(nameOfOperation(operation), before, { read, mode: referenceConsent })) return undefined
  const found = read.get(operationResource(before.kind), before.namespace, before.name)
  return found === undefined ? undefined : inheritedAffinity(strategy, statusOf(found).nodeAffinity)
}

/** Those of namespaces that may not wait for it hold nothing. */
function unseenBy(operation: Operation, { read, referenceConsent }: Reading): number {
  const { phase } = statusOf(operation)
  if (phase !== 'Complete' && phase !== 'Failed') return 0
  const name = nameOfOperation(operation)
  return successorsOf(name, read).filter(
    (successor) =>
      !isGoing(successor) &&
      !hasSeenEnd(successor, operation, name) &&
      mayWaitFor(nameOfOperation(successor), name, { read, mode: referenceConsent }),
  ).length
}

/** Looked up once, when the end is about to be said. */
async function endingOf(
  operation: Operation,
  run: Job | undefined,
  client: Client,
): Promise<Pick<Seen, 'place' | 'infos'> & Partial<Pick<Observed, 'simulated'>>> {
  const end = run === undefined ? undefined : endOf(run)
  const { phase, conditions = [] } = statusOf(operation)
  const isSaid = phase === end?.type && conditions.some(({ lastTransitionTime }) => lastTransitionTime === end?.at)
  if (run === undefined || end === undefined || isSaid || isGoing(operation)) return {}
  const { namespace = '', name = '' } = run.metadata
  const { items } = await client.list<Pod>(PODS, { namespace, labelSelector: `batch.kubernetes.io/job-name=${name}` })
  const simulated = simulationNow(
    operation,
    items.filter((pod) => isOwn(pod, run)),
  )
  if (end.type === 'Failed') return { simulated }
  const nodeName = items.find(({ status }) => status?.phase === 'Succeeded')?.spec?.nodeName
  const node = nodeName === undefined ? undefined : await ifFound(client.get(NODES, { name: nodeName }))
  return {
    simulated,
    place: node === undefined ? undefined : placeOf(node.metadata.labels ?? {}, operation.metadata.annotations),
    ...(operation.kind === 'DataBackup' ? { infos: backupInfos(operation as DataBackup, nodeName) } : {}),
  }
}
