/**
 * A script that is ready to be called: compiled once, then called any number of times. Calls share nothing: each has fresh
 * globals and its own budgets.
 */
import { type CompiledScript, compile } from './compiler/compile.ts'
import { LuaError, LuaLimitError } from './errors.ts'
import { type EncodeOptions, fromJson, toJson } from './json.ts'
import { CallGlobals, libraries } from './library/globals.ts'
import { stringLibrary } from './library/string.ts'
import { DEFAULT_LIMITS, type Limits, Run } from './run.ts'
import { LuaTable } from './table.ts'
import { type LuaTypeName, type LuaValue, listOf, typeName } from './values.ts'

export interface CallOptions {
  /** What `os.time` returns, in milliseconds. */
  now: () => number
  /** Whether `kube.accuratePodRequirements` returns the priority class. Default true. */
  priorityClassName?: boolean
  limits?: Limits
}

/** What a call returned. */
export class Results {
  private readonly run: Run
  private readonly values: readonly LuaValue[]

  constructor(run: Run, values: readonly LuaValue[]) {
    this.run = run
    this.values = values
  }

  type(position: number): LuaTypeName {
    return typeName(this.values[position - 1])
  }

  value(position: number): LuaValue {
    return this.values[position - 1]
  }

  isEmptyTable(position: number): boolean {
    const value = this.values[position - 1]
    return value instanceof LuaTable && value.isEmpty()
  }

  /** A table as JSON. Throws a LuaError when it is not a table, or has no JSON form. */
  json(position: number, options: EncodeOptions): unknown {
    const value = this.values[position - 1]
    if (!(value instanceof LuaTable)) throw new LuaError(`expect the returned requires type is table but got ${typeName(value)}`)
    try {
      return toJson(this.run, value, options)
    } catch (error) {
      throw limitOf(error)
    }
  }

  /** One field of a result that is a table, as a result of its own. */
  field(position: number, key: string): Results {
    const value = this.values[position - 1]
    return new Results(this.run, [value instanceof LuaTable ? value.get(key) : undefined])
  }
}

export class Script {
  readonly functionName: string
  private readonly compiled: CompiledScript

  /** Throws a LuaSyntaxError when the source cannot be compiled. */
  constructor(source: string, functionName: string) {
    this.functionName = functionName
    this.compiled = compile(source, functionName, libraries)
  }

  /** Whether the script assigns its function at all; one that does not cannot be called. */
  get namesItsFunction(): boolean {
    return this.compiled.namesWanted
  }

  /** Calls the function with JSON arguments. Throws a LuaError or a LuaLimitError. */
  call(args: readonly unknown[], options: CallOptions): Results {
    const run = new Run(options.limits ?? DEFAULT_LIMITS, this.compiled.sites, stringLibrary, options.now)
    run.hasStrayBytes = this.compiled.hasStrayBytes
    run.usesPriorityClass = options.priorityClassName !== false
    try {
      const target = this.compiled.load(run, new CallGlobals(run))
      if (typeof target !== 'function') throw this.noFunction(target)
      return new Results(run, listOf(target(run, -1, ...args.map(fromJson))))
    } catch (error) {
      throw limitOf(error)
    }
  }

  private noFunction(found: LuaValue): LuaError {
    const { functionName } = this
    return new LuaError(
      found === undefined ? `not found function ${functionName}` : `${functionName} is not a function: ${typeName(found)}`,
    )
  }
}

/** Calls and results with very many values can exhaust the JavaScript stack before a budget. */
const limitOf = (error: unknown): unknown => (error instanceof RangeError ? new LuaLimitError('stack overflow') : error)
