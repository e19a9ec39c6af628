/**
 * What the operators of Lua do to values. Compiled code passes its position, so that a failure names the line and the
 * expression. There are no metatables: scripts cannot create any.
 */
import { compareStrings } from '../../../kube/go-print.ts'
import type { Shape } from './fields.ts'
import type { Run } from './run.ts'
import { LuaTable } from './table.ts'
import { byteCount, byteWork } from './text.ts'
import { formatNumber, type LuaFunction, type LuaValue, numberOf, typeName } from './values.ts'

export function index(run: Run, container: LuaValue, key: LuaValue, site: number): LuaValue {
  if (typeof key === 'string' && key.length >= LONG_KEY) lookUp(run, container, key)
  if (container instanceof LuaTable) return container.get(key)
  if (typeof container === 'string') return textMethod(run, key)
  return run.failOn(site, `attempt to index a ${typeName(container)} value`)
}

const LONG_KEY = 64
/** Beyond this, texts of the same length share a hash, so that each field may have to be compared. */
const LONG_HASHED = 16_000
/** Fields of small tables are compared one after the other. */
const SMALL = 8

function lookUp(run: Run, container: LuaValue, key: string): void {
  const fields = container instanceof LuaTable ? (container.fields()?.size ?? 0) : 0
  run.work((key.length >> 4) * (1 + (key.length < LONG_HASHED ? Math.min(fields, SMALL) : fields)))
}

export function field(run: Run, container: LuaValue, key: string, site: number): LuaValue {
  if (container instanceof LuaTable) return container.getField(key)
  if (typeof container === 'string') return textMethod(run, key)
  return run.failOn(site, `attempt to index a ${typeName(container)} value`)
}

const textMethod = (run: Run, key: LuaValue): LuaValue => (run.strings === undefined ? run.textMethods.get(key) : run.strings.get(key))

export function setIndex(run: Run, container: LuaValue, key: LuaValue, value: LuaValue, site: number): void {
  if (!(container instanceof LuaTable)) run.failOn(site, `attempt to index a ${typeName(container)} value`)
  if (key === undefined) run.fail(site, 'table index is nil')
  if (typeof key === 'number' && Number.isNaN(key)) run.fail(site, 'table index is NaN')
  if (typeof key === 'string' && key.length >= LONG_KEY) lookUp(run, container, key)
  ;(container as LuaTable).set(run, key, value)
}

export function callable(run: Run, value: LuaValue, site: number): LuaFunction {
  return typeof value === 'function' ? value : run.failOn(site, `attempt to call a ${typeName(value)} value`)
}

function number(run: Run, value: LuaValue, site: number): number {
  return numberOf(value) ?? run.failOn(site, `attempt to perform arithmetic on a ${typeName(value)} value`)
}

export function add(run: Run, a: LuaValue, b: LuaValue, site: number): number {
  return typeof a === 'number' && typeof b === 'number' ? a + b : number(run, a, site) + number(run, b, site)
}

export function subtract(run: Run, a: LuaValue, b: LuaValue, site: number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : number(run, a, site) - number(run, b, site)
}

export const multiply = (run: Run, a: LuaValue, b: LuaValue, site: number): number => number(run, a, site) * number(run, b, site)

export const divide = (run: Run, a: LuaValue, b: LuaValue, site: number): number => number(run, a, site) / number(run, b, site)

export const power = (run: Run, a: LuaValue, b: LuaValue, site: number): number => number(run, a, site) ** number(run, b, site)

/** The remainder has the sign of the divisor. */
export function modulo(run: Run, a: LuaValue, b: LuaValue, site: number): number {
  const dividend = number(run, a, site)
  const divisor = number(run, b, site)
  const remainder = dividend % divisor
  return remainder !== 0 && remainder < 0 !== divisor < 0 ? remainder + divisor : remainder
}

export const negate = (run: Run, a: LuaValue, site: number): number => -number(run, a, site)

/** Texts of the same length are compared. */
export function equal(run: Run, a: LuaValue, b: LuaValue): boolean {
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) run.read(a.length)
  return a === b
}

function comparedTexts(run: Run, a: string, b: string): number {
  run.read(Math.min(a.length, b.length))
  return compareStrings(a, b)
}

/** How many values one call passes on to another. */
export function spread(run: Run, values: readonly LuaValue[]): readonly LuaValue[] {
  run.work(values.length >> 3)
  return values
}

export function less(run: Run, a: LuaValue, b: LuaValue, site: number): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b
  return typeof a === 'string' && typeof b === 'string' ? comparedTexts(run, a, b) < 0 : incomparable(run, a, b, site)
}

export function lessOrEqual(run: Run, a: LuaValue, b: LuaValue, site: number): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b
  return typeof a === 'string' && typeof b === 'string' ? comparedTexts(run, a, b) <= 0 : incomparable(run, a, b, site)
}

export function greater(run: Run, a: LuaValue, b: LuaValue, site: number): boolean {
  return less(run, b, a, site)
}

export function greaterOrEqual(run: Run, a: LuaValue, b: LuaValue, site: number): boolean {
  return lessOrEqual(run, b, a, site)
}

function incomparable(run: Run, a: LuaValue, b: LuaValue, site: number): never {
  const [left, right] = [typeName(a), typeName(b)]
  return run.fail(site, left === right ? `attempt to compare two ${left} values` : `attempt to compare ${left} with ${right}`)
}

/** `a .. b .. c` in one step. */
export function concat(run: Run, site: number, ...parts: LuaValue[]): string {
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else if (typeof part === 'number') text += formatNumber(part)
    else run.fail(site, `attempt to concatenate a ${typeName(part)} value`)
  }
  run.make(text.length)
  return text
}

export function length(run: Run, value: LuaValue, site: number): number {
  if (value instanceof LuaTable) return value.length()
  if (typeof value !== 'string') return run.failOn(site, `attempt to get length of a ${typeName(value)} value`)
  run.work(byteWork(value))
  return byteCount(value)
}

/** `{a, b, key = c}`. Nil values leave no field. */
export function makeTable(run: Run, values: LuaValue[], keysAndValues: readonly LuaValue[], site: number): LuaTable {
  run.makeTable()
  run.makeFields(values.length + keysAndValues.length / 2)
  const table = LuaTable.ofList(values)
  for (let i = 0; i < keysAndValues.length; i += 2) {
    const key = keysAndValues[i]
    // List items win over the same key written explicitly.
    if (typeof key === 'number' && key >= 1 && key <= values.length) continue
    setIndex(run, table, key, keysAndValues[i + 1], site)
  }
  return table
}

/** `{a, b}`. */
export function makeList(run: Run, values: LuaValue[]): LuaTable {
  run.makeTable()
  run.makeFields(values.length)
  return LuaTable.ofList(values)
}

/** `{key = a, other = b}` with keys that are all known and distinct. */
export function makeRecord(run: Run, shape: Shape, values: LuaValue[]): LuaTable {
  run.makeTable()
  run.makeFields(values.length)
  return LuaTable.ofRecord(shape, values)
}

export function emptyTable(run: Run): LuaTable {
  run.makeTable()
  return new LuaTable()
}

/** The start, end or step of a numeric `for`. */
export function loopNumber(run: Run, value: LuaValue, what: 'initial' | 'limit' | 'step', site: number): number {
  const result = numberOf(value)
  if (result === undefined) return run.fail(site, `'for' ${what} value must be a number`)
  return what === 'step' && result === 0 ? run.fail(site, "'for' step is zero") : result
}
