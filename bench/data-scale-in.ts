/**
 * Fewer workers of a cache with real bytes, under a reader: with hand-over, and beside it without, in the same run. The cache of a
 * directory of this machine runs as processes on three nodes of `sluice up` and is full; its runtime is asked for one worker. The
 * reader gets random blocks over HTTP all the time, as a client does that completes files; afterwards it reads each block once.
 * What workers read from the source since the change is what was not kept.
 */
import path from 'node:path'
import type { Client } from '../src/client/client.ts'
import type { Dataset } from '../src/kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../src/kinds/fluid/resources.ts'
import { PODS } from '../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../src/kinds/kubernetes/types.ts'
import { type BlockReader, openBlockReader, readEach } from './data-block-reader.ts'
import { type FilesShape, makeFiles } from './data-bytes.ts'
import { type CacheWatch, watchCache } from './data-cache-watch.ts'
import { builtinDatasetOf, builtinRuntimeOf, makeNamespace } from './data-objects.ts'
import { type Latencies, startReading } from './data-steady-reader.ts'
import { accountToken, until } from './data-waits.ts'
import type { EmbeddedFleet } from './embedded-fleet.ts'

export const WAYS = ['handed over', 'removed'] as const

export interface ScaleInFigures {
  what: (typeof WAYS)[number]
  bytes: number
  /** From the change of the runtime until only one worker is there. */
  wallMs: number
  /** Meanwhile, of Sluice and of the programs of the cache, without the reader. */
  cpuMs: { sluice: number; cache: number }
  /** From worker to worker. */
  movedBytes: number
  /** What the worker that stays held before, and holds at the end of the scale-in. */
  staysBytes: { before: number; after: number }
  /** Read from the source: meanwhile, and when each block was read once afterwards. */
  sourceBytes: { during: number; after: number }
  reads: { before: Latencies; during: Latencies }
  /** Each block once: with all workers, and afterwards. */
  everyBlockMs: { before: number; after: number }
}

export interface ScaleInShape {
  files: FilesShape
  rounds: number
  /** How long the reader reads before anything happens. */
  restSeconds: number
}

const NAMESPACE = 'scale-in'
const WORKERS = 3
const AT_A_TIME = 4
const MIB = 1024 ** 2
const WITHIN_MS = 15 * 60_000

export async function measureScaleIn(fleet: EmbeddedFleet, { files, rounds, restSeconds }: ScaleInShape): Promise<ScaleInFigures[]> {
  const [member] = fleet.setup.members
  if (member === undefined) throw new Error('there is no member')
  const source = path.join(fleet.dataDir, '..', 'source')
  makeFiles(source, files)
  await makeNamespace(member, NAMESPACE)
  const all: ScaleInFigures[] = []
  for (let round = 0; round < rounds; round++)
    for (const what of round % 2 === 0 ? WAYS : [...WAYS].reverse()) {
      const name = `cache-${all.length}`
      const cache = await filledCache(member, { name, source, files, what })
      const watched = watchCache(fleet, { namespace: NAMESPACE, name })
      const reader = openBlockReader({
        master: `${cache.masterIp}:19450`,
        dataset: { namespace: NAMESPACE, name },
        node: 'elsewhere',
        tiers: [],
        token: () => accountToken(member, { namespace: NAMESPACE, name }),
      })
      try {
        await watched.until('the cache is full', () => watched.now().usedBytes >= cache.bytes, WITHIN_MS)
        all.push({ what, bytes: cache.bytes, ...(await shrunk(member, { name, watched, reader, restSeconds })) })
        console.log(JSON.stringify(all.at(-1)))
      } finally {
        reader.close()
        await watched.stop()
      }
      await gone(member, name)
    }
  return all
}

interface ToFill {
  name: string
  source: string
  files: FilesShape
  what: ScaleInFigures['what']
}

/** Any worker has room for everything. */
async function filledCache(member: Client, { name, source, files, what }: ToFill): Promise<{ bytes: number; masterIp: string }> {
  const bytes = files.files * files.bytesEach
  const runtime = builtinRuntimeOf(name, NAMESPACE, `${Math.ceil((bytes * 1.5) / MIB) + 64}Mi`, WORKERS)
  const annotations: Record<string, string> = what === 'removed' ? { 'sluice.dev/handover-seconds': '0' } : {}
  await member.create(DATASETS, builtinDatasetOf(name, NAMESPACE, source))
  await member.create(CACHE_RUNTIMES, { ...runtime, metadata: { ...runtime.metadata, annotations } })
  let masterIp = ''
  await until(`dataset ${name} is bound, with ${WORKERS} workers`, WITHIN_MS, async () => {
    const dataset = await member.get<Dataset>(DATASETS, { namespace: NAMESPACE, name })
    const { items } = await member.list<Pod>(PODS, { namespace: NAMESPACE })
    masterIp = items.find(({ metadata }) => metadata.name === `${name}-master-0`)?.status?.podIP ?? ''
    const isReady = items.filter(({ status }) => status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
    return dataset.status?.phase === 'Bound' && isReady.length > WORKERS && masterIp !== ''
  })
  return { bytes, masterIp }
}

interface Ground {
  name: string
  watched: CacheWatch
  reader: BlockReader
  restSeconds: number
}

async function shrunk(member: Client, { name, watched, reader, restSeconds }: Ground): Promise<Omit<ScaleInFigures, 'what' | 'bytes'>> {
  const blocks = await reader.blocks()
  const everyBefore = await timed(() => readEach(reader, blocks, AT_A_TIME))
  const atRest = startReading(reader, blocks)
  await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000))
  const before = await atRest.stop()
  const beforeBytes = watched.now()
  const reading = startReading(reader, blocks)
  const began = performance.now()
  await member.patch(CACHE_RUNTIMES, { namespace: NAMESPACE, name }, { type: 'merge', body: { spec: { worker: { replicas: 1 } } } })
  await watched.until('one worker is left', () => watched.now().workers.length === 1, WITHIN_MS)
  const wallMs = performance.now() - began
  const during = await reading.stop()
  await watched.look()
  const then = watched.now()
  const everyAfter = await timed(() => readEach(reader, blocks, AT_A_TIME))
  await watched.look()
  const [stays = ''] = then.workers
  return {
    ...{ wallMs, cpuMs: { sluice: then.sluiceCpuMs - beforeBytes.sluiceCpuMs, cache: then.cacheCpuMs - beforeBytes.cacheCpuMs } },
    movedBytes: then.takenBytes - beforeBytes.takenBytes,
    staysBytes: { before: beforeBytes.usedBytesOf.get(stays) ?? 0, after: then.usedBytes },
    sourceBytes: { during: then.sourceBytes - beforeBytes.sourceBytes, after: watched.now().sourceBytes - then.sourceBytes },
    reads: { before, during },
    everyBlockMs: { before: everyBefore, after: everyAfter },
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function gone(member: Client, name: string): Promise<void> {
  await member.delete(DATASETS, { namespace: NAMESPACE, name })
  await member.delete(CACHE_RUNTIMES, { namespace: NAMESPACE, name })
  await until(`dataset ${name} is gone`, WITHIN_MS, async () => (await member.list(PODS, { namespace: NAMESPACE })).items.length === 0)
}
