/**
 * Everything is held in memory, and Node gives a program a limit of its own, however much the machine has. Near it the program
 * first gets slow, because memory is collected all the time, and then ends; so it is said before, with what to do.
 */
import type { Clock } from '../base/clock.ts'
import type { Machine, MemoryUse } from './machine.ts'

const LOOK_EVERY_MS = 10_000
/** Garbage counts as used: one look may be just before it is collected. */
const LOOKS = 3
const MUCH = 0.85
const SHARE_OF_MACHINE = 0.75

/** Tells it once; returns what ends it. */
export function watchMemory({ clock, hardware, memory, err }: Pick<Machine, 'clock' | 'hardware' | 'memory' | 'err'>): () => void {
  let above = 0
  return every(clock, LOOK_EVERY_MS, () => {
    const use = memory()
    above = use.usedBytes > use.limitBytes * MUCH ? above + 1 : 0
    if (above < LOOKS) return true
    err(memoryWarning(use, hardware.memoryBytes))
    return false
  })
}

export function memoryWarning({ usedBytes, limitBytes }: MemoryUse, machineBytes: number): string {
  const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20)
  const could = mebibytes(machineBytes * SHARE_OF_MACHINE)
  const advice =
    could > mebibytes(limitBytes)
      ? `This machine has more. To let Sluice take it: sluice down, then NODE_OPTIONS=--max-old-space-size=${could} sluice up`
      : 'This machine has no more: fewer objects or members, or a larger machine'
  return `warning: ${mebibytes(usedBytes)} of at most ${mebibytes(limitBytes)} MiB of memory are in use; at the limit Sluice ends. ${advice}\n`
}

/** Until `look` says that it has seen enough. */
function every(clock: Clock, ms: number, look: () => boolean): () => void {
  let cancel = clock.after(ms, function again() {
    if (look()) cancel = clock.after(ms, again)
  })
  return () => cancel()
}
