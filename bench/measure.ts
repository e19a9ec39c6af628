/** The measurements, each on all servers in turn, so that other load on the machine affects all of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figures } from './figures.ts'
import type { Generator } from './generator.ts'
import { configMaps } from './load.ts'
import { cpuMs, residentBytes } from './processes.ts'
import type { Server } from './servers.ts'

export interface Plan {
  writers: readonly number[]
  rounds: number
  seconds: number
  lists: number
  watchers: number
  changes: number
  starts: number
}

export interface Bench {
  servers: readonly Server[]
  generator: Generator
  figures: Figures
  plan: Plan
  report(text: string): void
}

const LISTED = 10_000
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PER_NAMESPACE = 10_000
const MIB = 1024 * 1024

/** Every server once, in an order that changes from round to round. */
async function inTurn(bench: Bench, round: number, work: (server: Server) => Promise<void>): Promise<void> {
  const servers = round % 2 === 0 ? bench.servers : [...bench.servers].reverse()
  for (const server of servers) await work(server)
}

/** Creates stored objects up to `scale`: the first ten thousand in the namespace that is listed. */
export async function fill(bench: Bench, from: number, scale: number): Promise<void> {
  for (const server of bench.servers) {
    bench.report(`${server.name}: filling up to ${scale} objects`)
    for (let at = from; at < scale; ) {
      const space = Math.floor(at / PER_NAMESPACE)
      const to = Math.min(scale, (space + 1) * PER_NAMESPACE)
      await bench.generator.order({ what: 'fill', target: server.target, namespace: `stored-${space}`, from: at, to })
      at = to
    }
  }
}

/** Servers are measured as they run after days, not in their first seconds. */
export async function warmUp(bench: Bench): Promise<void> {
  for (const server of bench.servers) {
    bench.report(`${server.name}: warming up`)
    const order = { target: server.target, namespace: 'written', writers: 16, seconds: bench.plan.seconds } as const
    await bench.generator.order({ ...order, what: 'create', prefix: 'warm-c' })
    await bench.generator.order({ ...order, what: 'update', prefix: 'warm-u' })
    await bench.generator.order({ what: 'clear', target: server.target, namespace: 'written' })
  }
}

export async function measureWrites(bench: Bench, scale: number): Promise<void> {
  const { plan, figures, generator } = bench
  for (let round = 0; round < plan.rounds; round++)
    for (const what of ['create', 'update'] as const)
      for (const writers of plan.writers)
        await inTurn(bench, round, async (server) => {
          bench.report(`${server.name}: ${what}s with ${writers} writers at ${scale} objects, round ${round + 1}`)
          const before = cpuMs(server.pids)
          const prefix = `${what.charAt(0)}${writers}-${round}`
          const got = await generator.order({ what, target: server.target, namespace: 'written', writers, seconds: plan.seconds, prefix })
          const each = (cpuMs(server.pids) - before) / got.operations
          const title = `${what}s, ${writers} ${writers === 1 ? 'writer' : 'writers'}`
          figures.add(scale, title, 'per second', server.name, [got.operations / got.seconds])
          figures.add(scale, `${title}: p99`, 'ms', server.name, [got.p99])
          figures.add(scale, `${title}: server`, 'ms of CPU', server.name, [each])
        })
  for (const server of bench.servers) await generator.order({ what: 'clear', target: server.target, namespace: 'written' })
}

export async function measureLists(bench: Bench, scale: number): Promise<void> {
  const { plan, figures, generator } = bench
  const expected = Math.min(scale, LISTED)
  for (let round = 0; round < plan.rounds; round++)
    for (const [shape, accept] of [
      ['JSON', 'application/json'],
      ['Table', TABLE],
    ] as const)
      for (const limit of [0, 500])
        await inTurn(bench, round, async (server) => {
          bench.report(`${server.name}: list as ${shape}, ${limit === 0 ? 'whole' : 'pages'} at ${scale} objects`)
          const before = cpuMs(server.pids)
          const got = await generator.order({
            what: 'list',
            target: server.target,
            path: configMaps('stored-0'),
            accept,
            limit,
            times: plan.lists,
          })
          if (got.items !== expected) throw new Error(`${server.name} listed ${got.items} of ${expected}`)
          const title = `list of up to ${LISTED.toLocaleString('en')} as ${shape}, ${limit === 0 ? 'whole' : `pages of ${limit}`}`
          figures.add(scale, title, 'ms', server.name, got.ms)
          if (limit === 0) figures.add(scale, `${title}: server`, 'ms of CPU', server.name, [(cpuMs(server.pids) - before) / plan.lists])
        })
}

export async function measureDelivery(bench: Bench, scale: number): Promise<void> {
  const { plan, figures, generator } = bench
  await inTurn(bench, 0, async (server) => {
    bench.report(`${server.name}: one change to ${plan.watchers} watchers at ${scale} objects`)
    const got = await generator.order({
      what: 'deliver',
      target: server.target,
      namespace: 'watched',
      watchers: plan.watchers,
      changes: plan.changes,
    })
    figures.add(scale, `one change until ${plan.watchers.toLocaleString('en')} watchers have it`, 'ms', server.name, got.all)
    await generator.order({ what: 'clear', target: server.target, namespace: 'watched' })
  })
}

export async function measureMemory(bench: Bench, scale: number, when: string): Promise<void> {
  await sleep(3000)
  for (const server of bench.servers)
    bench.figures.add(scale, `resident memory ${when}`, 'MiB', server.name, [residentBytes(server.pids) / MIB])
}

/** Stopped cleanly and started again with everything it holds. */
export async function measureStart(bench: Bench, scale: number): Promise<void> {
  for (let i = 0; i < bench.plan.starts; i++)
    await inTurn(bench, i, async (server) => {
      bench.report(`${server.name}: start with ${scale} objects`)
      await server.stop()
      bench.figures.add(scale, 'start until the first answer', 'ms', server.name, [await server.start()])
    })
  await measureMemory(bench, scale, 'after a start')
}
