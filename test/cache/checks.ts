/** What a proof judges: each check counts what it looked at and keeps what was wrong. A check that looked at nothing has failed. */

export interface Check {
  /** What is promised. */
  name: string
  /** What is counted. */
  unit: string
  count: number
  failures: string[]
}

const MOST_KEPT = 20

export class Checks<Name extends string> {
  readonly #checks: ReadonlyMap<Name, Check>

  constructor(promises: Readonly<Record<Name, readonly [name: string, unit: string]>>) {
    const entries = Object.entries(promises) as [Name, readonly [string, string]][]
    this.#checks = new Map(entries.map(([key, [name, unit]]) => [key, { name, unit, count: 0, failures: [] }]))
  }

  /** So many were looked at. */
  saw(key: Name, count = 1): void {
    this.#of(key).count += count
  }

  fail(key: Name, text: string): void {
    const { failures } = this.#of(key)
    if (failures.length < MOST_KEPT) failures.push(text)
  }

  /** One was looked at; a text says what is wrong with it. */
  judge(key: Name, problem: string | undefined): void {
    this.saw(key)
    if (problem !== undefined) this.fail(key, problem)
  }

  count(key: Name): number {
    return this.#of(key).count
  }

  get hasFailed(): boolean {
    return this.all().some(({ failures }) => failures.length > 0)
  }

  all(): Check[] {
    return [...this.#checks.values()]
  }

  #of(key: Name): Check {
    const check = this.#checks.get(key)
    if (check === undefined) throw new Error(`there is no check ${key}`)
    return check
  }
}

export const hasPassed = ({ count, failures }: Check): boolean => count > 0 && failures.length === 0

/** The lines of a report, the last of them `N passed, N failed`. */
export function reportLines(checks: readonly Check[]): string[] {
  const lines = checks.flatMap((check) => [
    `${hasPassed(check) ? '✓' : '✗'} ${check.name} (${check.unit}: ${check.count})`,
    ...check.failures.map((text) => `    ${text}`),
    ...(check.count === 0 ? ['    nothing was looked at'] : []),
  ])
  const passed = checks.filter(hasPassed).length
  return [...lines, `${passed} passed, ${checks.length - passed} failed`]
}
