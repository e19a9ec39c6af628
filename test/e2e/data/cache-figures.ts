/** What a cache counts, from its own metrics and report, as anybody on the machine can read them. */
import type { Desk } from './desk.ts'

const PORTS = { master: 19450, worker: 19451 } as const

async function textOf(desk: Desk, member: string, pod: string, target: string): Promise<string> {
  const address = await desk.field(member, `pod/${pod}`, '.status.podIP')
  const answer = await fetch(`http://${address}:${pod.includes('-master-') ? PORTS.master : PORTS.worker}${target}`)
  if (!answer.ok) throw new Error(`${pod}${target}: ${answer.status}`)
  return answer.text()
}

export interface WorkerFigures {
  /** Blocks that it was asked for over HTTP. */
  asked: number
  /** Blocks that clients of its own node read from its files. */
  direct: number
  sourceBytes: number
  takenBytes: number
}

export async function workerFigures(desk: Desk, member: string, pod: string): Promise<WorkerFigures> {
  const text = await textOf(desk, member, pod, '/metrics')
  const of = (name: string): number => {
    const found = new RegExp(`^sluice_cache_worker_${name}_total (\\d+)$`, 'm').exec(text)
    if (found === null) throw new Error(`${pod} does not count ${name}`)
    return Number(found[1])
  }
  return { asked: of('hits') + of('misses'), direct: of('direct_uses'), sourceBytes: of('source_bytes'), takenBytes: of('taken_bytes') }
}

/** Of the list of files: another one with every change. */
export async function revision(desk: Desk, member: string, name: string): Promise<number> {
  return (JSON.parse(await textOf(desk, member, `${name}-master-0`, '/v1/report')) as { revision: number }).revision
}
