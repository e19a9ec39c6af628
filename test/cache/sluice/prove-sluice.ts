/**
 * Part `sluice`: a real `sluice up` with two datasets, whose masters, workers and clients are pods. They and Sluice itself are killed
 * with -9 while sources change and Jobs read through claims. Judged all the time: what pods read, quotas, blocks; at the end: the
 * newest content on every node, what a deleted dataset leaves, and what `sluice down` leaves.
 */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../src/base/error-text.ts'
import { type Random, seededRandom } from '../../../src/base/random.ts'
import type { Node, Pod, Secret } from '../../../src/kinds/kubernetes/types.ts'
import { privateProgram } from '../../machine/program.ts'
import { Checks } from '../checks.ts'
import type { Part, PartSetting } from '../part.ts'
import { BlockReader } from '../programs/block-reader.ts'
import { Bucket } from '../programs/bucket.ts'
import { Sources } from '../programs/changes.ts'
import { Contents } from '../programs/contents.ts'
import { LocalFiles } from '../programs/local-files.ts'
import type { CacheProgram } from './cache-programs.ts'
import { leftOf } from './deleted.ts'
import { CORE, DATASETS, type DatasetPlan, datasetPlans, secret } from './manifests.ts'
import { MemberApi } from './member-api.ts'
import { cachePods, endsOfItself, isReady } from './pod-health.ts'
import { PROMISES, type PromiseName } from './promises.ts'
import { Quotas } from './quotas.ts'
import { Readers } from './readers.ts'
import { filesOutside, mountsAt, processesAt } from './remains.ts'
import { SluiceKiller } from './sluice-killer.ts'
import { SluiceProcess } from './sluice-process.ts'

const READ_MS = 250
const QUOTA_MS = 250
const BLOCK_MS = 100
const MEND_MS = 500
const BURST_MS = 4000
const DAMAGE_SHARE = 0.3
const SETTLE_MS = 180_000
const DELETE_MS = 60_000
const MIB = 1024 * 1024
const WORKER_PORT = 19451

export const proveSluice: Part = async (setting) => {
  const proof = await SluiceProof.prepare(setting)
  setting.later(() => proof.end())
  await proof.run()
  return { checks: proof.checks.all(), figures: proof.figures() }
}

interface Parts {
  plans: readonly DatasetPlan[]
  contents: Contents
  sources: Sources
  program: string
}

class SluiceProof {
  readonly checks = new Checks<PromiseName>(PROMISES)
  readonly #setting: PartSetting
  readonly #parts: Parts
  readonly #sluice: SluiceProcess
  readonly #api: MemberApi
  readonly #killer: SluiceKiller
  readonly #quotas: Quotas
  readonly #damageRandom: Random
  readonly #blocks = new Map<DatasetPlan, BlockReader>()
  readonly #outside: readonly string[]
  readonly #ends = new Set<string>()
  #readers: Readers | undefined
  #damaged = 0
  #settledInMs = 0

  static async prepare(setting: PartSetting): Promise<SluiceProof> {
    const { options, folder, later } = setting
    const contents = new Contents()
    const files = path.join(folder, 'source')
    const local = new LocalFiles({ root: files, staging: path.join(folder, 'staging'), mountPath: '/files', contents })
    const [directory, staging] = [path.join(folder, 'bucket'), path.join(folder, 'bucket-staging')]
    const bucket = new Bucket({ host: '127.0.0.1', directory, staging, mountPath: '/objects', contents })
    const endpoint = await bucket.start()
    later(() => bucket.stop())
    const sources = new Sources({ local, bucket, contents, random: randomOf(setting, 3), megabytes: options.megabytes })
    await sources.begin()
    const program = await privateProgram()
    later(() => program.remove())
    const plans = datasetPlans({ megabytes: options.megabytes, files, endpoint })
    return new SluiceProof(setting, { plans, contents, sources, program: program.file })
  }

