/** How library functions read their arguments, with Lua's own error messages. */
import type { Run } from '../run.ts'
import { LuaTable } from '../table.ts'
import { byteCount, byteWork } from '../text.ts'
import { type LuaFunction, type LuaValue, numberOf, textOf, typeName } from '../values.ts'

/** The longest string that functions of the string library accept. */
const MAX_TEXT_BYTES = 1_000_000

/** The arguments of one call of a library function. */
export class Arguments {
  readonly count: number
  readonly run: Run
  readonly site: number
  private readonly name: string
  private readonly values: readonly LuaValue[]

  constructor(run: Run, site: number, name: string, values: readonly LuaValue[]) {
    this.run = run
    this.site = site
    this.name = name
    this.values = values
    this.count = values.length
  }

  any(position: number): LuaValue {
    return this.values[position - 1]
  }

  from(position: number): readonly LuaValue[] {
    this.run.work(this.count >> 3)
    return this.values.slice(position - 1)
  }

  wrong(position: number, detail: string): never {
    return this.run.fail(this.site, `bad argument #${position} to '${this.name}' (${detail})`)
  }

  private unexpected(position: number, expected: string): never {
    const got = position > this.count ? 'no value' : typeName(this.any(position))
    return this.wrong(position, `${expected} expected, got ${got}`)
  }

  table(position: number): LuaTable {
    const value = this.any(position)
    return value instanceof LuaTable ? value : this.unexpected(position, 'table')
  }

  function(position: number): LuaFunction {
    const value = this.any(position)
    return typeof value === 'function' ? value : this.unexpected(position, 'function')
  }

  number(position: number, otherwise?: number): number {
    const value = this.any(position)
    if (value === undefined && otherwise !== undefined) return otherwise
    return numberOf(value) ?? this.unexpected(position, 'number')
  }

  /** Truncated to a whole number. */
  integer(position: number, otherwise?: number): number {
    const value = Math.trunc(this.number(position, otherwise))
    return Number.isNaN(value) ? 0 : value
  }

  text(position: number, otherwise?: string): string {
    const value = this.any(position)
    if (value === undefined && otherwise !== undefined) return otherwise
    return textOf(value) ?? this.unexpected(position, 'string')
  }

  /** A string for the string library: limited in length, and reading it counts as work. */
  boundedText(position: number): string {
    const text = this.text(position)
    this.run.work(1 + byteWork(text))
    const bytes = text.length > MAX_TEXT_BYTES / 4 ? byteCount(text) : text.length
    if (bytes > MAX_TEXT_BYTES) {
      this.run.fail(
        this.site,
        `string length ${bytes} exceeds the maximum allowed input string length ${MAX_TEXT_BYTES} in Karmada lua string lib, please check your lua script.`,
      )
    }
    return text
  }
}

type Body = (args: Arguments) => ReturnType<LuaFunction>

/** A library: functions by name. */
export function library(
  functions: Readonly<Record<string, Body>>,
  constants: Readonly<Record<string, LuaValue>> = {},
): Map<LuaValue, LuaValue> {
  const fields = new Map<LuaValue, LuaValue>(Object.entries(constants))
  for (const [name, body] of Object.entries(functions)) fields.set(name, libraryFunction(name, body))
  return fields
}

export function libraryFunction(name: string, body: Body): LuaFunction {
  return (run, site, ...values) => {
    if (--run.steps < 0) run.exhausted()
    return body(new Arguments(run, site, name, values))
  }
}
