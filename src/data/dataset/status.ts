/**
 * The status of a dataset, whole, from what it is. Pure. What others may have written there (operations) is kept; when the
 * runtime is gone, only that and the mounts are.
 */
import { deepEqual, isJsonObject } from '../../base/json.ts'
import type { Dataset, DatasetStatus } from '../../kinds/fluid/index.ts'
import { CALCULATING, RUNTIME_CATEGORY } from '../../kinds/fluid/well-known.ts'
import { findCondition } from '../../kube/conditions.ts'
import { type References, shownKeys } from '../reference/referring.ts'
import { conditionsOf, READY_MESSAGE, ready, type Said, unready, updating, waiting } from './conditions.ts'
import { type Standing, secondRuntime } from './decide.ts'
import { followingIn } from './follow-request.ts'
import type { Observed, Service } from './observe.ts'
import { type Asked, NO_REPORT, SILENCE_MS } from './report.ts'
import { shown } from './text.ts'

type Status = Partial<DatasetStatus>

export function statusOf(observed: Observed, standing: Standing, held?: Said): DatasetStatus {
  const { dataset, nowMs } = observed
  const before: Status = dataset.status ?? {}
  const said = [...saidOf(observed, standing), ...(held === undefined ? [] : [held])]
  const { datasetRef: _, ...fields } = fieldsOf(observed, standing, before)
  const { listed } = observed.references
  return {
    ...fields,
    phase: standing.phase,
    conditions: conditionsOf(before.conditions, said, nowMs),
    ...(listed.length === 0 ? {} : { datasetRef: [...listed] }),
  }
}

function fieldsOf({ dataset, choice, service }: Observed, standing: Standing, before: Status): Status {
  if (standing.phase === 'NotBound') return unbound(before)
  if (service === undefined || service.refused !== undefined || standing.phase === 'Failed') return before
  const { namespace = '', name = '' } = dataset.metadata
  const { master } = service.prepared.components
  const runtime = { name, namespace, category: RUNTIME_CATEGORY, type: choice.runtime?.type ?? '', masterReplicas: master?.replicas ?? 0 }
  const { mounts: _, ...rest } = before
  const mounts = standing.phase === 'Bound' ? dataset.spec?.mounts : before.mounts
  return { ...rest, ...(mounts === undefined ? {} : { mounts }), runtimes: [runtime], ...figuresOf(service, before) }
}

/** What was never there is not made. */
export function unbound(before: Status): Status {
  const { hcfs: _, ufsTotal, fileNum, cacheStates, runtimes, ...rest } = before
  return {
    ...rest,
    ...(ufsTotal === undefined ? {} : { ufsTotal: '' }),
    ...(fileNum === undefined ? {} : { fileNum: '' }),
    ...(cacheStates === undefined ? {} : { cacheStates: {} }),
    ...(runtimes === undefined ? {} : { runtimes: [] }),
  }
}

type Working = Extract<Service, { refused?: undefined }>
type Figures = Pick<DatasetStatus, 'ufsTotal' | 'fileNum' | 'cacheStates'>

function figuresOf({ prepared, simulated, asking }: Working, before: Status): Figures {
  const report = simulated !== undefined || prepared.reportSummary === undefined ? NO_REPORT : asking?.last?.report
  if (report !== undefined)
    return { ufsTotal: report.ufsTotal, fileNum: report.fileNum, cacheStates: report.cacheStates as Figures['cacheStates'] }
  // Nothing was heard yet, or not since this process started: what is known stays.
  const isKnown = (text: string | undefined): text is string => text !== undefined && text !== ''
  const known = isKnown(before.ufsTotal) && isKnown(before.fileNum)
  return {
    ufsTotal: known ? before.ufsTotal : CALCULATING,
    fileNum: known ? before.fileNum : CALCULATING,
    cacheStates: before.cacheStates ?? {},
  }
}

