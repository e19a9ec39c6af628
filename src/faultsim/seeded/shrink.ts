/** Shrinks a failing script: steps, moments and faults are removed, large pieces first, as long as the same oracle still fails. */
import type { Oracle } from '../prover/failure.ts'
import type { Script } from './script.ts'

/** Which oracle a script fails, undefined when none. */
export type Judge = (script: Script) => Promise<Oracle | undefined>

const MOST_TRIES = 300

export async function shrink(script: Script, oracle: Oracle, judge: Judge): Promise<Script> {
  let smallest = script
  let tries = 0
  const stillFails = async (candidate: Script): Promise<boolean> => {
    if (tries >= MOST_TRIES) return false
    tries++
    return (await judge(candidate)) === oracle
  }
  for (let before = -1; before !== sizeOf(smallest) && tries < MOST_TRIES; ) {
    before = sizeOf(smallest)
    smallest = await without(smallest, 'hits', stillFails)
    smallest = await without(smallest, 'moments', stillFails)
    smallest = await without(smallest, 'steps', stillFails)
  }
  return smallest
}

const sizeOf = ({ steps, moments, hits = [] }: Script): number => steps.length + moments.length + hits.length

async function without(
  script: Script,
  part: 'hits' | 'moments' | 'steps',
  stillFails: (candidate: Script) => Promise<boolean>,
): Promise<Script> {
  let smallest = script
  for (let size = Math.max(1, (script[part] ?? []).length); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < (smallest[part] ?? []).length; ) {
      const list: readonly unknown[] = smallest[part] ?? []
      const candidate = { ...smallest, [part]: [...list.slice(0, at), ...list.slice(at + size)] } as Script
      if (await stillFails(candidate)) smallest = candidate
      else at += size
    }
  }
  return smallest
}
