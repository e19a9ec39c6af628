// One part of a test run, with a retry where it may have one.
import path from 'node:path'
import { countsIn, failedIn, flakyIn, skippedIn } from './output.mjs'
import { runCommand } from './run-command.mjs'

const MOST_MINUTES = 20
/** If more tests than this fail at once, it is not by chance. */
const MOST_TRIES = 5

/**
 * Returns { name, passed, failed, skipped, flaky, failures, seconds, cpuSeconds, output, log }.
 *
 * `again` means that the part talks to real programs, whose failures are retried once: true for the whole part, or a
 * function that returns the command for the name of a failed test.
 */
export async function runPart(part, logs, run = runCommand) {
  const log = path.join(logs, `${part.name.replaceAll(/[^\w.-]+/g, '-')}.log`)
  const minutes = part.minutes ?? MOST_MINUTES
  const first = await attempt(part.command, { log, minutes }, run)
  const result = { name: part.name, log, ...first }
  if (first.failed === 0 || part.again === undefined) return result
  const tries = triesOf(part, first.failures)
  if (tries.length > MOST_TRIES) return result
  let { seconds, cpuSeconds } = first
  const flaky = []
  const failures = []
  for (const [i, { command, failed }] of tries.entries()) {
    const second = await attempt(command, { log: log.replace(/\.log$/, `.again-${i + 1}.log`), minutes }, run)
    seconds += second.seconds
    cpuSeconds += second.cpuSeconds
    if (second.failed === 0 && second.passed > 0) flaky.push(...failed.map(({ name }) => name))
    else failures.push(...failed)
  }
  const failed = failures.length === 0 && flaky.length > 0 ? 0 : Math.max(1, first.failed - flaky.length)
  const passed = first.passed + (first.failed - failed)
  return { ...result, passed, failed, flaky: [...first.flaky, ...flaky], failures, seconds, cpuSeconds }
}

async function attempt(command, options, run) {
  const { code, output, seconds, cpuSeconds } = await run(command, options)
  const skipped = skippedIn(output)
  const counts = countsIn(output)
  const failures = code === 0 ? [] : failedIn(output)
  const rest = { skipped, flaky: flakyIn(output), output, seconds, cpuSeconds }
  if (code !== 0) return { passed: counts?.passed ?? 0, failed: Math.max(1, counts?.failed ?? 1), failures, ...rest }
  if (counts?.passed === 0 && skipped.length === 0)
    return { passed: 0, failed: 1, failures: [{ name: 'it ran nothing' }], ...rest, output: `${output}\nit ran nothing\n` }
  return { passed: counts?.passed ?? 1, failed: 0, failures, ...rest }
}

/** Tests that the same command retries are grouped. */
function triesOf({ name, command, again }, failures) {
  if (again === true || failures.length === 0) return [{ command, failed: failures.length > 0 ? failures : [{ name }] }]
  const tries = new Map()
  for (const failed of failures) {
    const one = again(failed.name)
    const key = JSON.stringify(one)
    tries.set(key, { command: one, failed: [...(tries.get(key)?.failed ?? []), failed] })
  }
  return [...tries.values()]
}
