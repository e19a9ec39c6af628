/**
 * The programs of the builtin cache: the only file of this folder that reads arguments and environment. Logs are lines of JSON on
 * stderr; stdout has only what a command prints. SIGTERM and SIGINT end a command gracefully, a second one at once.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import { runCommand } from './commands/run.ts'

const clock: Clock = {
  now: () => Date.now(),
  preciseMs: () => performance.now(),
  after(delayMs, callback) {
    // Longer delays would overflow the timer and fire immediately.
    const timer = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

const random: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  bytes: (length) => new Uint8Array(randomBytes(length)),
}

const log: Log = {
  write: (level, message, fields) =>
    void process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`),
}

const ending = new AbortController()
for (const name of ['SIGTERM', 'SIGINT'] as const)
  process.on(name, () => {
    if (ending.signal.aborted) process.exit(1)
    ending.abort()
  })

const env = new Map(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])))
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const complain = (line: string): void => void process.stderr.write(`${line}\n`)
process.exitCode = await runCommand(process.argv.slice(2), { env, clock, random, log, signal: ending.signal, print }, complain)
