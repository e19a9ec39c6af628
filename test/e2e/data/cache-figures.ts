/** What a cache counts, from its own metrics and report, as anybody on the machine can read them. */
import type { Desk, Where } from './desk.ts'

const PORTS = { master: 19450, worker: 19451 } as const

async function textOf(desk: Desk, where: Where, pod: string, target: string): Promise<string> {
  const address = await desk.field(where, `pod/${pod}`, '.status.podIP')
  const answer = await fetch(`http://${address}:${pod.includes('-master-') ? PORTS.master : PORTS.worker}${target}`)
  if (!answer.ok) throw new Error(`${pod}${target}: ${answer.status}`)
  return answer.text()
}

export interface WorkerFigures {
  /** Blocks that it was asked for over HTTP. */
  asked: number
  /** Blocks that clients of its own node read from its files. */
  direct: number
  /** Of block files, with what stands at their ends. */
  usedBytes: number
  sourceBytes: number
  takenBytes: number
}

export async function workerFigures(desk: Desk, where: Where, pod: string): Promise<WorkerFigures> {
  const text = await textOf(desk, where, pod, '/metrics')
  const of = (name: string): number => {
    const found = new RegExp(`^sluice_cache_worker_${name}_total (\\d+)$`, 'm').exec(text)
    if (found === null) throw new Error(`${pod} does not count ${name}`)
    return Number(found[1])
  }
  const used = [...text.matchAll(/^sluice_cache_worker_used_bytes\S* (\d+)$/gm)]
  return {
    asked: of('hits') + of('misses'),
    direct: of('direct_uses'),
    usedBytes: used.reduce((sum, [, bytes]) => sum + Number(bytes), 0),
    sourceBytes: of('source_bytes'),
    takenBytes: of('taken_bytes'),
  }
}

/** What the master of a dataset knows of its cache. */
export interface CacheReport {
  /** Of the list of files: another one with every change. */
  revision: number
  cacheHitRatio: string
  ufsTotalBytes: number
  cachedBytes: number
  workers: readonly { pod: string; node: string; state: string; cachedBytes: number }[]
}

export const cacheReport = async (desk: Desk, where: Where, name: string): Promise<CacheReport> =>
  JSON.parse(await textOf(desk, where, `${name}-master-0`, '/v1/report')) as CacheReport

export const revision = async (desk: Desk, where: Where, name: string): Promise<number> => (await cacheReport(desk, where, name)).revision
