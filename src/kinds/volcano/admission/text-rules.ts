/** Texts and maps of any content: whether they are there, and not too large. Every error says what to do. */
import { type FieldError, invalid, keyed, omittedValue, required } from '../../../kube/field-error.ts'
import { quoted } from '../annotations.ts'
import { isLonger, LONGEST_NAME, LONGEST_WORD, MOST_ENTRIES } from '../limits.ts'

/** `advice` is for a text that is missing, empty or blank. */
export function textErrors(path: string, text: string | undefined, { most, advice }: { most: number; advice: string }): FieldError[] {
  return isBlank(text) ? [required(path, advice)] : lengthErrors(path, text, most)
}

export const isBlank = (text: string | undefined): text is undefined | '' => text === undefined || text.trim() === ''

export const lengthErrors = (path: string, text: string | undefined, most: number): FieldError[] =>
  text !== undefined && isLonger(text, most)
    ? [invalid(path, omittedValue, `must have no more than ${most} characters: shorten ${quoted(text)}`)]
    : []

export const countErrors = (path: string, count: number, most: number): FieldError[] =>
  count > most ? [invalid(path, omittedValue, `has ${count} entries, and may have ${most}: remove some`)] : []

/** Attributes are free texts; only their number and size are limited. */
export function attributeErrors(path: string, attributes: Record<string, string> | undefined): FieldError[] {
  const entries = Object.entries(attributes ?? {})
  const tooMany = countErrors(path, entries.length, MOST_ENTRIES)
  if (tooMany.length > 0) return tooMany
  return entries.flatMap(([key, value]) => [
    ...textErrors(path, key, { most: LONGEST_WORD, advice: 'an attribute has an empty key: name it, or remove it' }),
    ...lengthErrors(keyed(path, key.slice(0, LONGEST_WORD)), value, LONGEST_NAME),
  ])
}