function saidOf({ dataset, choice, service, nowMs, taken, references }: Observed, standing: Standing): Said[] {
  const before = dataset.status?.conditions
  const ignored = ignoredSaid(followingIn({ dataset, choice }).ignored)
  if (standing.phase === 'NotBound') return [waiting(standing.sentence), ...referencesSaid(references), ...ignored]
  const wasReady = findCondition(before, 'Ready')
  const beside = [
    ...referencesSaid(references),
    ...secondSaid(secondRuntime(choice)),
    ...simulationSaid(service),
    ...takenSaid(taken),
    ...ignored,
  ]
  const reported = [...reportedSaid(dataset, service, nowMs), ...listedSaid(dataset, service)]
  switch (standing.phase) {
    case 'Failed':
      return [unready(), waiting(standing.sentence), ...beside, ...reported]
    case 'Updating':
      return [
        wasReady?.status === 'False' ? unready() : ready(wasReady?.message ?? READY_MESSAGE),
        updating(standing.message),
        ...beside,
        ...reported,
      ]
    case 'Bound':
      return [ready(standing.message), ...beside, ...reported]
  }
}

const secondSaid = (message: string | undefined): Said[] =>
  message === undefined ? [] : [{ type: 'SecondRuntime', status: 'True', reason: 'SecondRuntime', message }]

const takenSaid = (message: string | undefined): Said[] =>
  message === undefined ? [] : [{ type: 'NameTaken', status: 'True', reason: 'NameTaken', message }]

function referencesSaid({ withdrawn, unlisted, listed }: References): Said[] {
  const lost = `consent was withdrawn from ${shownKeys(withdrawn)}: pods that run there keep their files, new ones are not given any`
  const full = `${listed.length} datasets refer to this one, and ${unlisted} more are not served: delete references that are not needed any more`
  return [
    ...(withdrawn.length === 0 ? [] : [{ type: 'ConsentWithdrawn', status: 'True', reason: 'NoConsent', message: lost } as const]),
    ...(unlisted === 0 ? [] : [{ type: 'ReferencesUnlisted', status: 'True', reason: 'TooManyReferences', message: full } as const]),
  ]
}

const ignoredSaid = (message: string | undefined): Said[] =>
  message === undefined ? [] : [{ type: 'RequestIgnored', status: 'True', reason: 'RuntimeStays', message: shown(message) }]

function simulationSaid(service: Service | undefined): Said[] {
  const because = service?.refused === undefined ? service?.simulated : undefined
  if (because === undefined) return []
  return [
    { type: 'Simulated', status: 'True', reason: 'Simulated', message: `its pods run nothing, so no byte is cached: ${shown(because)}` },
  ]
}

/** Said after a while without a report, and until one comes: a restart knows of neither. */
function reportedSaid(dataset: Dataset, service: Service | undefined, nowMs: number): Said[] {
  if (service === undefined || service.refused !== undefined || service.simulated !== undefined) return []
  if (service.prepared.reportSummary === undefined) return []
  const last = service.asking?.last
  if (last !== undefined && last.problem === undefined) return []
  if (last !== undefined && isSilent(last, nowMs))
    return [silence(`the cache does not report how much it holds, what is shown is old: ${last.problem}`)]
  const before = findCondition(dataset.status?.conditions, 'Reported')
  return before === undefined ? [] : [silence(before.message ?? '')]
}

/** As the last report says; a restart has heard of none. */
function listedSaid(dataset: Dataset, service: Service | undefined): Said[] {
  if (service === undefined || service.refused !== undefined || service.simulated !== undefined) return []
  const report = service.asking?.last?.report
  const message =
    report === undefined ? findCondition(dataset.status?.conditions, 'SourcesListed')?.message : unlisted(report.sourceProblem)
  return message === undefined ? [] : [{ type: 'SourcesListed', status: 'False', reason: 'ListingFailed', message }]
}

const unlisted = (problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `a source cannot be listed now, what was found of it before is served: ${problem}`

const isSilent = ({ failingSinceMs }: Asked, nowMs: number): boolean => failingSinceMs !== undefined && nowMs - failingSinceMs >= SILENCE_MS

const silence = (message: string): Said => ({ type: 'Reported', status: 'False', reason: 'ReportFailed', message })

/** A merge patch that makes the one the other; undefined when they are the same. */
export function patchOf(before: object, after: object): Record<string, unknown> | undefined {
  const [old, next] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
  const gone = Object.keys(old).filter((name) => next[name] === undefined)
  const changed = Object.entries(next).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined || (Object.hasOwn(old, name) && deepEqual(old[name], value))) return []
    const was = Object.hasOwn(old, name) ? old[name] : undefined
    return [[name, isJsonObject(was) && isJsonObject(value) ? (patchOf(was, value) ?? {}) : value]]
  })
  const all = [...gone.map((name): [string, unknown] => [name, null]), ...changed]
  return all.length === 0 ? undefined : Object.fromEntries(all)
}
