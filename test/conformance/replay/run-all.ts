/** Runs many sequences side by side, and turns what they found into one flat list of cases in the recorded order. */
import { type ApartReason, sequenceApart, stepApart } from './apart.ts'
import { runSequence } from './run-sequence.ts'
import type { Target } from './target.ts'
import { isCase, type Sequence, type Step } from './transcript.ts'

export interface Case {
  group: string
  sequence: string
  name: string
  step: Step
  differences: string[]
  apart: ApartReason | undefined
}

export interface RunOptions {
  target: Target
  sideBySide: number
  /** Part of every namespace name: a second run on the same server must not meet the first. */
  runId: string
  onProgress?(done: number, of: number): void
}

export async function runAll(sequences: Sequence[], options: RunOptions): Promise<Case[]> {
  const found: Case[][] = sequences.map(() => [])
  let next = 0
  let done = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < sequences.length; at = next++) {
      const sequence = sequences[at]
      if (sequence === undefined) return
      found[at] = await runOne(sequence, `gold-${options.runId}-${at.toString(36).padStart(3, '0')}x`, options.target)
      options.onProgress?.(++done, sequences.length)
    }
  }
  await Promise.all(Array.from({ length: options.sideBySide }, worker))
  return found.flat()
}

async function runOne(sequence: Sequence, namespace: string, target: Target): Promise<Case[]> {
  const apart = sequenceApart(sequence)
  const asCase = (step: Step, differences: string[]): Case => ({
    group: sequence.group,
    sequence: sequence.name,
    name: step.name ?? step.collect ?? '',
    step,
    differences,
    apart: apart ?? stepApart(step),
  })
  if (apart === 'needs compaction on demand') return sequence.steps.filter(isCase).map((step) => asCase(step, ['not run']))
  const results = await runSequence(target, sequence, namespace)
  return results.map((result) => asCase(result.step, result.differences))
}
