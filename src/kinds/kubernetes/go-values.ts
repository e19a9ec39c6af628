/**
 * The API types with their own Go encoding (time, quantity, base64 bytes): text in; out comes the text that the server
 * would answer, or Go's error. Texts that are already canonical, which is nearly all, take a fast path.
 */
import { formatInstant, formatMicroInstant, type Instant, isZeroTime, parseMicroTime, parseTime } from '../../kube/go-time.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import { canonicalQuantity } from '../../kube/quantity.ts'

const CANONICAL_TIME = /^[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/
const CANONICAL_MICRO_TIME = /^[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/

export type TimeKind = 'time' | 'microTime'

/** The time as the server prints it; null for Go's zero time. */
export function canonicalTime(kind: TimeKind, text: string): Parsed<string | null> {
  if ((kind === 'time' ? CANONICAL_TIME : CANONICAL_MICRO_TIME).test(text)) return parsed(text)
  const instant = kind === 'time' ? parseTime(text) : parseMicroTime(text)
  return instant.error !== undefined ? unparsed(instant.error) : parsed(printInstant(kind, instant.value))
}

export function printInstant(kind: TimeKind, instant: Instant): string | null {
  // metav1.Time drops the fraction when it is printed, but not when it checks for zero.
  if (isZeroTime(instant)) return null
  return kind === 'time' ? formatInstant(instant) : formatMicroInstant(instant)
}

/** Fewer than four digits before the unit cannot be shortened, so they are canonical. */
const PLAIN_QUANTITY = /^[1-9]\d{0,2}(m|k|M|G|Ki|Mi|Gi)?$/

export function quantityText(text: string): Parsed<string> {
  return PLAIN_QUANTITY.test(text) ? parsed(text) : canonicalQuantity(text)
}

const UNPADDED = /^(?:[A-Za-z0-9+/]{4})*$/
const DIGIT = /[A-Za-z0-9+/]/

/** Standard base64 as Go decodes it (line breaks skipped, padding required), encoded again. */
export function base64Text(text: string): Parsed<string> {
  if (UNPADDED.test(text)) return parsed(text)
  const corrupt = corruptByte(Buffer.from(text))
  if (corrupt !== undefined) return unparsed(`illegal base64 data at input byte ${corrupt}`)
  return parsed(Buffer.from(text, 'base64').toString('base64'))
}

const isBreak = (char: string): boolean => char === '\n' || char === '\r'

/** Where Go's decoder stops, or undefined when it does not. */
function corruptByte(bytes: Buffer): number | undefined {
  const text = bytes.toString('latin1')
  let at = 0
  const skipBreaks = () => {
    while (at < text.length && isBreak(text[at] ?? '')) at++
  }
  while (at < text.length) {
    let read = 0
    while (read < 4) {
      if (at === text.length) return read === 0 ? undefined : at - read
      const char = text[at++] ?? ''
      if (DIGIT.test(char)) read++
      else if (isBreak(char)) continue
      else if (char !== '=' || read < 2) return at - 1
      else {
        if (read === 2) {
          skipBreaks()
          if (at === text.length) return text.length
          if (text[at] !== '=') return at - 1
          at++
        }
        skipBreaks()
        return at < text.length ? at : undefined
      }
    }
  }
  return undefined
}
