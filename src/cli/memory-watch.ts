/**
 * Everything is held in memory. Near the limit the program first gets slow, because memory is collected all the time, and then
 * ends; so it is said before, with what to do.
 */
import type { Clock } from '../base/clock.ts'
import type { Machine, MemoryUse } from './machine.ts'

const LOOK_EVERY_MS = 10_000
/** Garbage counts as used: one look may be just before it is collected. */
const LOOKS = 3
const MUCH = 0.85

/** Warns once; returns the function that ends it. */
export function watchMemory({ clock, memory }: Pick<Machine, 'clock' | 'memory'>, warn: (warning: string) => void): () => void {
  let above = 0
  return every(clock, LOOK_EVERY_MS, () => {
    const use = memory()
    above = use.usedBytes > use.limitBytes * MUCH ? above + 1 : 0
    if (above < LOOKS) return true
    warn(memoryWarning(use))
    return false
  })
}

export function memoryWarning(use: MemoryUse): string {
  const [used, limit, most] = [use.usedBytes, use.limitBytes, use.mostBytes].map((bytes) => Math.round(bytes / 2 ** 20)) as [
    number,
    number,
    number,
  ]
  const advice =
    most > limit
      ? `The machine has more: start again with NODE_OPTIONS=--max-old-space-size=${most} before the command`
      : 'The machine has no more to give: hold fewer objects or members, or take a larger one'
  return `${used} of at most ${limit} MiB of memory are in use; at the limit Sluice ends. ${advice}`
}

/** Until `look` says that it has seen enough. */
function every(clock: Clock, ms: number, look: () => boolean): () => void {
  let cancel = clock.after(ms, function again() {
    if (look()) cancel = clock.after(ms, again)
  })
  return () => cancel()
}
