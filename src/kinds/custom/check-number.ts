/**
 * Numeric limits as the real validator applies them: an integer value is compared with limits truncated to integers, and a
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
  checkRange(value, { node, what: 'Checked' }, sink)
  /** A limit as it is compared: truncated to an integer for integers, if its type can hold it at all. */
  const limitOf = (limit: number, what: string): { limit: number; isInteger: boolean } => {
    const isInteger = checkRange(limit, { node, what }, sink) && isInt64(value)
    return { limit: isInteger ? Math.trunc(limit) : limit, isInteger }
  }
  if (node.multipleOf !== undefined) checkMultiple(value, limitOf(node.multipleOf, 'MultipleOf'), sink)
  if (node.minimum !== undefined) {
    const { limit } = limitOf(node.minimum, 'Minimum boundary')
    if (node.exclusiveMinimum ? value <= limit : value < limit)
      sink.fail(`should be greater than ${node.exclusiveMinimum ? '' : 'or equal to '}${goNumber(limit)}`, value)
  }
  if (node.maximum !== undefined) {
    const { limit } = limitOf(node.maximum, 'Maximum boundary')
    if (node.exclusiveMaximum ? value >= limit : value > limit)
      sink.fail(`should be less than ${node.exclusiveMaximum ? '' : 'or equal to '}${goNumber(limit)}`, value)
  }
}

function checkRange(value: number, of: { node: Node; what: string }, sink: Sink): boolean {
  const { types, format } = of.node
  const type = types.length === 1 && (types[0] === 'integer' || types[0] === 'number') ? types[0] : ''
  const isInt32 = Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
  const isFloat32 = Math.abs(value) <= 3.4028234663852886e38
  let holds = true
  if (type === 'integer') holds = format === 'int32' ? isInt32 : isInt64(value)
  else if (type === 'number' && format === 'float') holds = isFloat32
  if (!holds)
    sink.addLoose(
      `${of.what} value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ${sink.name}`,
    )
  return holds
}

function checkMultiple(value: number, factor: { limit: number; isInteger: boolean }, sink: Sink): void {
  const { limit, isInteger } = factor
  if (limit <= 0) {
    const text = `factor MultipleOf declared for ${sink.name} must be positive: ${goNumber(limit)}`
    sink.add(text, (field) => ({ type: 'Invalid', field, value: limit, detail: text }))
    return
  }
  const isMultiple = isInteger ? value % limit === 0 : isNearlyInteger(limit < 1 ? (1 / limit) * value : value / limit)
  if (!isMultiple) sink.fail(`should be a multiple of ${goNumber(limit)}`, value)
}

/** Integers up to rounding of the division, within what JSON numbers hold exactly. */
function isNearlyInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const whole = Math.trunc(value)
  if (value === whole) return true
  if (whole === 0) return false
  return Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9
}
