/** How `for … in` goes forward: over a table without a call per turn when `pairs` or `ipairs` was asked, with calls otherwise. */
import { callable } from './operators.ts'
import type { Run } from './run.ts'
import { LuaTable } from './table.ts'
import { type LuaFunction, type LuaResult, type LuaValue, listOf, typeName } from './values.ts'

/** After `advance` answered true, `key` and `value` are the first two loop variables, and `rest` all of them beyond. */
export interface Cursor {
  key: LuaValue
  value: LuaValue
  rest: readonly LuaValue[]
  advance(run: Run): boolean
}

const NO_REST: readonly LuaValue[] = Object.freeze([])

class PairsCursor implements Cursor {
  key: LuaValue = undefined
  value: LuaValue = undefined
  readonly rest = NO_REST
  private position = 0
  private keys: LuaValue[] | undefined
  private readonly table: LuaTable

  constructor(table: LuaTable) {
    this.table = table
  }

  advance(run: Run): boolean {
    if (this.keys === undefined) {
      if (this.advanceInList()) return true
      this.keys = this.table.hashKeys()
      this.position = 0
      run.work(this.keys.length >> 3)
    }
    while (this.position < this.keys.length) {
      const key = this.keys[this.position++]
      const value = this.table.get(key)
      if (value === undefined) continue
      this.key = key
      this.value = value
      return true
    }
    return false
  }

  private advanceInList(): boolean {
    while (this.position < this.table.length()) {
      const value = this.table.get(++this.position)
      if (value === undefined) continue
      this.key = this.position
      this.value = value
      return true
    }
    return false
  }
}

class IpairsCursor implements Cursor {
  key = 0
  value: LuaValue = undefined
  readonly rest = NO_REST
  private readonly table: LuaTable

  constructor(table: LuaTable) {
    this.table = table
  }

  advance(): boolean {
    this.value = this.table.get(++this.key)
    return this.value !== undefined
  }
}

class CallCursor implements Cursor {
  key: LuaValue
  value: LuaValue = undefined
  rest: readonly LuaValue[] = NO_REST
  private readonly iterator: LuaFunction
  private readonly state: LuaValue
  private readonly site: number

  constructor(iterator: LuaFunction, state: LuaValue, control: LuaValue, site: number) {
    this.iterator = iterator
    this.state = state
    this.key = control
    this.site = site
  }

  advance(run: Run): boolean {
    const results = listOf(this.iterator(run, this.site, this.state, this.key))
    this.key = results[0]
    this.value = results[1]
    this.rest = results.length > 2 ? results.slice(2) : NO_REST
    return this.key !== undefined
  }
}

export function overPairs(run: Run, table: LuaValue, site: number): Cursor {
  return new PairsCursor(tableFor(run, 'pairs', table, site))
}

export function overIpairs(run: Run, table: LuaValue, site: number): Cursor {
  return new IpairsCursor(tableFor(run, 'ipairs', table, site))
}

/** Over the three values that stand after `in`. */
export function overCalls(run: Run, values: readonly LuaValue[], site: number): Cursor {
  const [iterator, state, control] = values
  if (iterator === next && state instanceof LuaTable && control === undefined) return new PairsCursor(state)
  if (iterator === nextIndex && state instanceof LuaTable && control === 0) return new IpairsCursor(state)
  return new CallCursor(callable(run, iterator, site), state, control, site)
}

function tableFor(run: Run, name: string, value: LuaValue, site: number): LuaTable {
  return value instanceof LuaTable ? value : run.fail(site, `bad argument #1 to '${name}' (table expected, got ${typeName(value)})`)
}

/** `next(table, key)`: each call looks for the key again, as a table keeps no positions; the work is counted. */
export const next: LuaFunction = (run, site, ...args) => {
  const table = tableFor(run, 'next', args[0], site)
  const key = args[1]
  const length = table.length()
  let position = 0
  if (key !== undefined) {
    if (typeof key === 'number' && key >= 1 && key <= length && Number.isInteger(key)) position = key
    else return nextInHash(run, table, key, site)
  }
  for (; position < length; position++) {
    const value = table.get(position + 1)
    if (value !== undefined) return [position + 1, value]
  }
  return firstFrom(table, table.hashKeys(), 0)
}

function nextInHash(run: Run, table: LuaTable, key: LuaValue, site: number): LuaResult {
  const keys = table.hashKeys()
  run.work(keys.length >> 2)
  const position = keys.indexOf(key)
  return position < 0 ? run.fail(site, "invalid key to 'next'") : firstFrom(table, keys, position + 1)
}

function firstFrom(table: LuaTable, keys: LuaValue[], from: number): LuaResult {
  for (let i = from; i < keys.length; i++) {
    const value = table.get(keys[i])
    if (value !== undefined) return [keys[i], value]
  }
  return undefined
}

/** The iterator that `ipairs` hands out. */
export const nextIndex: LuaFunction = (run, site, ...args) => {
  const table = tableFor(run, 'ipairs', args[0], site)
  const following = Number(args[1] ?? 0) + 1
  const value = table.get(following)
  return value === undefined ? undefined : [following, value]
}
