// A failed test that uses the machine is retried once on its own, with its whole file: tests of one file build on each other. If it
// then passes it is flaky: named and counted, but it does not fail the run. It is still a defect to fix.
import { usesTheMachine } from './real-programs.mjs'

/** If more files than this fail, it is not by chance. */
const MOST_FILES = 5

/** `again(files)` runs them; returns the exit status of the whole run. */
export async function tryAgain({ tests, areas }, again, { mayTryAgain = usesTheMachine, say = console.log } = {}) {
  const failures = innermost(tests.filter(({ hasFailed }) => hasFailed)).map((test) => ({ ...test, files: filesOf(test, areas) }))
  const candidates = new Set(failures.filter(({ files }) => files.length > 0 && files.every(mayTryAgain)).flatMap(({ files }) => files))
  if (candidates.size === 0 || candidates.size > MOST_FILES) return 1
  const passedNow = new Set()
  for (const file of candidates) {
    say(`\n${file} uses the machine: once more, by itself`)
    const { status, output, tests: second } = await again([file])
    const hasPassed = status === 0 && second.some(({ isSuite, isSkipped }) => !isSuite && !isSkipped)
    if (hasPassed) passedNow.add(file)
    // So that whoever counts lines does not take it for the first run.
    else say(output.replaceAll(/^/gm, 'again| '))
  }
  const isFlaky = ({ files }) => files.length > 0 && files.every((file) => passedNow.has(file))
  for (const test of failures) say(`${isFlaky(test) ? 'flaky' : 'failed'}: ${nameOf(test)}`)
  const counted = tests.filter(({ isSuite, isSkipped }) => !isSuite && !isSkipped)
  const failed = counted.filter((test) => test.hasFailed && !isFlaky({ files: filesOf(test, areas) })).length
  const isLost = !failures.every(isFlaky)
  const lost = isLost ? Math.max(1, failed) : 0
  say(`${counted.length - lost} passed, ${lost} failed`)
  return isLost ? 1 : 0
}

/** A process that failed as a whole counts as all its files. */
function filesOf({ file, area }, areas) {
  return file === undefined ? (areas.find(({ name }) => name === area)?.files ?? []) : [file]
}

/** Without those that failed only because of a nested failure. */
function innermost(failures) {
  const key = ({ area }, names) => [area, ...names].join('\0')
  const outer = new Set(failures.flatMap((test) => test.names.slice(0, -1).map((_, i) => key(test, test.names.slice(0, i + 1)))))
  return failures.filter((test) => !outer.has(key(test, test.names)))
}

const nameOf = ({ file, area, names }) => `${file ?? area}: ${file === undefined ? 'the process' : names.join(' > ')}`
