/** What selecting clusters by spread constraints comes to: some of the candidates, or why it cannot be done. */
import type { Candidate } from '../candidate.ts'

export type Selection =
  | {
      readonly selected: readonly Candidate[]
      /** There was nothing to choose. */
      readonly selectsAll?: boolean
      readonly problem?: undefined
      /** Why a candidate was left out. */
      whyNot(candidate: Candidate): string
    }
  | { readonly problem: string; readonly selected?: undefined }
