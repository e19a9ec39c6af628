/** What a part of the proof is to the command line. */
import type { Cleanup } from '../machine/interrupt.ts'
import type { Check } from './checks.ts'
import type { ProofOptions } from './options.ts'

export interface PartSetting {
  options: ProofOptions
  /** Empty, for everything the part writes; removed when all is well. */
  folder: string
  later: Cleanup
  progress(text: string): void
}

export interface PartResult {
  checks: readonly Check[]
  /** Lines for whoever reads the report. */
  figures: readonly string[]
}

export type Part = (setting: PartSetting) => Promise<PartResult>
