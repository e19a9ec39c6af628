// What the output of a part shows: how many passed and failed, what was skipped, what failed, what was flaky.

/** `N passed, M failed` of our own programs, or the figures of node --test; undefined where there is neither. */
export function countsIn(output) {
  const [closing] = [...output.matchAll(/^(\d+) passed, (\d+) failed/gm)].slice(-1)
  if (closing !== undefined) return { passed: Number(closing[1]), failed: Number(closing[2]) }
  const figure = (name) => Number([...output.matchAll(new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'gm'))].at(-1)?.[1] ?? Number.NaN)
  const [passed, failed] = [figure('pass'), figure('fail')]
  return Number.isNaN(passed) || Number.isNaN(failed) ? undefined : { passed, failed }
}

/** `skipped: REASON` of our own programs, and node --test's `ok 7 - NAME # SKIP REASON`. */
export function skippedIn(output) {
  const ours = [...output.matchAll(/^skipped: (.*)$/gm)].map(([, reason]) => reason)
  const tests = [...output.matchAll(/^\s*ok \d+ - (.*) # SKIP(.*)$/gm)].map(([, name, reason]) => `${name}:${reason}`)
  return [...ours, ...tests]
}

/**
 * `failed: NAME` of our own programs (after a tab: why), else node --test's `not ok 7 - NAME`, without the enclosing suites.
 * If the former is printed, it alone decides what failed.
 */
export function failedIn(output) {
  const ours = [...output.matchAll(/^failed: ([^\t\n]*)(?:\t(.*))?$/gm)].map(([, name, why]) => ({ name, why }))
  if (ours.length > 0) return ours
  const tests = [...output.matchAll(/^( *)not ok \d+ - (.*)$/gm)].map(([, { length: depth }, name]) => ({ depth, name }))
  // A suite comes after its tests: one that follows a deeper failure failed because of it.
  return tests.filter(({ depth }, i) => depth >= (tests[i - 1]?.depth ?? 0)).map(({ name }) => ({ name }))
}

/** `flaky: NAME`: failed, retried, and passed. */
export function flakyIn(output) {
  return [...output.matchAll(/^flaky: (.*)$/gm)].map(([, name]) => name)
}
