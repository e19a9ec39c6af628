/**
 * Tables. A table over JSON keeps the JSON as it is and wraps a child when it is first read; only the first write copies
 * one level. Most rules read a few fields of a large object, so most of an object is never touched. Keys stay in the order
 * of insertion, which scripts that use `pairs` rely on. Only own properties of JSON are read.
 */
import { Fields, type Shape } from './fields.ts'
import type { Run } from './run.ts'
import type { LuaValue } from './values.ts'

export type JsonContainer = readonly unknown[] | Readonly<Record<string, unknown>>

export class LuaTable {
  /** Fields 1 to n; the last one is never nil. */
  private array: LuaValue[] | undefined
  /** All other fields. */
  private hash: Fields | undefined
  /** The JSON that this table still represents unchanged. */
  private source: JsonContainer | undefined
  /** The children of the JSON that were read: by position for a list, by name for an object. */
  private items: (LuaTable | undefined)[] | undefined
  private names: string[] | undefined
  private members: LuaTable[] | undefined
  /** Where names are, once there are many. */
  private places: Map<string, number> | undefined
  /** The length of the JSON, once it was asked for: a list may end in very many nulls. */
  private border: number | undefined

  constructor(source?: JsonContainer) {
    this.array = undefined
    this.hash = undefined
    this.source = source
    this.items = undefined
    this.names = undefined
    this.members = undefined
    this.places = undefined
    this.border = undefined
  }

  /** A library as a script sees it: the script may change its own copy. */
  static ofLibrary(library: ReadonlyMap<LuaValue, LuaValue>): LuaTable {
    const table = new LuaTable()
    table.hash = Fields.of(library)
    return table
  }

  /** Takes ownership of the list; the caller has accounted for its memory. */
  static ofList(values: LuaValue[]): LuaTable {
    const table = new LuaTable()
    trim(values)
    if (values.length > 0) table.array = values
    return table
  }

  /** Takes ownership of the values, one for each key of the shape; the caller has accounted for their memory. */
  static ofRecord(shape: Shape, values: LuaValue[]): LuaTable {
    const table = new LuaTable()
    table.hash = Fields.withShape(shape, values)
    return table
  }

  get(key: LuaValue): LuaValue {
    const source = this.source
    if (source !== undefined) return this.fromSource(source, key)
    if (typeof key === 'number' && this.array !== undefined && key >= 1 && key <= this.array.length && Number.isInteger(key)) {
      return this.array[key - 1]
    }
    return this.hash === undefined ? undefined : this.hash.get(key)
  }

  /** `get` of a key that is known to be a string. */
  getField(key: string): LuaValue {
    const source = this.source
    if (source !== undefined) return this.fromSource(source, key)
    return this.hash === undefined ? undefined : this.hash.get(key)
  }

  private fromSource(source: JsonContainer, key: LuaValue): LuaValue {
    if (Array.isArray(source)) {
      if (typeof key !== 'number' || !(key >= 1 && key <= source.length && Number.isInteger(key))) return undefined
      const item: unknown = source[key - 1]
      if (typeof item !== 'object') return item as LuaValue
      return item === null ? undefined : this.childAt(source.length, key - 1, item as JsonContainer)
    }
    if (typeof key !== 'string') return undefined
    const value = (source as Readonly<Record<string, unknown>>)[key]
    // Inherited properties of an object are functions, which JSON never holds, and `__proto__`.
    if (typeof value !== 'object') return typeof value === 'function' ? undefined : (value as LuaValue)
    if (value === null || (key === '__proto__' && !Object.hasOwn(source, key))) return undefined
    return this.childOf(key, value as JsonContainer)
  }

  private childAt(length: number, position: number, item: JsonContainer): LuaTable {
    if (this.items === undefined) this.items = new Array<LuaTable | undefined>(length)
    let child = this.items[position]
    if (child === undefined) {
      child = new LuaTable(item)
      this.items[position] = child
    }
    return child
  }

  private childOf(key: string, value: JsonContainer): LuaTable {
    const known = this.childNamed(key)
    if (known !== undefined) return known
    const child = new LuaTable(value)
    if (this.names === undefined) {
      this.names = [key]
      this.members = [child]
    } else {
      this.places?.set(key, this.names.length)
      this.names.push(key)
      this.members?.push(child)
    }
    return child
  }

  /** Few fields of an object hold objects: searching them is faster than a map. */
  private childNamed(key: string): LuaTable | undefined {
    const { names } = this
    if (names === undefined) return undefined
    if (names.length > MANY_NAMES) {
      this.places ??= new Map(names.map((name, i) => [name, i]))
      const place = this.places.get(key)
      return place === undefined ? undefined : this.members?.[place]
    }
    for (let i = 0; i < names.length; i++) if (names[i] === key) return this.members?.[i]
    return undefined
  }

