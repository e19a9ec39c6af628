/** What processes use, from /proc. */
import { readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** Milliseconds of CPU so far, of all of them together. */
export function cpuMs(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return (ticks * 1000) / TICKS_PER_SECOND
}

/** Bytes resident now, of all of them together. */
export function residentBytes(pids: readonly number[]): number {
  let kilobytes = 0
  for (const pid of pids) kilobytes += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN)
  return kilobytes * 1024
}
