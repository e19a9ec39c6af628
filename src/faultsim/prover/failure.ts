/** The oracles that judge a world under faults. A failure names its oracle, so that the reader knows what kind of defect to look for. */
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
