/**
 * What each worker holds, as the engine says: the member `workers` of the report of a cache. Some program printed it, so only what
 * fits the pods that there are is taken: names and nodes of own pods, each once, with amounts that are amounts. Pure.
 */
import { isJsonObject } from '../../base/json.ts'

export interface WorkerFigures {
  cachedBytes: number
  /** It was asked to leave before. */
  isLeaving: boolean
}

/** By the names of pods. */
export type WorkerReport = ReadonlyMap<string, WorkerFigures>

export interface ReportedPod {
  pod: string
  node: string | undefined
}

/** More lines than there can be workers are not looked at. */
const MOST_LINES = 10_000
export const WORKER_REPORT_BYTES = 2 * 1024 * 1024

/** Undefined: the cache does not report per worker. Throws when it is no report at all. */
export function parseWorkerReport(text: string, pods: readonly ReportedPod[]): WorkerReport | undefined {
  const report = parsed(text)
  if (!isJsonObject(report)) throw new Error('the report is no JSON object')
  const lines = Object.hasOwn(report, 'workers') ? report.workers : undefined
  if (!Array.isArray(lines)) return undefined
  const nodes = new Map(pods.map(({ pod, node }) => [pod, node]))
  const [found, twice] = [new Map<string, WorkerFigures>(), new Set<string>()]
  for (const line of lines.slice(0, MOST_LINES)) {
    if (!isJsonObject(line)) continue
    const { pod, node, cachedBytes, state } = own(line)
    if (typeof pod !== 'string' || !nodes.has(pod) || !isAmount(cachedBytes)) continue
    // Of an earlier pod of the name, which was somewhere else.
    if (typeof node === 'string' && node !== '' && nodes.get(pod) !== node) continue
    if (found.has(pod)) twice.add(pod)
    found.set(pod, { cachedBytes, isLeaving: state === 'leaving' || state === 'gone' })
  }
  for (const pod of twice) found.delete(pod)
  return found.size === 0 ? undefined : found
}

/** Without prototypes: a line has what it has. */
const own = (line: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(['pod', 'node', 'cachedBytes', 'state'].map((name) => [name, Object.hasOwn(line, name) ? line[name] : undefined]))

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the report is not JSON')
  }
}
