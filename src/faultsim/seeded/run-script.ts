/**
 * Runs one script: the steps under its faults, then all faults end, the last desired states are written once more, the world
 * settles, and the oracles judge it. Their findings are results here, not errors.
 */
import { messageOf } from '../../base/error-text.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type EndState, endStateOf } from '../prover/end-state.ts'
import { type Oracle, OracleFailure } from '../prover/failure.ts'
import { type InvariantMonitor, monitorInvariants, orphansIn, viewOf } from '../prover/invariant-monitor.ts'
import { WRITES_PER_INSTANT } from '../prover/run-story.ts'
import { AmbientUseError, World, type WorldCluster } from '../world/index.ts'
import type { WorldSnapshot } from '../world/snapshot.ts'
import { applyDesired, generatorOf, isAsDesired } from './apply-desired.ts'
import { type Hits, putInto } from './hits.ts'
import { type Hit, lastDesired, type Moment, type Script, type Step } from './script.ts'
import type { SeededWorld } from './seeded-world.ts'

export interface ScriptRun {
  traceHash: string
  failure?: { oracle: Oracle; message: string }
  hits: readonly Hit[]
  /** The settled end state; empty when it did not settle. */
  end: EndState
  figures: Figures
}

export interface Figures {
  /** Turns of the world. */
  turns: number
  writes: number
  virtualMs: number
  /** How many moments of each kind happened. */
  moments: Readonly<Record<string, number>>
}

/** The starting point of all scripts of a world. */
export async function beginningOf(seeded: SeededWorld): Promise<WorldSnapshot> {
  const world = new World(seeded.options)
  for (const cluster of world.clusters) seeded.equip?.(cluster)
  await world.start()
  for (const step of seeded.before) for (const cluster of world.clusters) await step(cluster)
  await world.settle()
  const snapshot = world.snapshot()
  await world.stop()
  return snapshot
}

export async function runScript(seeded: SeededWorld, script: Script, from: WorldSnapshot): Promise<ScriptRun> {
  const world = new World({ writesPerInstant: WRITES_PER_INSTANT, ...seeded.options, seed: script.seed, from })
  for (const cluster of world.clusters) seeded.equip?.(cluster)
  const run = new Run(seeded, script, world)
  try {
    return await run.play()
  } finally {
    for (const cluster of world.clusters) {
      cluster.killControllers()
      cluster.stop()
    }
  }
}

/** No single cause justifies this many writes. */
const WRITES_PER_CAUSE = 60
const RESTLESS_MS = 60_000

class Run {
  readonly #seeded: SeededWorld
  readonly #script: Script
  readonly #world: World
  readonly #ledgers: InvariantMonitor[] = []
  readonly #moments: Record<string, number> = {}
  readonly #beganAt = new Map<WorldCluster, number>()
  readonly #cutUntil = new Map<WorldCluster, number>()
  #hits: Hits | undefined
  #writes = 0
  #end: EndState = new Map()
  /** What users are doing at this moment. */
  #acting: { cluster: string; plural: string; name: string } | undefined

  constructor(seeded: SeededWorld, script: Script, world: World) {
    this.#seeded = seeded
    this.#script = script
    this.#world = world
  }

