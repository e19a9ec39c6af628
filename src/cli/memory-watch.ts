/**
 * Everything is held in memory. Near the limit the program first gets slow, because of constant garbage collection, and then
 * ends; so it warns beforehand, with advice.
 */
import type { Clock } from '../base/clock.ts'
import type { Machine, MemoryUse } from './machine.ts'

const LOOK_EVERY_MS = 10_000
/** Garbage counts as used, and a single reading may come just before a collection. */
const LOOKS = 3
const MUCH = 0.85

/** Warns once; returns the function that stops watching. */
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

/** Repeats until `look` returns false. */
function every(clock: Clock, ms: number, look: () => boolean): () => void {
  let cancel = clock.after(ms, function again() {
    if (look()) cancel = clock.after(ms, again)
  })
  return () => cancel()
}
