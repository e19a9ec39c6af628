/** What became of the files of a migration. Names are kept for a few only. */
import { showName } from '../sources/clean-path.ts'

export interface MigrateResult {
  /** Files. */
  copied: number
  copiedBytes: number
  /** They were there and the same. */
  skipped: number
  skippedBytes: number
  /** They were gone when they were to be copied. */
  vanished: number
  /** Removed, because the source does not have them. */
  removed: number
  failed: number
  /** What no file can be made of; another attempt would leave it out as well. */
  leftOut: number
  /** Of a few of those that failed or were left out: the name, and why. */
  problems: readonly string[]
}

const MOST_PROBLEMS = 10
const LONGEST_REASON = 200

export class Tally {
  readonly #result: MigrateResult & { problems: string[] } = {
    ...{ copied: 0, copiedBytes: 0, skipped: 0, skippedBytes: 0, vanished: 0, removed: 0, failed: 0, leftOut: 0 },
    problems: [],
  }

  copied(bytes: number): void {
    this.#result.copied++
    this.#result.copiedBytes += bytes
  }

  skipped(bytes: number): void {
    this.#result.skipped++
    this.#result.skippedBytes += bytes
  }

  vanished(): void {
    this.#result.vanished++
  }

  removed(): void {
    this.#result.removed++
  }

  failed(path: string, reason: string): void {
    this.#result.failed++
    this.#note(path, reason)
  }

  leftOut(path: string, reason = 'there are files below it as well'): void {
    this.#result.leftOut++
    this.#note(path, reason)
  }

  /** Named by the listing, which has made them harmless, or only counted. */
  refused(names: readonly string[], count: number): void {
    this.#result.leftOut += count
    for (const name of names) this.#add(`${name}: no file can be made of it`)
  }

  result(): MigrateResult {
    return { ...this.#result, problems: [...this.#result.problems] }
  }

  #note(path: string, reason: string): void {
    this.#add(`${showName(path)}: ${reason.slice(0, LONGEST_REASON)}`)
  }

  #add(problem: string): void {
    if (this.#result.problems.length < MOST_PROBLEMS) this.#result.problems.push(problem)
  }
}
