/**
 * The proof that a crash loses nothing: `npm run prove:crash -- --kills 500 [--seed S]`. The real process, hub and one member,
 * is killed with -9 at random moments (while it starts, too) under writers and watchers over TLS; after every restart the
 * ledgers judge. Any violation ends the proof with exit code 1, the seed and the data directory.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { seededRandom } from '../../src/base/random.ts'
import { runProgram } from '../machine/interrupt.ts'
import { privateProgram } from '../machine/program.ts'
import { checkBackup } from './backup.ts'
import type { Violation } from './ledger.ts'
import { proofOptions } from './options.ts'
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

await runProgram(async (later) => {
  const options = proofOptions(process.argv.slice(2))
  const random = seededRandom(options.seed)
  const program = await privateProgram()
  later(() => program.remove())
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-crash-'))
  const dataDir = path.join(folder, 'data')
  const log = path.join(folder, 'log')
  const violations: Violation[] = []
  later(() => {
    if (!options.keep && violations.length === 0) rmSync(folder, { recursive: true, force: true })
  })
  let server: CrashServer | undefined
  later(() => server?.kill())
  let mayWrite = false

  const scenes = CLUSTERS.map(
    (cluster, i) =>
      new Scene({
        cluster,
        seed: options.seed * 1000 + i * 100,
        writers: options.quick ? 4 : 8,
        target: () => server?.targets[cluster],
        writeTarget: () => (mayWrite ? server?.targets[cluster] : undefined),
        onViolation: (violation) => violations.push(violation),
      }),
  )
  later(() => Promise.all(scenes.map((scene) => scene.stop())).then(() => undefined))

  const start = async (killAfterMs?: number): Promise<void> => {
    server = await startServer({ program: program.file, dataDir, members: CLUSTERS.length - 1, log, killAfterMs })
  }
  await start()
  for (const scene of scenes) await scene.begin()
  mayWrite = true
  const began = performance.now()
  const starts: number[] = []
  const counts = { kills: 0, whileStarting: 0, backups: 0 }
  const told = progress()

  while (counts.kills < options.kills && violations.length === 0) {
    await pause(random.next() * LIFE_MS)
    if (counts.backups < Math.ceil((counts.kills + 1) / BACKUP_EVERY) && server !== undefined) {
      counts.backups++
      violations.push(...(await checkBackup({ program: program.file, dataDir, folder, number: counts.backups, scenes })))
    }
    const killed = server?.kill()
    server = undefined
    mayWrite = false
    await killed
    counts.kills++
    for (const scene of scenes) await scene.quiet()
    while (random.next() < START_KILL_SHARE && counts.kills < options.kills) {
      await start(random.next() * (starts.at(-1) ?? 500))
      if (server !== undefined) await (server as CrashServer).kill()
      server = undefined
      counts.kills++
      counts.whileStarting++
    }
    await start()
    starts.push(server === undefined ? 0 : (server as CrashServer).startedInMs)
    const resumed = await Promise.all(scenes.map((scene) => scene.resume()))
    mayWrite = true
    await Promise.all(scenes.map((scene, i) => scene.settle(resumed[i] as (typeof resumed)[number])))
    told(
      `${counts.kills} kills, ${sum(scenes, (s) => s.ledger.acknowledged)} acknowledged writes, ${sum(scenes, (s) => s.ledger.events)} events, ${violations.length} violations`,
    )
  }
  told('')
  report({ options, counts, scenes, violations, starts, seconds: (performance.now() - began) / 1000 })
  if (violations.length > 0) console.error(`data directory and log of the server: ${folder}`)
  return violations.length === 0 ? 0 : 1
})