  private constructor(setting: PartSetting, parts: Parts) {
    this.#setting = setting
    this.#parts = parts
    const { folder, options } = setting
    const { checks } = this
    const dataDir = this.#dataDir
    const [home, log] = [path.join(folder, 'home'), path.join(folder, 'sluice.log')]
    this.#sluice = new SluiceProcess({ program: parts.program, dataDir, home, log, onEnd: (text) => checks.fail('alone', text) })
    this.#outside = filesOutside(home)
    this.#api = new MemberApi(dataDir)
    this.#quotas = new Quotas({ dataDir, plans: parts.plans, checks })
    this.#killer = new SluiceKiller({
      sluice: this.#sluice,
      dataDir,
      api: this.#api,
      random: randomOf(setting, 4),
      kills: options.kills,
      onDead: (victim) => this.#onDead(victim),
      readings: () => this.#readers?.figures.pods ?? 0,
    })
    this.#damageRandom = randomOf(setting, 5)
  }

  get #dataDir(): string {
    return path.join(this.#setting.folder, 'data')
  }

  async run(): Promise<void> {
    const readers = await this.#begin()
    const { sources } = this.#parts
    const [bursts, reads] = [randomOf(this.#setting, 7), randomOf(this.#setting, 8)]
    let isMore = true
    const looks = [
      this.#repeat('readers', READ_MS, () => readers.turn(isMore)),
      this.#repeat('quotas', QUOTA_MS, () => this.#lookAtQuotas()),
      this.#repeat('blocks', BLOCK_MS, () => this.#readSome(reads)),
      this.#repeat('pods', MEND_MS, () => this.#lookAtPods()),
    ]
    const changes = this.#repeat('changes', BURST_MS, async () => {
      await sleep(bursts.next() * BURST_MS)
      await sources.burst()
    })
    while (!this.#killer.isDone && !this.checks.hasFailed) {
      if (this.#killer.isAhead) await sleep(READ_MS)
      else await this.#killer.round()
      this.#setting.progress(this.#line())
    }
    await changes()
    isMore = false
    while (readers.running > 0 && !this.checks.hasFailed) {
      this.#setting.progress(`waiting for ${readers.running} readers`)
      await sleep(200)
    }
    for (const stop of looks) await stop()
    if (!this.checks.hasFailed) await this.#judgeEnd(readers)
  }

  /** Whatever happened, nothing of it runs on. */
  async end(): Promise<void> {
    for (const reader of this.#blocks.values()) reader.close()
    await this.#sluice.kill()
    await this.#sluice.down()
  }

  figures(): string[] {
    const { kills, whileStarting, whileDown, deletedPods, byVictim } = this.#killer.counts
    const { pods = 0, passes = 0, bytes = 0, longestMs = 0 } = this.#readers?.figures ?? {}
    return [
      `kills ${kills} (Sluice while starting ${whileStarting}, programs while Sluice was down ${whileDown}): ${[...byVictim].map(([name, count]) => `${name} ${count}`).join(', ')}`,
      `pods that read ${pods}, ${passes} passes, ${Math.round(bytes / MIB)} MiB; the slowest took ${(longestMs / 1000).toFixed(1)} s; changes of the sources ${this.#parts.sources.changes}`,
      `blocks damaged on disk ${this.#damaged}; pods deleted instead of a long pause ${deletedPods}; starts of Sluice ${this.#sluice.starts}`,
      `fullest directory of a tier: ${(this.#quotas.fullest * 100).toFixed(2)} % of its quota; all nodes read the newest after ${(this.#settledInMs / 1000).toFixed(1)} s`,
    ]
  }

  #line(): string {
    const { checks } = this
    return `${this.#killer.counts.kills} kills, ${this.#readers?.figures.pods} pods read ${checks.count('reads')} files, ${checks.count('blocks')} blocks, ${checks.count('quota')} looks at quotas`
  }

  /** Sluice, datasets, keys of their caches. */
  async #begin(): Promise<Readers> {
    const { plans, contents } = this.#parts
    await this.#sluice.start()
    await this.#api.create(`${CORE}/secrets`, secret)
    for (const { objects } of plans) for (const { path: at, object } of objects) await this.#api.create(at, object)
    for (const plan of plans) {
      let key: string | undefined
      await this.#until(`the key of ${plan.name}`, async () => {
        key = (await this.#api.get<Secret>(`${CORE}/secrets/${plan.name}-cache-key`))?.data?.key
        return key !== undefined
      })
      const { blockBytes } = plan
      this.#blocks.set(plan, new BlockReader({ key: Buffer.from(key ?? '', 'base64'), contents, checks: this.checks, blockBytes }))
    }
    const nodes = (await this.#api.list<Node>('/api/v1/nodes')).map(({ metadata }) => metadata.name ?? '')
    const first = [...contents.newestBelow('/').keys()].map((relative) => `/${relative}`)
    this.#readers = new Readers({ api: this.#api, plans, nodes, contents, first, checks: this.checks, random: randomOf(this.#setting, 6) })
    return this.#readers
  }

  /** Until it is stopped; what it throws is a failure of the proof. */
  #repeat(what: string, pauseMs: number, work: () => Promise<void>): () => Promise<void> {
    const ending = new AbortController()
    const ended = (async () => {
      while (!ending.signal.aborted) {
        await work()
        await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined)
      }
    })().catch((error: unknown) =>
      this.checks.fail('alone', `the proof itself failed at ${what}: ${messageOf(error)} ${(error as Error).stack}`),
    )
    return async () => {
      ending.abort()
      await ended
    }
  }

  #onDead(victim: CacheProgram): void {
    if (victim.role !== 'worker' || this.#damageRandom.next() > DAMAGE_SHARE) return
    if (this.#quotas.damage(victim, this.#damageRandom) !== undefined) this.#damaged++
  }

  /** Workers are held still meanwhile: on a slow machine they must get on with their work in between. */
  async #lookAtQuotas(): Promise<void> {
    const began = performance.now()
    await this.#quotas.look()
    await sleep((performance.now() - began) * 5)
  }

  async #lookAtPods(): Promise<void> {
    const pods = cachePods(await this.#api.list<Pod>(`${CORE}/pods`), this.#parts.plans)
    for (const { key, text } of endsOfItself(pods)) {
      if (this.#ends.has(key)) continue
      this.#ends.add(key)
      this.checks.fail('alone', text)
    }
    await this.#killer.mend()
  }

  /** A block of the newest version from any worker. */
  async #readSome(random: Random): Promise<void> {
    const choose = (count: number) => Math.floor(random.next() * count)
    const plan = this.#parts.plans[choose(this.#parts.plans.length)]
    const reader = plan === undefined ? undefined : this.#blocks.get(plan)
    if (plan === undefined || reader === undefined) return
    const addresses = await this.#workersOf(plan)
    const newest = [...this.#parts.contents.newestBelow('/')].filter(([relative, { size }]) => size > 0 && isShown(relative, plan))
    const [relative = '', content] = newest[choose(newest.length)] ?? []
    const address = addresses[choose(addresses.length)]
    if (content === undefined || address === undefined) return
    const index = choose(Math.ceil(content.size / plan.blockBytes))
    await reader.read({ address, path: `/${relative}`, content, index, isCachedOnly: choose(2) === 0 })
  }

  async #workersOf({ name }: DatasetPlan): Promise<string[]> {
    const pods = await this.#api.list<Pod>(`${CORE}/pods`)
    return pods.flatMap(({ metadata, status }) =>
      metadata.name?.startsWith(`${name}-worker-`) && status?.podIP !== undefined ? [`${status.podIP}:${WORKER_PORT}`] : [],
    )
  }

  async #judgeEnd(readers: Readers): Promise<void> {
    const { plans } = this.#parts
    const began = performance.now()
    this.#setting.progress('waiting until all pods are ready')
    await this.#until('ready pods of the caches', async () => {
      const pods = cachePods(await this.#api.list<Pod>(`${CORE}/pods`), plans)
      await this.#killer.mend()
      return pods.length >= plans.length * 3 && pods.every(isReady)
    })
    this.#setting.progress('waiting for the newest content')
    await readers.judgeNewest(performance.now() + SETTLE_MS)
    this.#settledInMs = performance.now() - began
    for (const plan of plans) {
      const missing = await this.#blocks.get(plan)?.readAll(await this.#workersOf(plan), plan.shows)
      if (missing !== 0) this.checks.fail('blocks', `${missing} blocks of ${plan.name} were not served though everything runs`)
    }
    await this.#quotas.look()
    this.checks.saw('alone', this.#sluice.starts)
    await this.#judgeDeleted()
    await this.#judgeDown()
  }

  /** One dataset goes; the other one is there when Sluice is stopped. */
  async #judgeDeleted(): Promise<void> {
    const gone = this.#parts.plans.at(-1)
    if (gone === undefined) return
    this.#setting.progress(`deleting ${gone.name}`)
    await this.#api.delete(`${DATASETS}/${gone.name}`)
    let left: string[] = []
    const untilMs = performance.now() + DELETE_MS
    do {
      await sleep(200)
      left = await leftOf(gone, this.#api, this.#dataDir)
    } while (left.length > 0 && performance.now() < untilMs)
    this.checks.judge('deleted', left.length === 0 ? undefined : left.slice(0, 10).join(', '))
  }

  async #judgeDown(): Promise<void> {
    const { checks } = this
    this.#setting.progress('sluice down')
    // The harder way: whatever it was doing, and its pods outlive it.
    await this.#sluice.kill()
    const down = await this.#sluice.down()
    checks.judge('left', down.exitCode === 0 ? undefined : `sluice down ended with ${down.exitCode}: ${down.stderr}`)
    for (const left of [processesAt(this.#dataDir), mountsAt(this.#dataDir)])
      checks.judge('left', left.length === 0 ? undefined : left.slice(0, 5).join('; '))
    const outside = filesOutside(this.#sluice.options.home).filter((name) => !this.#outside.includes(name))
    checks.judge('left', outside.length === 0 ? undefined : `new outside of the data directory: ${outside.slice(0, 10).join(', ')}`)
  }

  async #until(what: string, check: () => Promise<boolean>): Promise<void> {
    for (const untilMs = performance.now() + SETTLE_MS; !(await check()); await sleep(200))
      if (performance.now() > untilMs) throw new Error(`not seen in ${SETTLE_MS / 1000} s: ${what}`)
  }
}

const isShown = (relative: string, { shows }: DatasetPlan): boolean => shows === '/' || `/${relative}`.startsWith(`${shows}/`)

const randomOf = ({ options }: PartSetting, use: number): Random => seededRandom(options.seed * 100 + use)
