/**
 * Numeric limits as the real validator applies them: an integer value is compared with limits cut to integers, and a
 * limit or a value that its declared type cannot hold is an error of its own.
 */
import { goNumber } from './go-text.ts'
import type { Node } from './node.ts'

/** Whether Go decodes this JSON number as an int64 (JavaScript cannot tell 2 from 2.0; both are 2 here). */
export function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value <= 2 ** 63
}

interface Sink {
  readonly name: string
  fail(what: string, value: unknown): void
  addLoose(text: string): void
  add(text: string, error: (field: string) => { type: 'Invalid'; field: string; value: unknown; detail: string }): void
}

export function checkNumber(value: number, node: Node, sink: Sink): void {
  const type = node.types.length === 1 && (node.types[0] === 'integer' || node.types[0] === 'number') ? node.types[0] : ''
  checkRange(value, type, node.format, 'Checked', sink)
  const isInteger = isInt64(value)
  if (node.multipleOf !== undefined) {
    const inRange = checkRange(node.multipleOf, type, node.format, 'MultipleOf', sink)
    checkMultiple(value, isInteger && inRange ? Math.trunc(node.multipleOf) : node.multipleOf, isInteger && inRange, sink)
  }
  if (node.minimum !== undefined) {
    const inRange = checkRange(node.minimum, type, node.format, 'Minimum boundary', sink)
    const limit = isInteger && inRange ? Math.trunc(node.minimum) : node.minimum
    if (node.exclusiveMinimum ? value <= limit : value < limit)
      sink.fail(`should be greater than ${node.exclusiveMinimum ? '' : 'or equal to '}${goNumber(limit)}`, value)
  }
  if (node.maximum !== undefined) {
    const inRange = checkRange(node.maximum, type, node.format, 'Maximum boundary', sink)
    const limit = isInteger && inRange ? Math.trunc(node.maximum) : node.maximum
    if (node.exclusiveMaximum ? value >= limit : value > limit)
      sink.fail(`should be less than ${node.exclusiveMaximum ? '' : 'or equal to '}${goNumber(limit)}`, value)
  }
}

function checkRange(value: number, type: string, format: string, what: string, sink: Sink): boolean {
  const holds =
    type === 'integer'
      ? format === 'int32'
        ? Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
        : isInt64(value)
      : type !== 'number' || format !== 'float' || Math.abs(value) <= 3.4028234663852886e38
  if (!holds)
    sink.addLoose(`${what} value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ${sink.name}`)
  return holds
}

function checkMultiple(value: number, factor: number, asIntegers: boolean, sink: Sink): void {
  if (factor <= 0) {
    const text = `factor MultipleOf declared for ${sink.name} must be positive: ${goNumber(factor)}`
    sink.add(text, (field) => ({ type: 'Invalid', field, value: factor, detail: text }))
    return
  }
  const isMultiple = asIntegers ? value % factor === 0 : isNearlyInteger(factor < 1 ? (1 / factor) * value : value / factor)
  if (!isMultiple) sink.fail(`should be a multiple of ${goNumber(factor)}`, value)
}

/** Integers up to rounding of the division, within what JSON numbers hold exactly. */
function isNearlyInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  if (value === whole) return true
  if (whole === 0) return false
  return Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9
}
