/**
 * `sluice controllers` under a supervisor, as it is meant to run: on a machine so busy that it cannot renew its lease in
 * time it exits and is started again; any other exit is an error.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../machine/child.ts'
import type { Cleanup } from '../machine/interrupt.ts'

export interface Supervised {
  readonly pid: number
  /** Its whole log so far. */
  log(): string
  waitUntil(what: string, check: () => boolean | Promise<boolean>, seconds: number): Promise<void>
  /** Stops it, and starts it again; `meanwhile` happens without it. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
  /** Throws when it has ended for good. */
  assertAlive(): void
}

const LOOK_MS = 200
const MOST_RESTARTS = 3

export function superviseControllers(args: string[], logFile: string, later: Cleanup): Supervised {
  const start = (): Child => startChild({ name: 'sluice controllers', command: process.execPath, args, log: logFile })
  let child = start()
  let restarts = 0
  let failure: unknown
  let isReported = false
  const look = (): void => {
    if (isReported || failure !== undefined) return
    try {
      child.assertAlive()
    } catch (error) {
      if (/stopped: the lease was lost/.test(String(error)) && restarts++ < MOST_RESTARTS) {
        console.log('the controllers lost their lease, as on a machine that is too busy, and are started again')
        child = start()
      } else failure = error
    }
  }
  const timer = setInterval(look, LOOK_MS)
  later(async () => {
    clearInterval(timer)
    await child.stop()
  })
  const assertAlive = (): void => {
    look()
    if (failure !== undefined) throw failure
  }
  return {
    get pid() {
      return child.pid
    },
    log: () => readFileSync(logFile, 'utf8'),
    assertAlive,
    async waitUntil(what, check, seconds) {
      const deadline = Date.now() + seconds * 1000
      while (!(await check())) {
        assertAlive()
        if (Date.now() > deadline) throw new Error(`sluice controllers: ${what} not seen in ${seconds} s`)
        await sleep(LOOK_MS)
      }
    },
    async restart(meanwhile = async () => undefined) {
      isReported = true
      await child.stop()
      try {
        await meanwhile()
      } finally {
        child = start()
        isReported = false
      }
    },
  }
}
