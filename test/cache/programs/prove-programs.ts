/**
 * Part `programs`: one master, three workers and two clients are killed with -9 while volumes fill and sources change. Judged all
 * the time: files of completed generations, quotas, blocks, generations in use, access; at the end: the newest content everywhere,
 * every block, and that nothing is left.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../src/base/error-text.ts'
import { type Random, seededRandom } from '../../../src/base/random.ts'
import { buildCacheProgram } from '../cache-program.ts'
import { Checks } from '../checks.ts'
import type { Part, PartSetting } from '../part.ts'
import { BlockReader } from './block-reader.ts'
import { Bucket } from './bucket.ts'
import { Sources } from './changes.ts'
import { type ClusterKeys, startClusterKeys } from './cluster-keys.ts'
import { Contents } from './contents.ts'
import { Killer } from './killer.ts'
import { leftovers } from './leftovers.ts'
import { LocalFiles } from './local-files.ts'
import { NodeDriver } from './node-driver.ts'
import type { Program } from './program.ts'
import { PROMISES, type PromiseName } from './promises.ts'
import { BLOCK_BYTES, Scene, type WorkerPlace } from './scene.ts'
import { damageBlock, tierBytes, tierFiles } from './tiers.ts'

const LOOK_MS = 100
const QUOTA_MS = 150
const BLOCK_MS = 60
const FLIP_MS = 2500
const BURST_MS = 2500
const DAMAGE_SHARE = 0.3
const MIB = 1024 * 1024

export const provePrograms: Part = async (setting) => {
  const proof = await ProgramsProof.prepare(setting)
  setting.later(() => proof.killAll())
  await proof.run()
  return { checks: proof.checks.all(), figures: proof.figures() }
}

interface Parts {
  scene: Scene
  contents: Contents
  sources: Sources
  keys: ClusterKeys
  file: string
}

class ProgramsProof {
  readonly checks = new Checks<PromiseName>(PROMISES)
  readonly #setting: PartSetting
  readonly #parts: Parts
  readonly #programs: readonly Program[]
  readonly #nodes: readonly NodeDriver[]
  readonly #killer: Killer
  readonly #blocks: BlockReader
  readonly #damageRandom: Random
  readonly #fullest = new Map<string, number>()
  #damaged = 0
  #settledInMs = 0

  static async prepare(setting: PartSetting): Promise<ProgramsProof> {
    const { options, folder, later } = setting
    const { megabytes } = options
    const scene = new Scene({ folder, random: randomOf(setting, 1), megabytes })
    const contents = new Contents()
    const local = new LocalFiles({ root: scene.at('sources', 'files'), staging: scene.at('staging'), mountPath: '/files', contents })
    const [host, directory, staging] = [scene.host(201), scene.directory('bucket'), scene.at('bucket-staging')]
    const bucket = new Bucket({ host, directory, staging, mountPath: '/objects', contents })
    const endpoint = await bucket.start()
    later(() => bucket.stop())
    const keys = await startClusterKeys(scene.host(200), scene.at('account'), randomOf(setting, 2))
    later(() => keys.close())
    scene.write({ endpoint, keys })
    const sources = new Sources({ local, bucket, contents, random: randomOf(setting, 3), megabytes })
    await sources.begin()
    return new ProgramsProof(setting, { scene, contents, sources, keys, file: await buildCacheProgram(folder) })
  }

  private constructor(setting: PartSetting, parts: Parts) {
    this.#setting = setting
    this.#parts = parts
    const { scene, contents, keys, file } = parts
    const { checks } = this
    this.#programs = scene.programs({ file, onEnd: (text) => checks.fail('alone', text) }, keys)
    const volumes = [
      { steady: ['/'], passing: ['/objects', '/files/large'], refused: [] },
      { steady: ['/files', '/files/large/l0'], passing: ['/files/small', '/objects/a'], refused: ['/', '/objects', '/objects/b'] },
    ]
    this.#nodes = scene.clients.flatMap(({ node, directory }, i) => {
      const own = volumes[i]
      return own === undefined
        ? []
        : [new NodeDriver({ name: node, directory, ...own, contents, checks, random: randomOf(setting, 10 + i) })]
    })
    this.#killer = new Killer({
      programs: this.#programs,
      random: randomOf(setting, 4),
      kills: setting.options.kills,
      onDead: (program) => this.#onDead(program),
      onStart: () => checks.saw('alone'),
    })
    this.#blocks = new BlockReader({ key: scene.key, contents, checks, blockBytes: BLOCK_BYTES })
    this.#damageRandom = randomOf(setting, 5)
  }

  async run(): Promise<void> {
    const { sources } = this.#parts
    const [flips, bursts, reads] = [6, 7, 8].map((i) => randomOf(this.#setting, i))
    this.#killer.startAll()
    const stops = [
      this.#repeat('looks', LOOK_MS, () => this.#look()),
      this.#repeat('quotas', QUOTA_MS, () => this.#judgeQuotas()),
      this.#repeat('blocks', BLOCK_MS, () => this.#readSome(reads)),
    ]
    const violence = [
      this.#repeat('flips', FLIP_MS, async () => {
        await sleep((flips?.next() ?? 0) * FLIP_MS)
        for (const node of this.#nodes) node.flip()
      }),
      this.#repeat('changes', BURST_MS, async () => {
        await sleep((bursts?.next() ?? 0) * BURST_MS)
        await sources.burst()
      }),
    ]
    while (!this.#killer.isDone && !this.checks.hasFailed) {
      await this.#killer.round()
      this.#setting.progress(this.#line())
    }
    for (const stop of violence) await stop()
    await this.#killer.settle()
    for (const stop of stops) await stop()
    await this.#judgeEnd()
  }

  async killAll(): Promise<void> {
    await this.#killer.settle()
    await Promise.all(this.#programs.map((program) => program.kill()))
    this.#blocks.close()
  }

  figures(): string[] {
    const { kills, whileStarting, long, byName } = this.#killer.counts
    const sum = (of: (node: NodeDriver) => number) => this.#nodes.reduce((total, node) => total + of(node), 0)
    return [
      `kills ${kills} (${whileStarting} while starting, ${long} for longer than the master waits): ${[...byName].map(([name, count]) => `${name} ${count}`).join(', ')}`,
      `generations judged ${sum(({ figures }) => figures.generations)}, ${Math.round(sum(({ figures }) => figures.bytes) / MIB)} MiB read; changes of the sources ${this.#parts.sources.changes}`,
      `blocks damaged on disk ${this.#damaged}; claims that came too late ${sum(({ figures }) => figures.refusedClaims)}; files that went back for a while ${sum(({ figures }) => figures.wentBack)}`,
      `fullest directory of a tier: ${(Math.max(0, ...this.#fullest.values()) * 100).toFixed(2)} % of its quota; all volumes newest after ${(this.#settledInMs / 1000).toFixed(1)} s`,
    ]
  }

  #line(): string {
    const { checks } = this
    return `${this.#killer.counts.kills} kills, ${checks.count('files')} files, ${checks.count('blocks')} blocks, ${checks.count('quota')} looks at quotas`
  }

  async #look(): Promise<void> {
    for (const node of this.#nodes) await node.look()
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

  /** Right after its end, before it is started again. */
  async #onDead(program: Program): Promise<void> {
    const worker = this.#parts.scene.workers.find(({ name }) => name === program.name)
    if (worker === undefined) return
    this.#judgeTiers(worker, 'after a kill')
    if (this.#damageRandom.next() > DAMAGE_SHARE) return
    const { directory = '' } = worker.tiers[Math.floor(this.#damageRandom.next() * worker.tiers.length)] ?? {}
    if (damageBlock(directory, this.#damageRandom) !== undefined) this.#damaged++
  }

  async #judgeQuotas(): Promise<void> {
    for (const worker of this.#parts.scene.workers)
      await this.#programs.find(({ name }) => name === worker.name)?.still(() => this.#judgeTiers(worker, 'while it runs'))
  }

  #judgeTiers({ name, tiers }: WorkerPlace, when: string): void {
    for (const { directory, quotaBytes } of tiers) {
      const bytes = tierBytes(directory)
      this.#fullest.set(directory, Math.max(this.#fullest.get(directory) ?? 0, bytes / quotaBytes))
      this.checks.judge('quota', bytes <= quotaBytes ? undefined : `${name} ${when}: ${directory} has ${bytes} of ${quotaBytes} bytes`)
    }
  }

  /** A block of the newest version or of one before, from any worker. */
  async #readSome(random: Random | undefined): Promise<void> {
    const { contents, scene } = this.#parts
    const choose = (count: number) => Math.floor((random?.next() ?? 0) * count)
    const newest = [...contents.newestBelow('/')].filter(([, { size }]) => size > 0)
    const [relative = '', content] = newest[choose(newest.length)] ?? []
    const worker = scene.workers[choose(scene.workers.length)]
    if (content === undefined || worker === undefined) return
    const index = choose(Math.ceil(content.size / MIB))
    await this.#blocks.read({ address: worker.address, path: `/${relative}`, content, index, isCachedOnly: choose(2) === 0 })
  }

  async #judgeEnd(): Promise<void> {
    const { scene } = this.#parts
    const began = performance.now()
    this.#setting.progress('all programs run: waiting for the newest content')
    await Promise.all(this.#nodes.map((node) => node.settle()))
    this.#settledInMs = performance.now() - began
    for (const node of this.#nodes) await node.judgeKept()
    this.#setting.progress('reading all blocks')
    for (const worker of scene.workers) await this.#judgeStored(worker)
    const missing = await this.#blocks.readAll(scene.workers.map(({ address }) => address))
    if (missing > 0) this.checks.fail('blocks', `${missing} blocks were not served though everything runs`)
    for (const worker of scene.workers) await this.#judgeStored(worker)
    await this.#judgeQuotas()
    await this.#judgeStop()
  }

  async #judgeStored({ address, tiers }: WorkerPlace): Promise<void> {
    const keys = tiers.flatMap(({ directory }) => tierFiles(directory).flatMap(({ key }) => (key === undefined ? [] : [key])))
    const problem = await this.#blocks.readStored(address, keys)
    if (problem !== undefined) this.checks.fail('blocks', problem)
  }

  async #judgeStop(): Promise<void> {
    const { checks } = this
    this.#setting.progress('ending')
    for (const left of await Promise.all(this.#nodes.map((node) => node.clear())))
      checks.judge('left', left.length === 0 ? undefined : `nobody wants ${left.length} files any more: ${left.slice(0, 3).join(', ')}`)
    this.#blocks.close()
    const codes = await Promise.all(this.#programs.map(async (program) => ({ name: program.name, code: await program.stop() })))
    for (const { name, code } of codes)
      checks.judge('left', code === 0 ? undefined : `${name} did not end by itself when it was asked (exit code ${code})`)
    const left = leftovers(this.#setting.folder)
    checks.judge('left', left.length === 0 ? undefined : left.slice(0, 5).join(', '))
    for (const { name, options } of this.#programs) for (const line of errorsIn(options.log)) checks.fail('alone', `${name}: ${line}`)
  }
}

const randomOf = ({ options }: PartSetting, use: number): Random => seededRandom(options.seed * 100 + use)

/** Lines of a log that say that something failed which never should. */
const errorsIn = (log: string): string[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"level":"error"') || (line !== '' && !line.startsWith('{')))
    .slice(0, 5)
    .map((line) => line.slice(0, 400))
