/** The result of selecting clusters by spread constraints: some of the candidates, or why it failed. */
import type { Candidate } from '../candidate.ts'

export type Selection =
  | {
      readonly selected: readonly Candidate[]
      /** There was nothing to select. */
      readonly selectsAll?: boolean
      readonly problem?: undefined
      /** Why a candidate was left out. */
      whyNot(candidate: Candidate): string
    }
  | { readonly problem: string; readonly selected?: undefined }
