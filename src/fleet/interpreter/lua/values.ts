/**
 * Lua values as JavaScript values: nil is `undefined`; booleans, numbers and strings are themselves; tables are
 * `LuaTable`; functions are JavaScript functions that were compiled from Lua or come from the library. Several results
 * are an array, which is never a value itself. Compiled code touches values only through the functions of this folder,
 * so no property of a JavaScript object can be reached from a script.
 */
import { goPrint } from '../../../kube/go-print.ts'
import type { Run } from './run.ts'
import { LuaTable } from './table.ts'

export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction
/** `site` is where the script calls it from, for messages. */
export type LuaFunction = (run: Run, site: number, ...args: LuaValue[]) => LuaResult
/** One value, or a list of none or many. */
export type LuaResult = LuaValue | readonly LuaValue[]

export const NOTHING: readonly LuaValue[] = Object.freeze([])

export type LuaTypeName = 'nil' | 'boolean' | 'number' | 'string' | 'table' | 'function'

export function typeName(value: LuaValue): LuaTypeName {
  if (value === undefined) return 'nil'
  if (value instanceof LuaTable) return 'table'
  return typeof value as 'boolean' | 'number' | 'string' | 'function'
}

export const isTruthy = (value: LuaValue): boolean => value !== undefined && value !== false

/** The first of the results of a call. */
export const firstOf = (result: LuaResult): LuaValue => (Array.isArray(result) ? result[0] : (result as LuaValue))

/** The results of a call as a list. */
export const listOf = (result: LuaResult): readonly LuaValue[] =>
  Array.isArray(result) ? (result as readonly LuaValue[]) : [result as LuaValue]

/** Whole numbers print without a fraction; others as Go's `%v` does, because that is what scripts were tested with. */
export function formatNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value)
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? goPrint(value) : value > 0 ? '+Inf' : '-Inf'
}

const NUMERAL = /^[ \t\n\v\f\r]*([+-]?)(?:0[xX]([0-9a-fA-F]+)|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))[ \t\n\v\f\r]*$/

/** The number that a string represents, or nil. */
export function parseNumber(text: string): number | undefined {
  if (isPlainNumeral(text)) return Number(text)
  if (text.length > 400) return undefined
  const parts = NUMERAL.exec(text)
  if (parts === null) return undefined
  const magnitude = parts[2] === undefined ? Number(parts[3]) : Number(`0x${parts[2]}`)
  return parts[1] === '-' ? -magnitude : magnitude
}

/** A few digits, with or without a point between them: nearly every numeral there is. */
function isPlainNumeral(text: string): boolean {
  const last = text.length - 1
  if (last < 0 || last > 14) return false
  let points = 0
  for (let i = 0; i <= last; i++) {
    const code = text.charCodeAt(i)
    if (code >= 48 && code <= 57) continue
    if (code !== 46 || i === 0 || i === last || ++points > 1) return false
  }
  return true
}

/** The text of a string or number; undefined for anything else. */
export function textOf(value: LuaValue): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? formatNumber(value) : undefined
}

/** The number of a number or numeral; undefined for anything else. */
export function numberOf(value: LuaValue): number | undefined {
  return typeof value === 'number' ? value : typeof value === 'string' ? parseNumber(value) : undefined
}

/** What `tostring` returns. Tables and functions have no address here: a rule must not depend on one. */
export function display(value: LuaValue): string {
  const text = textOf(value)
  if (text !== undefined) return text
  const type = typeName(value)
  return type === 'nil' ? 'nil' : type === 'boolean' ? String(value) : `${type}: 0x0`
}
