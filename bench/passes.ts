/**
 * A controller over many objects, in one process with a server over a store in memory: time until its caches have synced,
 * passes per second that write and that do not, memory per object, and how much it writes when there is nothing to do.
 */
import { generateKeyPairSync } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../src/base/random.ts'
import { type Caches, createCaches } from '../src/client/cache/caches.ts'
import { createClient } from '../src/client/client.ts'
import { clusterOf, inThisProcess } from '../src/composition.ts'
import { CONFIG_MAPS } from '../src/kinds/kubernetes/resources.ts'
import type { ConfigMap } from '../src/kinds/kubernetes/types.ts'
import { defineController, NOTHING_TO_DO } from '../src/runtime/controller.ts'
import { type RunningController, runController } from '../src/runtime/run-controller.ts'
import { createMemoryStore } from '../src/store/index.ts'

export interface PassFigures {
  objects: number
  syncMs: number
  writingPerSecond: number
  quietPerSecond: number
  /** Heap that the cache and the controller hold, per object. */
  bytesPerObject: number
  writesWhenSettled: number
  writesAfterRestart: number
  restartMs: number
}

const clock = {
  now: () => Date.now(),
  after(delayMs: number, callback: () => void) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Marks every object once, and has nothing to do afterwards. */
const marker = defineController<{ map: ConfigMap | undefined }, ConfigMap>({
  name: 'bench.marker',
  for: CONFIG_MAPS,
  writes: [{ resource: CONFIG_MAPS, verbs: ['patch'] }],
  concurrency: 16,
  observe: (_ref, map) => ({ map }),
  plan({ map }) {
    if (map === undefined || map.metadata.annotations?.seen === 'yes') return NOTHING_TO_DO
    return { actions: [{ do: 'patch', resource: CONFIG_MAPS, of: map, patch: { metadata: { annotations: { seen: 'yes' } } } }] }
  },
})

export async function measurePasses(objects: number): Promise<PassFigures> {
  const random = seededRandom(1)
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const store = createMemoryStore({ clock })
  const access = { adminToken: 'bench', serviceAccountKey: key, clientAuthority: '' }
  const cluster = clusterOf({ role: 'hub', bare: true, store: store.cluster('hub'), clock, random, port: 1, ...access })
  await cluster.ready
  const transport = inThisProcess(cluster)
  const client = createClient({ transport, clock, random, userAgent: 'bench' })
  for (let i = 0; i < objects; i++)
    await client.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `map-${i}`, namespace: 'default' },
      data: { text: 'x'.repeat(500) },
    })

  const run = async (): Promise<Run> => {
    let passes = 0
    let writes = 0
    const caches = createCaches({ client, clock, random })
    const began = performance.now()
    const running = runController(marker, {
      client,
      caches,
      clock,
      random,
      onPass(pass) {
        passes++
        writes += pass.writes
      },
    })
    await caches.synced()
    return { running, caches, syncMs: performance.now() - began, passes: () => passes, writes: () => writes }
  }
  const first = await firstRun(run)
  await sleep(50)
  collect()
  const heapWithout = process.memoryUsage().heapUsed
  const restartBegan = performance.now()
  const second = await run()
  await settle(second)
  const restartMs = performance.now() - restartBegan
  collect()
  // Nothing was written since, so all that grew is the cache and the controller.
  const bytesPerObject = (process.memoryUsage().heapUsed - heapWithout) / objects
  const writesAfterRestart = second.writes()
  await stop(second)
  cluster.stop()
  return { objects, ...first, bytesPerObject, writesAfterRestart, restartMs }
}

interface Run {
  running: RunningController
  caches: Caches
  syncMs: number
  passes(): number
  writes(): number
}

async function settle({ running, caches }: Run): Promise<void> {
  while (running.busy().length + caches.behind().length > 0) await sleep(1)
}

async function stop({ running, caches }: Run): Promise<void> {
  await running.stop()
  caches.stop()
}

/** Everything is new to the controller; then it resyncs. */
async function firstRun(
  start: () => Promise<Run>,
): Promise<Pick<PassFigures, 'syncMs' | 'writingPerSecond' | 'quietPerSecond' | 'writesWhenSettled'>> {
  const run = await start()
  const began = performance.now()
  await settle(run)
  const writingPerSecond = (run.writes() * 1000) / (performance.now() - began)
  const before = { passes: run.passes(), writes: run.writes() }
  const againBegan = performance.now()
  run.running.resync()
  await settle(run)
  const quietPerSecond = ((run.passes() - before.passes) * 1000) / (performance.now() - againBegan)
  const writesWhenSettled = run.writes() - before.writes
  await stop(run)
  return { syncMs: run.syncMs, writingPerSecond, quietPerSecond, writesWhenSettled }
}

function collect(): void {
  const { gc } = globalThis as { gc?: () => void }
  if (gc === undefined) throw new Error('run with --expose-gc')
  gc()
  gc()
}
