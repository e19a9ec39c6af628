/** A named check of a client, how a list of them runs, and how their results are reported. */
export interface Check {
  name: string
  run(): Promise<void>
}

export interface CheckResult {
  part: string
  name: string
  error?: string
}

/** One after the other, a line each. Where `stopsAtFailure`, later checks build on earlier ones and are not run. */
export async function runChecks(part: string, checks: Check[], stopsAtFailure = false): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const check of checks) {
    const isPointless = stopsAtFailure && results.some((result) => result.error !== undefined)
    const error = isPointless ? 'not run: an earlier step failed' : await failureOf(check)
    results.push(printResult({ part, name: check.name, error }))
  }
  return results
}

export function printResult(result: CheckResult): CheckResult {
  console.log(
    `${result.error === undefined ? 'ok  ' : 'FAIL'} ${result.part}: ${result.name}${result.error === undefined ? '' : `\n     ${result.error}`}`,
  )
  return result
}

/** Names each failed check on its own line, for the retry of scripts/ci.mjs. */
export function countFailed(results: readonly CheckResult[]): number {
  const failed = results.filter((result) => result.error !== undefined)
  for (const { part, name } of failed) console.log(`failed: ${part}: ${name}`)
  return failed.length
}

async function failureOf(check: Check): Promise<string | undefined> {
  try {
    await check.run()
    return undefined
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}
