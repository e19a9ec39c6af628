/**
 * The proof that a crash loses nothing: `npm run prove:crash -- --kills 500 [--seed S]`. The real process, hub and one
 * member, is killed with -9 at random moments (including during its start) under writers and watchers over TLS; after every
 * restart the ledgers judge. Any violation ends the proof with exit code 1, the seed and the data directory.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { messageOf } from '../../src/base/error-text.ts'
import { type Random, seededRandom } from '../../src/base/random.ts'
import { type Cleanup, runProgram } from '../machine/interrupt.ts'
import { privateProgram } from '../machine/program.ts'
import { checkBackup } from './backup.ts'
import type { Violation } from './ledger.ts'
import { type ProofOptions, proofOptions } from './options.ts'
import { Scene } from './scene.ts'
import { type CrashServer, startServer } from './server.ts'

const CLUSTERS = ['hub', 'member1']
const LIFE_MS = 700
const START_KILL_SHARE = 0.12
const BACKUP_EVERY = 25

interface Outcome {
  options: { seed: number }
  counts: { kills: number; whileStarting: number; backups: number }
  scenes: readonly Scene[]
  violations: readonly Violation[]
  starts: readonly number[]
  seconds: number
}

function report({ options, counts, scenes, violations, starts, seconds }: Outcome): void {
  const of = (kind: Violation['kind']): number => violations.filter((violation) => violation.kind === kind).length
  const sorted = [...starts].sort((a, b) => a - b)
  const at = (share: number): string => `${Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)} ms`
  console.log(
    [
      `kills ${counts.kills} (${counts.whileStarting} while starting), backups checked ${counts.backups}, seed ${options.seed}, ${Math.round(seconds)} s`,
      `acknowledged writes ${sum(scenes, (s) => s.ledger.acknowledged)}, of unknown outcome ${sum(scenes, (s) => s.ledger.unknown)} (${sum(scenes, (s) => s.ledger.unknownApplied)} were there after the restart), events ${sum(scenes, (s) => s.ledger.events)}`,
      `restart until all answers: median ${at(0.5)}, slowest ${at(1)}`,
      `lost ${of('lost')}, revisions reused ${of('reused')}, gaps or duplicates ${of('gap')}, phantoms ${of('phantom')}, out of order ${of('order')}`,
    ].join('\n'),
  )
  for (const violation of violations.slice(0, 20)) console.error(`${violation.kind}: ${violation.text}`)
  if (violations.length > 0) console.error(`again with: npm run prove:crash -- --kills ${counts.kills} --seed ${options.seed}`)
}

const sum = (scenes: readonly Scene[], of: (scene: Scene) => number): number => scenes.reduce((total, scene) => total + of(scene), 0)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** One line that is overwritten on a terminal; in a log, a line now and then. */
function progress(): (text: string) => void {
  const isTerminal = process.stderr.isTTY === true
  let lastMs = performance.now()
  return (text) => {
    if (isTerminal) process.stderr.write(`\r\u001b[K${text}`)
    else if (text !== '' && performance.now() - lastMs > 10_000) {
      lastMs = performance.now()
      process.stderr.write(`${text}\n`)
    }
  }
}

interface Setting {
  options: ProofOptions
  program: string
  folder: string
}

/** The server, its clients, and the counts so far. */
class Proof {
  readonly violations: Violation[] = []
  readonly counts = { kills: 0, whileStarting: 0, backups: 0 }
  readonly starts: number[] = []
  readonly scenes: readonly Scene[]
  readonly #setting: Setting
  readonly #random: Random
  #server: CrashServer | undefined
  #mayWrite = false

  constructor(setting: Setting) {
    const { options } = setting
    this.#setting = setting
    this.#random = seededRandom(options.seed)
    this.scenes = CLUSTERS.map(
      (cluster, i) =>
        new Scene({
          cluster,
          seed: options.seed * 1000 + i * 100,
          writers: options.quick ? 4 : 8,
          target: () => this.#server?.targets[cluster],
          writeTarget: () => (this.#mayWrite ? this.#server?.targets[cluster] : undefined),
          onViolation: (violation) => this.violations.push(violation),
        }),
    )
  }

  async begin(): Promise<void> {
    this.#server = await this.#start()
    for (const scene of this.scenes) await scene.begin()
    this.#mayWrite = true
  }

  /** One round: some work, a kill, a restart, the verdict. */
  async round(): Promise<void> {
    await pause(this.#random.next() * LIFE_MS)
    if (this.counts.backups < Math.ceil((this.counts.kills + 1) / BACKUP_EVERY)) await this.#backup()
    const killed = this.#server?.kill()
    this.#server = undefined
    this.#mayWrite = false
    await killed
    this.counts.kills++
    for (const scene of this.scenes) await scene.quiet()
    await this.#killWhileStarting()
    this.#server = await this.#start()
    this.starts.push(this.#server?.startedInMs ?? 0)
    const resumed = await Promise.all(this.scenes.map((scene) => scene.resume()))
    this.#mayWrite = true
    await Promise.all(this.scenes.map((scene, i) => scene.settle(resumed[i] as (typeof resumed)[number])))
  }

  async stop(): Promise<void> {
    await Promise.all(this.scenes.map((scene) => scene.stop()))
    await this.#server?.kill()
  }

  #start(killAfterMs?: number): Promise<CrashServer | undefined> {
    const { program, folder } = this.#setting
    const members = CLUSTERS.length - 1
    return startServer({ program, dataDir: path.join(folder, 'data'), members, log: path.join(folder, 'log'), killAfterMs })
  }

  async #backup(): Promise<void> {
    const { program, folder } = this.#setting
    this.counts.backups++
    const check = { program, folder, dataDir: path.join(folder, 'data'), number: this.counts.backups, scenes: this.scenes }
    this.violations.push(...(await checkBackup(check)))
  }

  async #killWhileStarting(): Promise<void> {
    while (this.#random.next() < START_KILL_SHARE && this.counts.kills < this.#setting.options.kills) {
      const started = await this.#start(this.#random.next() * (this.starts.at(-1) ?? 500))
      await started?.kill()
      this.counts.kills++
      this.counts.whileStarting++
    }
  }
}

async function prove(later: Cleanup): Promise<number> {
  const options = proofOptions(process.argv.slice(2))
  const program = await privateProgram()
  later(() => program.remove())
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-crash-'))
  const proof = new Proof({ options, program: program.file, folder })
  const { violations, counts, scenes, starts } = proof
  later(() => {
    if (!options.keep && violations.length === 0) rmSync(folder, { recursive: true, force: true })
  })
  later(() => proof.stop())
  await proof.begin()
  const began = performance.now()
  const reported = progress()
  try {
    while (counts.kills < options.kills && violations.length === 0) {
      await proof.round()
      reported(
        `${counts.kills} kills, ${sum(scenes, (s) => s.ledger.acknowledged)} acknowledged writes, ${sum(scenes, (s) => s.ledger.events)} events, ${violations.length} violations`,
      )
    }
  } catch (error) {
    // A server that does not start again, or does not answer, has lost everything.
    violations.push({ kind: 'lost', text: messageOf(error) })
  }
  reported('')
  report({ options, counts, scenes, violations, starts, seconds: (performance.now() - began) / 1000 })
  if (violations.length > 0) console.error(`data directory and log of the server: ${folder}`)
  return violations.length === 0 ? 0 : 1
}

await runProgram(prove)
