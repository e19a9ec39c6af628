/**
 * Which recorded cases are counted separately, and why: what this version does not offer at all, determined by a rule on the
 * recorded step and never by its name. They are still run where possible, and reported, but not part of a percentage.
 */
import type { Json, Sequence, Step } from './transcript.ts'

export type ApartReason = 'needs CEL' | 'needs compaction on demand' | 'needs a protobuf answer'

/** For a whole sequence: its later steps depend on the one that cannot be done. */
export function sequenceApart(sequence: Sequence): ApartReason | undefined {
  if (sequence.steps.some((step) => step.action === 'compact')) return 'needs compaction on demand'
  if (sequence.steps.some((step) => hasKey(step.body ?? null, 'x-kubernetes-validations'))) return 'needs CEL'
  return undefined
}

/** For one step: the answer was recorded in protobuf, or nothing else would be accepted. */
export function stepApart(step: Step): ApartReason | undefined {
  const answered = step.responseHeaders?.['content-type']
  if (typeof answered === 'string' && isProtobuf(answered)) return 'needs a protobuf answer'
  const accepted = acceptHeader(step).filter((type) => type !== '')
  return accepted.length > 0 && accepted.every(isProtobuf) ? 'needs a protobuf answer' : undefined
}

const isProtobuf = (type: string): boolean => /protobuf/.test(type)

function acceptHeader(step: Step): string[] {
  const [, value] = Object.entries(step.headers ?? {}).find(([name]) => name.toLowerCase() === 'accept') ?? []
  const values = value === undefined || value === null ? [] : [value].flat()
  return values.flatMap((one) => one.split(',')).map((one) => one.trim())
}

function hasKey(value: Json, key: string): boolean {
  if (value === null || typeof value !== 'object') return false
  if (!Array.isArray(value) && Object.hasOwn(value, key)) return true
  return Object.values(value).some((inner) => hasKey(inner, key))
}
