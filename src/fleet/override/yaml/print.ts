/** YAML as Kubernetes' tools write it: blocks, keys in order, lists at the indentation of their keys. */
import { isJsonObject } from '../../../base/json.ts'
import { compareKeys } from './key-order.ts'
import { printNumber } from './number.ts'
import { printText } from './scalar.ts'

/** Longer keys are written in the long form, with a question mark. */
const LONGEST_SIMPLE_KEY = 128

export function printYaml(value: unknown): string {
  return `${isBlock(value) ? block(value, 0) : scalar(value, { indent: 2, column: 0, isKey: false })}\n`
}

type Block = readonly unknown[] | Readonly<Record<string, unknown>>

/** Empty values stay on their line. */
const isBlock = (value: unknown): value is Block =>
  Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0

function scalar(value: unknown, place: { indent: number; column: number; isKey: boolean }): string {
  if (typeof value === 'string') return printText(value, place)
  if (typeof value === 'number' || typeof value === 'bigint') return printNumber(value)
  if (Array.isArray(value)) return '[]'
  return isJsonObject(value) ? '{}' : String(value ?? null)
}

/** Lines of a block; the first is printed at the current position, which is at this indentation. */
function block(value: Block, indent: number): string {
  const lines = Array.isArray(value)
    ? value.map((item: unknown) => `- ${inline(item, indent)}`)
    : Object.keys(value)
        .sort(compareKeys)
        .map((key) => entry(key, (value as Record<string, unknown>)[key], indent))
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** After a dash, or after the colon of a long key: blocks begin on the same line. */
function inline(value: unknown, indent: number): string {
  return isBlock(value) ? block(value, indent + 2) : scalar(value, { indent: indent + 2, column: indent + 2, isKey: false })
}

function entry(key: string, value: unknown, indent: number): string {
  const isSimple = !/[\n\r\u0085\u2028\u2029]/.test(key) && Buffer.byteLength(key) <= LONGEST_SIMPLE_KEY
  if (!isSimple) {
    const long = printText(key, { indent: indent + 2, column: indent + 2, isKey: false })
    return `? ${long}\n${' '.repeat(indent)}: ${inline(value, indent)}`
  }
  const name = printText(key, { indent: indent + 2, column: indent, isKey: true })
  if (!isBlock(value)) return `${name}: ${scalar(value, { indent: indent + 2, column: indent + [...name].length + 2, isKey: false })}`
  const deeper = Array.isArray(value) ? indent : indent + 2
  return `${name}:\n${' '.repeat(deeper)}${block(value, deeper)}`
}
