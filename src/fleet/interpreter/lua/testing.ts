/** For tests: runs a few lines of Lua as the body of a function. */
import type { Limits } from './run.ts'
import { type Results, Script } from './script.ts'

/** The time that scripts of tests see: 2024-02-03 04:05:06 UTC, a Saturday. */
const TEST_NOW = Date.UTC(2024, 1, 3, 4, 5, 6)

export function run(body: string, args: readonly unknown[] = [], limits?: Limits): Results {
  const script = new Script(`function main(...) local arg1, arg2 = ... ${body}\nend`, 'main')
  return script.call(args, { now: () => TEST_NOW, ...(limits === undefined ? {} : { limits }) })
}

/** What the body returns, as JSON. */
export function answerOf(body: string, ...args: unknown[]): unknown {
  const results = run(body, args)
  return results.type(1) === 'table' ? results.json(1, { root: 'list' }) : results.value(1)
}

/** The message of the error that the body ends with. */
export function failureOf(body: string, limits?: Limits): string {
  try {
    run(body, [], limits)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the script did not fail')
}
