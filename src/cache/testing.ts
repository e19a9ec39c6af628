/** What the tests of the cache's programs share: a log that is kept, real time for sockets, time that a test moves, directories. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'

export interface KeptLog extends Log {
  lines: string[]
}

export function keptLog(): KeptLog {
  const lines: string[] = []
  return { lines, write: (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`) }
}

export const realClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

export interface HandClock extends Clock {
  /** Moves time and calls what is due, in order. */
  advance(ms: number): void
  waiting(): number
}

export function handClock(startMs = 1_800_000_000_000): HandClock {
  let nowMs = startMs
  let timers: { atMs: number; callback: () => void }[] = []
  return {
    now: () => nowMs,
    after(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    advance(ms) {
      const untilMs = nowMs + ms
      for (;;) {
        const due = timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
        if (due === undefined) break
        timers = timers.filter((other) => other !== due)
        nowMs = Math.max(nowMs, due.atMs)
        due.callback()
      }
      nowMs = untilMs
    },
    waiting: () => timers.length,
  }
}

export function temporaryDirectory(): { directory: string; remove(): void } {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'sluice-cache-'))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

const PATIENCE_MS = 10_000

/** Waits for a state, never for a time; gives up after long enough that only a bug explains it. */
export async function until<T>(what: string, check: () => T | undefined | false): Promise<T> {
  const startMs = Date.now()
  for (;;) {
    const found = check()
    if (found !== undefined && found !== false) return found
    if (Date.now() - startMs > PATIENCE_MS) throw new Error(`never: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
