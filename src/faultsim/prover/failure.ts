/** What a world under faults is judged by. A failure names its oracle, so that a person knows what kind of fault to look for. */
export type Oracle =
  | 'settles'
  | 'same end state'
  | 'invariant'
  | 'at rest'
  | 'no leaked children'
  | 'bounded writes'
  | 'no churn'
  | 'bounded events'
  | 'quiet when settled'
  | 'quiet after restart'
  | 'no ambient use'
  | 'deterministic'

export class OracleFailure extends Error {
  readonly oracle: Oracle
  constructor(oracle: Oracle, message: string) {
    super(`${oracle}: ${message}`)
    this.name = 'OracleFailure'
    this.oracle = oracle
  }
}