  /** The key must be neither nil nor NaN. */
  set(run: Run, key: LuaValue, value: LuaValue): void {
    if (this.source !== undefined) this.detach(run, this.source)
    if (typeof key === 'number' && this.setInArray(run, key, value)) return
    if (value === undefined) this.hash?.remove(key)
    else {
      if (this.hash === undefined) this.hash = Fields.empty()
      if (this.hash.set(key, value)) run.makeFields(1)
    }
  }

  private setInArray(run: Run, key: number, value: LuaValue): boolean {
    const length = this.array === undefined ? 0 : this.array.length
    if (key >= 1 && key <= length && Number.isInteger(key)) {
      const array = this.array as LuaValue[]
      array[key - 1] = value
      if (value === undefined && key === length) trim(array)
      return true
    }
    if (key !== length + 1 || value === undefined) return false
    run.makeFields(1)
    if (this.array === undefined) this.array = [value]
    else this.array.push(value)
    if (this.hash !== undefined && this.hash.size > 0) this.pullFromHash()
    return true
  }

  /** Moves fields to the list that were set before the ones in front of them. */
  private pullFromHash(): void {
    const array = this.array as LuaValue[]
    const hash = this.hash as Fields
    hash.remove(array.length)
    for (let value = hash.get(array.length + 1); value !== undefined; value = hash.get(array.length + 1)) {
      hash.remove(array.length + 1)
      array.push(value)
    }
  }

  /** Copies one level of the JSON, so that it can be changed. */
  private detach(run: Run, source: JsonContainer): void {
    this.source = undefined
    if (Array.isArray(source)) {
      run.makeFields(source.length)
      const { items } = this
      const values = source.map((value: unknown, i) => luaValueOf(value, items?.[i]))
      trim(values)
      this.array = values
    } else {
      const keys = Object.keys(source)
      run.makeFields(keys.length)
      const hash = Fields.empty()
      for (const key of keys) {
        const value = luaValueOf((source as Readonly<Record<string, unknown>>)[key], this.childNamed(key))
        if (value !== undefined) hash.add(key, value)
      }
      this.hash = hash
    }
    this.items = undefined
    this.names = undefined
    this.members = undefined
    this.places = undefined
    this.border = undefined
  }

  /** A border, as `#` gives it. */
  length(): number {
    if (this.source === undefined) return this.array === undefined ? 0 : this.array.length
    if (!Array.isArray(this.source)) return 0
    if (this.border !== undefined) return this.border
    let length = this.source.length
    while (length > 0 && (this.source[length - 1] === null || this.source[length - 1] === undefined)) length--
    this.border = length
    return length
  }

  isEmpty(): boolean {
    if (this.source !== undefined) return Object.keys(this.source).length === 0
    return (this.array === undefined || this.array.length === 0) && (this.hash === undefined || this.hash.size === 0)
  }

  /** The list part, detached from JSON and open to changes: the table library shifts and sorts it in place. */
  list(run: Run): LuaValue[] {
    if (this.source !== undefined) this.detach(run, this.source)
    if (this.array === undefined) this.array = []
    return this.array
  }

  /** The fields that are not in the list part; none while the table is JSON. */
  fields(): Fields | undefined {
    return this.hash
  }

  /** The names of the fields while the table is a JSON object. */
  jsonKeys(): readonly string[] {
    return this.source === undefined || Array.isArray(this.source) ? NO_KEYS : Object.keys(this.source)
  }

  /** The JSON that this table still represents, apart from changes to children that were read. */
  untouched(): JsonContainer | undefined {
    return this.source
  }

  /** Whether any child of the JSON was read, and so may have changed. */
  hasReadChildren(): boolean {
    return this.items !== undefined || this.names !== undefined
  }

  /** The child at a key of the JSON, if it was read. */
  readChild(key: string | number): LuaTable | undefined {
    return typeof key === 'number' ? this.items?.[key] : this.childNamed(key)
  }

  /** Adds an element to the end of the list. */
  append(run: Run, value: LuaValue): void {
    const { array } = this
    if (array === undefined || value === undefined || (this.hash !== undefined && this.hash.size > 0)) {
      this.set(run, this.length() + 1, value)
      return
    }
    run.makeFields(1)
    array.push(value)
  }
}

const MANY_NAMES = 16

const NO_KEYS: readonly string[] = Object.freeze([])

function luaValueOf(value: unknown, child: LuaTable | undefined): LuaValue {
  if (typeof value !== 'object') return value as LuaValue
  return value === null ? undefined : (child ?? new LuaTable(value as JsonContainer))
}

function trim(values: LuaValue[]): void {
  while (values.length > 0 && values[values.length - 1] === undefined) values.pop()
}
