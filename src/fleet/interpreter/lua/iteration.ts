/** How `for … in` advances: over a table without a call per iteration for `pairs` and `ipairs`, with calls otherwise. */
import { callable } from './operators.ts'
import type { Run } from './run.ts'
import { LuaTable } from './table.ts'
import { type LuaFunction, type LuaResult, type LuaValue, listOf, typeName } from './values.ts'

/** After `advance` returned true, `key` and `value` are the first two loop variables, and `rest` the remaining ones. */
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
  private isBehindList = false
  /** The names of a JSON object when the walk began: the table may be written to meanwhile. */
  private names: readonly string[] | undefined
  private readonly table: LuaTable

  constructor(table: LuaTable) {
    this.table = table
  }

  advance(run: Run): boolean {
    if (!this.isBehindList) {
      if (this.counted(run, () => this.advanceInList())) return true
      this.isBehindList = true
      this.position = 0
      if (this.table.untouched() !== undefined) {
        this.names = this.table.jsonKeys()
        run.work(this.names.length >> 3)
      }
    }
    const { names } = this
    return this.counted(run, () => (names === undefined ? this.advanceInFields() : this.advanceInNames(names)))
  }

  /** What is empty is skipped, and there may be much of it. */
  private counted(run: Run, advance: () => boolean): boolean {
    const from = this.position
    const isThere = advance()
    run.work((this.position - from) >> 3)
    return isThere
  }

  private advanceInNames(names: readonly string[]): boolean {
    while (this.position < names.length) {
      const key = names[this.position++] as string
      const value = this.table.getField(key)
      if (value === undefined) continue
      this.key = key
      this.value = value
      return true
    }
    return false
  }

  private advanceInFields(): boolean {
    const fields = this.table.fields()
    if (fields === undefined) return false
    while (this.position < fields.places) {
      const value = fields.valueAt(this.position++)
      if (value === undefined) continue
      this.key = fields.keyAt(this.position - 1)
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

/** Over the three values after `in`. */
export function overCalls(run: Run, values: readonly LuaValue[], site: number): Cursor {
  const [iterator, state, control] = values
  if (iterator === next && state instanceof LuaTable && control === undefined) return new PairsCursor(state)
  if (iterator === nextIndex && state instanceof LuaTable && control === 0) return new IpairsCursor(state)
  return new CallCursor(callable(run, iterator, site), state, control, site)
}

function tableFor(run: Run, name: string, value: LuaValue, site: number): LuaTable {
  return value instanceof LuaTable ? value : run.fail(site, `bad argument #1 to '${name}' (table expected, got ${typeName(value)})`)
}

/** `next(table, key)`: each call searches for the key again, as a table keeps no positions; the work is counted. */
export const next: LuaFunction = (run, site, ...args) => {
  const table = tableFor(run, 'next', args[0], site)
  const key = args[1]
  const length = table.length()
  let position = 0
  if (key !== undefined) {
    if (typeof key === 'number' && key >= 1 && key <= length && Number.isInteger(key)) position = key
    else return nextInHash(run, table, key, site)
  }
  const from = position
  for (; position < length; position++) {
    const value = table.get(position + 1)
    if (value === undefined) continue
    run.work((position - from) >> 3)
    return [position + 1, value]
  }
  run.work((position - from) >> 3)
  return firstFrom(run, table, 0)
}

function nextInHash(run: Run, table: LuaTable, key: LuaValue, site: number): LuaResult {
  const names = table.jsonKeys()
  run.work(names.length >> 2)
  const place = table.fields()?.placeAfter(key) ?? names.indexOf(key as string) + 1
  return place === 0 ? run.fail(site, "invalid key to 'next'") : firstFrom(run, table, place)
}

function firstFrom(run: Run, table: LuaTable, from: number): LuaResult {
  const fields = table.fields()
  const names = table.jsonKeys()
  run.work(names.length >> 2)
  for (let i = from; i < (fields?.places ?? names.length); i++) {
    const key = fields === undefined ? names[i] : fields.keyAt(i)
    const value = table.get(key)
    if (value === undefined) continue
    run.work((i - from) >> 3)
    return [key, value]
  }
  run.work((fields?.places ?? 0) >> 3)
  return undefined
}

/** The iterator that `ipairs` returns. */
export const nextIndex: LuaFunction = (run, site, ...args) => {
  const table = tableFor(run, 'ipairs', args[0], site)
  const following = Number(args[1] ?? 0) + 1
  const value = table.get(following)
  return value === undefined ? undefined : [following, value]
}
