/**
 * What the programs of one cache count and use, looked at all the time: what a worker had counted when it went still counts. Its
 * figures are read where its pod serves them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { PODS } from '../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../src/kinds/kubernetes/types.ts'
import { cachePrograms } from '../test/cache/sluice/cache-programs.ts'
import { until } from './data-waits.ts'
import type { EmbeddedFleet } from './embedded-fleet.ts'
import { cpuMs } from './processes.ts'

export interface CacheState {
  /** Names of the pods of workers that are there. */
  workers: readonly string[]
  /** Of these. */
  usedBytes: number
  usedBytesOf: ReadonlyMap<string, number>
  /** Of all workers that ever were, as far as they were seen. */
  sourceBytes: number
  takenBytes: number
  /** Of master and workers, likewise. */
  cacheCpuMs: number
  sluiceCpuMs: number
}

export interface CacheWatch {
  now(): CacheState
  /** Not before everything was looked at once more. */
  look(): Promise<void>
  until(what: string, isSo: () => boolean, withinMs: number): Promise<void>
  stop(): Promise<void>
}

interface Counted {
  used: number
  source: number
  taken: number
}

const WORKER_PORT = 19451
const LOOK_EVERY_MS = 100
const NOTHING: Counted = { used: 0, source: 0, taken: 0 }

export function watchCache({ setup, dataDir }: EmbeddedFleet, { namespace, name }: { namespace: string; name: string }): CacheWatch {
  const [member] = setup.members
  const [counted, cpu] = [new Map<string, Counted>(), new Map<number, number>()]
  let workers: string[] = []
  let failure: { reason: unknown } | undefined
  const countOf = async (pod: Pod): Promise<void> => {
    const found = await figuresOf(pod)
    if (found !== undefined) counted.set(pod.metadata.name ?? '', found)
  }
  const look = async (): Promise<void> => {
    const { items = [] } = (await member?.list(PODS, { namespace })) ?? {}
    const found = items.filter(({ metadata }) => metadata.name?.startsWith(`${name}-worker-`) === true)
    await Promise.all(found.map(countOf))
    workers = found.map(({ metadata }) => metadata.name ?? '')
    for (const { pid, dataset, role } of cachePrograms(dataDir))
      if (dataset === name && role !== 'client') cpu.set(pid, cpuIfThere(pid) ?? cpu.get(pid) ?? 0)
  }
  let isStopped = false
  const looking = (async () => {
    for (; !isStopped; await sleep(LOOK_EVERY_MS)) await look()
  })().catch((reason: unknown) => {
    failure = { reason }
  })
  const sumOf = (of: (one: Counted) => number): number => [...counted.values()].reduce((sum, one) => sum + of(one), 0)
  const now = (): CacheState => {
    const usedBytesOf = new Map(workers.map((worker) => [worker, (counted.get(worker) ?? NOTHING).used]))
    return {
      ...{ workers, usedBytesOf, usedBytes: [...usedBytesOf.values()].reduce((sum, used) => sum + used, 0) },
      ...{ sourceBytes: sumOf(({ source }) => source), takenBytes: sumOf(({ taken }) => taken) },
      cacheCpuMs: [...cpu.values()].reduce((sum, ms) => sum + ms, 0),
      sluiceCpuMs: cpuMs(Object.values(setup.pids).flat()),
    }
  }
  return {
    now,
    look,
    until: (what, isSo, withinMs) =>
      until(what, withinMs, () => {
        if (failure !== undefined) throw failure.reason
        return isSo()
      }),
    async stop() {
      isStopped = true
      await looking
    },
  }
}

/** Undefined: it does not answer, because it starts or ends. */
async function figuresOf({ status }: Pod): Promise<Counted | undefined> {
  if (status?.podIP === undefined || status.podIP === '') return undefined
  let text: string
  try {
    const answer = await fetch(`http://${status.podIP}:${WORKER_PORT}/metrics`)
    if (!answer.ok) return undefined
    text = await answer.text()
  } catch {
    return undefined
  }
  const sum = (pattern: RegExp): number => [...text.matchAll(pattern)].reduce((all, [, value]) => all + Number(value), 0)
  return {
    used: sum(/^sluice_cache_worker_used_bytes\S* (\d+)$/gm),
    source: sum(/^sluice_cache_worker_source_bytes_total (\d+)$/gm),
    taken: sum(/^sluice_cache_worker_taken_bytes_total (\d+)$/gm),
  }
}

function cpuIfThere(pid: number): number | undefined {
  try {
    return cpuMs([pid])
  } catch {
    // It has ended in the meantime.
    return undefined
  }
}