  async play(): Promise<ScriptRun> {
    const startMs = this.#world.clock.now()
    let failure: ScriptRun['failure']
    try {
      await this.#world.start()
      await this.#world.settle()
      await this.#act()
      await this.#heal()
      await this.#judge()
    } catch (error) {
      failure = failureOf(error)
    }
    this.#count()
    const virtualMs = this.#world.clock.now() - startMs
    const figures = { turns: this.#world.turns, writes: this.#writes, virtualMs, moments: this.#moments }
    return { traceHash: this.#world.traceHash(), failure, hits: this.#hits?.noted ?? [], end: this.#end, figures }
  }

  async #act(): Promise<void> {
    const { clusters } = this.#world
    const others = new Map(clusters.map(({ name, store }) => [name, viewOf(store)]))
    for (const cluster of clusters) {
      const isPeoples = (resource: string, object: KubeObject): boolean => this.#isPeoples(cluster.name, resource, object)
      this.#ledgers.push(monitorInvariants(cluster.store, this.#seeded.invariants, { cluster: cluster.name, others, isPeoples }))
      this.#beganAt.set(cluster, cluster.store.revision)
    }
    this.#hits = putInto(clusters, this.#script)
    for (const [i, step] of this.#script.steps.entries()) {
      for (const moment of this.#script.moments) if (moment.beforeStep === i + 1) await this.#happen(moment)
      await this.#desired(step)
      if (step.pause === 'rest') await this.#restAWhile()
      else if (step.pause > 0) await this.#world.advance(step.pause)
    }
  }

  async #desired(step: Step): Promise<void> {
    const { cluster, name } = step
    const generator = generatorOf(this.#seeded, step)
    this.#acting = { cluster, name, plural: generator.resource.plural }
    await applyDesired(this.#cluster(cluster), generator, step)
    this.#acting = undefined
  }

  #isPeoples(cluster: string, resource: string, { metadata: { namespace, name } }: KubeObject): boolean {
    const { cluster: where, plural, name: acted } = this.#acting ?? {}
    return where === cluster && resource.split('.')[0] === plural && acted === (namespace === undefined ? name : `${namespace}/${name}`)
  }

  async #happen(moment: Moment): Promise<void> {
    const cluster = this.#cluster(moment.cluster)
    this.#moments[moment.do] = (this.#moments[moment.do] ?? 0) + 1
    switch (moment.do) {
      case 'crash':
        return cluster.inside(() => cluster.crashControllers())
      case 'old-restart':
        return cluster.inside(() => cluster.crashControllers(Math.max(cluster.store.oldestRevision, cluster.store.revision - moment.back)))
      case 'restart-server':
        return cluster.inside(() => cluster.restartServer())
      case 'jump-clock':
        return cluster.jumpClock(moment.ms)
      case 'cut-off':
        this.#cutOff(cluster, moment.ms)
        return this.#world.advance(moment.waitMs)
    }
  }

  /** For at least this long: another cut may begin before this one ends. */
  #cutOff(cluster: WorldCluster, ms: number): void {
    const { clock } = this.#world
    const endsAt = Math.max(clock.now() + ms, this.#cutUntil.get(cluster) ?? 0)
    this.#cutUntil.set(cluster, endsAt)
    cluster.link.cut()
    clock.machinery.after(ms, () => {
      if (clock.now() >= (this.#cutUntil.get(cluster) ?? 0)) cluster.link.mend()
    })
  }

  async #heal(): Promise<void> {
    this.#hits?.heal()
    for (const cluster of this.#world.clusters) cluster.link.mend()
    await this.#rest()
    const fleetingMs = Math.max(0, ...this.#lasting(false).map((step) => generatorOf(this.#seeded, step).fleetingMs ?? 0))
    if (fleetingMs > 0) await this.#world.advance(fleetingMs)
    for (let left = 3; left > 0; left--) {
      let isDone = true
      for (const step of this.#lasting(true)) {
        const [cluster, generator] = [this.#cluster(step.cluster), generatorOf(this.#seeded, step)]
        isDone = (generator.isContested === true || (await isAsDesired(cluster, generator, step))) && isDone
        await this.#desired(step)
      }
      await this.#rest()
      if (isDone) break
    }
    for (let waitedMs = 0; ; ) {
      const patienceMs = this.#seeded.patienceMs?.(this.#world.clusters, waitedMs) ?? 0
      if (patienceMs === 0) return
      waitedMs += patienceMs
      await this.#world.advance(patienceMs)
      await this.#rest()
    }
  }

  async #judge(): Promise<void> {
    for (const monitor of this.#ledgers) if (monitor.broken !== undefined) throw new OracleFailure('invariant', monitor.broken)
    for (const cluster of this.#world.clusters) {
      const orphans = orphansIn(cluster.store)
      if (orphans.length > 0) throw new OracleFailure('no leaked children', `${cluster.name}: their owners are gone: ${orphans.join(', ')}`)
    }
    this.#count()
    const causes = this.#script.steps.length + this.#script.moments.length + (this.#hits?.noted.length ?? 0)
    if (this.#writes > (this.#seeded.writesPerCause ?? WRITES_PER_CAUSE) * (causes + 2))
      throw new OracleFailure('bounded writes', `${this.#writes} writes after ${causes} causes`)
    await this.#judgeDesired()
    this.#end = this.#endState()
    await this.#mustBeQuiet()
  }

  /** The last desired states of what stays, or of what is deleted automatically. */
  #lasting(isLasting: boolean): Step[] {
    return lastDesired(this.#script.steps).filter((step) => (generatorOf(this.#seeded, step).fleetingMs === undefined) === isLasting)
  }

  async #judgeDesired(): Promise<void> {
    for (const step of this.#lasting(false)) {
      const [cluster, generator] = [this.#cluster(step.cluster), generatorOf(this.#seeded, step)]
      if ((await cluster.get(generator.resource, step.name)) !== undefined)
        throw new OracleFailure('at rest', `${cluster.name}: ${generator.name} ${step.name} should be gone by now`)
    }
    for (const step of this.#lasting(true)) {
      const [cluster, generator] = [this.#cluster(step.cluster), generatorOf(this.#seeded, step)]
      if (generator.isContested === true) continue
      const live = await cluster.get(generator.resource, step.name)
      const what = `${cluster.name}: ${generator.name} ${step.name}`
      const isHeld = live?.metadata.deletionTimestamp !== undefined && generator.isHeld?.(step.name, viewOf(cluster.store)) === true
      if (step.desired === null && live !== undefined && !isHeld && !(await isKept(cluster, live, generator.usedBy)))
        throw new OracleFailure('at rest', `${what} is still there`)
      if (step.desired === null) continue
      const wrong = live === undefined ? 'is not there' : generator.wrong?.(live, step.desired)
      if (wrong !== undefined) throw new OracleFailure('at rest', `${what} ${wrong}`)
    }
    for (const cluster of this.#world.clusters) {
      try {
        await this.#seeded.atRest?.(cluster, this.#world.clusters)
      } catch (error) {
        throw new OracleFailure('at rest', `${cluster.name}: ${messageOf(error)}`)
      }
    }
  }

  async #mustBeQuiet(): Promise<void> {
    this.#count()
    for (const cluster of this.#world.clusters) await cluster.inside(() => cluster.resync())
    await this.#rest()
    this.#mustHaveWrittenNothing('quiet when settled', 'looking at everything again')
    const pods = this.#runningPods()
    for (const cluster of this.#world.clusters) await cluster.inside(() => cluster.restartServer())
    await this.#world.restartControllers()
    await this.#rest()
    this.#mustHaveWrittenNothing('quiet after restart', 'a restart')
    if (this.#runningPods() !== pods) throw new OracleFailure('quiet after restart', 'a restart of everything leads to other pods')
  }

  /** Which pods run where, by uid. */
  #runningPods(): string {
    const pods = this.#world.clusters.map(({ name, store }) => {
      const running = viewOf(store)
        .list('pods')
        .filter(({ status }) => (status as Pod['status'])?.phase === 'Running')
      return `${name}: ${running.map(({ metadata }) => metadata.uid).join()}`
    })
    return pods.join('; ')
  }

  #mustHaveWrittenNothing(oracle: Oracle, cause: string): void {
    const said = this.#world.clusters.flatMap((cluster) =>
      cluster
        .takeWrites()
        .filter(({ path }) => !path.includes('/leases'))
        .map(({ part, method, path }) => `${cluster.name} ${part}: ${method} ${path}`),
    )
    if (said.length > 0) throw new OracleFailure(oracle, `${cause} leads to ${said.slice(0, 5).join(', ')}`)
  }

  #count(): void {
    for (const cluster of this.#world.clusters) this.#writes += cluster.takeWrites().length
  }

  /** While faults continue the world may not settle: users then do not wait for it, and caches that were held back may catch up. */
  async #restAWhile(): Promise<void> {
    try {
      await this.#rest(RESTLESS_MS)
    } catch (error) {
      if (!(error instanceof OracleFailure) || error.oracle !== 'settles') throw error
      for (const cluster of this.#world.clusters) cluster.releaseCaches()
    }
  }

  async #rest(withinMs?: number): Promise<void> {
    try {
      await this.#world.settle({ withinMs, onQuiet: () => this.#world.clusters.map((cluster) => cluster.releaseCaches()).includes(true) })
    } catch (error) {
      if (error instanceof AmbientUseError) throw error
      throw new OracleFailure('settles', messageOf(error))
    }
  }

  #cluster(name: string): WorldCluster {
    const found = this.#world.clusters.find((cluster) => cluster.name === name)
    if (found === undefined) throw new Error(`there is no cluster ${name}`)
    return found
  }

  /** The settled end state, for comparison. */
  #endState(): EndState {
    const all = new Map<string, unknown>()
    for (const cluster of this.#world.clusters) {
      for (const [key, content] of endStateOf(cluster.store, this.#beganAt.get(cluster) ?? 0)) all.set(`${cluster.name} ${key}`, content)
      if (this.#seeded.outside !== undefined) all.set(`${cluster.name} outside`, this.#seeded.outside(cluster))
    }
    return all
  }
}

function failureOf(error: unknown): { oracle: Oracle; message: string } {
  if (error instanceof OracleFailure) return { oracle: error.oracle, message: error.message }
  if (error instanceof AmbientUseError) return { oracle: 'no ambient use', message: error.message }
  throw error
}

/** Whether a deleted object waits for a pod that uses it. */
async function isKept(cluster: WorldCluster, live: KubeObject, user: string | undefined): Promise<boolean> {
  if (user === undefined || live.metadata.deletionTimestamp === undefined) return false
  const pod = (await cluster.get(PODS, user)) as Pod | undefined
  return pod?.spec?.nodeName !== undefined
}
