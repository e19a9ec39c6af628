/** Caches whose workers leave: what each of them holds, what becomes of it, and what stories look at. */

import { conditionsOf } from '../../src/faultsim/expect/index.ts'
import type { CommandOutcome } from '../../src/faultsim/world/commands.ts'
import type { WorldCluster } from '../../src/faultsim/world/index.ts'
import type { CacheRuntimeClass } from '../../src/kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES } from '../../src/kinds/fluid/resources.ts'
import type { Pod } from '../../src/kinds/kubernetes/types.ts'
import { FIGURES, isOf } from './commands.ts'
import { isBound, podsOf, runtimeOf, there } from './expectations.ts'
import { aClass, aDataset, aReader, aRuntime, COMMANDS, className, componentOf } from './manifests.ts'
import { aGrant, aNamespace, isRunning, referTo } from './sharing.ts'
import type { Beginning, DataTestbed } from './story.ts'

export const CO_LOCATED = { 'sluice.dev/fuse-global': 'false' }
const WORKERS = 3
const EACH_HOLDS = 100

/** Its master also leads workers out, and takes them back. */
const aLeadingClass = (testbed: DataTestbed): CacheRuntimeClass => {
  const annotations = { 'sluice.dev/decommission': '["cache","leave"]', 'sluice.dev/recommission': '["cache","stay"]' }
  const { topology } = aClass(testbed)
  return aClass(testbed, {
    metadata: { name: className(testbed), annotations },
    topology: { ...topology, master: componentOf('master', COMMANDS) },
  })
}

/** How many bytes each worker holds, by the name of its pod, and what was done to whom: `leave demo-worker-1`. */
export interface Cache {
  readonly bytes: Map<string, number>
  readonly ran: string[]
  /** What it answers instead, when one is to be led out. */
  leave?: CommandOutcome
  report?: CommandOutcome
}

const LEAVES = ['leave', 'decommission']
const STAYS = ['stay', 'recommission']

/** A worker that leaves hands over to the one that holds the least. */
export function aCache({ commands }: WorldCluster, bytes: Readonly<Record<string, number>>): Cache {
  const cache: Cache = { bytes: new Map(Object.entries(bytes)), ran: [] }
  commands.script((call) => {
    const [what = '', pod = ''] = call.command.slice(-2)
    if (isOf('mount', call)) return { stdout: JSON.stringify({ mounted: ['/one'] }) }
    if (isOf('report', call)) return cache.report ?? { stdout: JSON.stringify(reportOf(cache)) }
    if (STAYS.includes(what)) cache.ran.push(`stay ${pod}`)
    if (LEAVES.includes(what)) return ledOut(cache, pod)
    return STAYS.includes(what) ? {} : undefined
  })
  return cache
}

function reportOf({ bytes }: Cache): object {
  const cached = [...bytes.values()].reduce((sum, one) => sum + one, 0)
  const workers = [...bytes].map(([pod, cachedBytes]) => ({ pod, cachedBytes, capacityBytes: EACH_HOLDS, state: 'serving' }))
  return { ...FIGURES, cached: `${cached}B`, cacheCapacity: `${bytes.size * EACH_HOLDS}B`, workers }
}

function ledOut(cache: Cache, pod: string): CommandOutcome {
  const { bytes, ran, leave } = cache
  ran.push(`leave ${pod}`)
  if (leave !== undefined) return leave
  const moved = bytes.get(pod) ?? 0
  bytes.delete(pod)
  const [heir] = [...bytes].sort(([, a], [, b]) => a - b)
  if (heir !== undefined) bytes.set(heir[0], heir[1] + moved)
  return { stdout: `${JSON.stringify({ state: 'gone', moved, dropped: 0, left: 0 })}\n` }
}

export const BYTES = { 'demo-worker-0': 12, 'demo-worker-1': 10, 'demo-worker-2': 30 }

/** Three workers, on the three nodes of the story. */
async function served(testbed: DataTestbed, runtimeClass: CacheRuntimeClass, annotations: Record<string, string> = {}): Promise<void> {
  await testbed.create(runtimeClass)
  await testbed.create(aDataset(testbed))
  await testbed.create(aRuntime(testbed, { worker: { replicas: WORKERS } }, { annotations }))
  await areReady(testbed, WORKERS)
  await isBound(testbed)
}

/** Of a class that reports what each worker holds, and leads them out. */
export const LED: Beginning = {
  name: 'led',
  answers: (member) => void aCache(member, BYTES),
  make: (testbed) => served(testbed, aLeadingClass(testbed)),
}

async function sharedBeside(testbed: DataTestbed, runtimeClass: CacheRuntimeClass): Promise<void> {
  const guests = await aNamespace(testbed, 'guests')
  await testbed.create(aGrant(guests.namespace))
  await served(testbed, runtimeClass, CO_LOCATED)
  await referTo(testbed, guests)
  await isBound(guests)
}

/** Clients only beside workers, and a reference in another namespace. */
export const LED_BESIDE: Beginning = {
  name: 'led, beside workers',
  answers: (member) => void aCache(member, BYTES),
  make: (testbed) => sharedBeside(testbed, aLeadingClass(testbed)),
}

/** The same of a class without commands, which can be told on Kubernetes, too. */
export const BESIDE: Beginning = { name: 'beside workers', make: (testbed) => sharedBeside(testbed, aClass(testbed)) }
export const PLAIN: Beginning = { name: 'three workers', make: (testbed) => served(testbed, aClass(testbed)) }

export const scaleTo = (testbed: DataTestbed, replicas: number): Promise<unknown> =>
  testbed.patch(CACHE_RUNTIMES, 'demo', { spec: { replicas } }, { subresource: 'scale' })

export const areReady = (testbed: DataTestbed, count: number): Promise<void> =>
  testbed.until(`${count} workers ready`, async () => {
    const { readyReplicas, desiredReplicas } = (await testbed.get(CACHE_RUNTIMES, 'demo'))?.status?.worker ?? {}
    return readyReplicas === count && desiredReplicas === count && (await podsOf(testbed, 'demo-worker')).length === count
  })

export const workersOf = async (testbed: DataTestbed, set = 'demo-worker'): Promise<string[]> =>
  (await podsOf(testbed, set)).map(({ metadata }) => metadata.name ?? '')

export const nodeOf = async (testbed: DataTestbed, worker: string): Promise<string> => {
  const [pod] = (await podsOf(testbed, worker.replace(/-\d+$/, ''))).filter(({ metadata }) => metadata.name === worker)
  return pod?.spec?.nodeName ?? ''
}

/** `[replicas, reserveOrdinals]` of the set of workers. */
export const chosenIn = async (testbed: DataTestbed, set = 'demo-worker'): Promise<unknown[]> => {
  const { replicas, reserveOrdinals = [] } = (await there(testbed, ADVANCED_STATEFUL_SETS, set)).spec
  return [replicas, reserveOrdinals]
}

export const heldIn = async (testbed: DataTestbed): Promise<string | undefined> =>
  conditionsOf(await runtimeOf(testbed)).get('ScaleInHeld')?.message

export const isHeld = (testbed: DataTestbed, why: string): Promise<void> =>
  testbed.until(`held: ${why}`, async () => (await heldIn(testbed)) === why)

export const HELD_END = 'It goes on by itself when the pods of a node have ended'

/** A pod of a namespace that reads on a node. */
export async function readingOn(testbed: DataTestbed, node: string, name = 'reader'): Promise<Pod> {
  await testbed.create(aReader(testbed, { name, spec: { nodeSelector: { 'kubernetes.io/hostname': node } } }))
  return isRunning(testbed, name)
}
