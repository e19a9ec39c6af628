/** For tests: how much work something is, as a number that is the same on every machine. */
import { type Profiler, Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'

/**
 * How often the functions and blocks of all code ran meanwhile, in our files and in libraries. Loops inside of regular
 * expressions and built-in functions do not count.
 */
export function countedWork(act: () => unknown): number {
  // What is done for the first time only does not count, and what optimised code does could not be counted.
  setFlagsFromString('--no-opt')
  setFlagsFromString('--no-maglev')
  act()
  const session = new Session()
  session.connect()
  let result: Profiler.ScriptCoverage[] = []
  try {
    session.post('Profiler.enable')
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    act()
    session.post('Profiler.takePreciseCoverage', (_error, taken) => {
      result = taken.result
    })
  } finally {
    session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
    setFlagsFromString('--opt')
  }
  return result.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges)).reduce((sum, { count }) => sum + count, 0)
}
