/**
 * The named fields of a table, in the order of insertion. A call makes dozens of tables, most of them small: two lists that
 * are searched cost far less to make than a map, and are as fast to read. Larger ones also keep an index. A field that is
 * set to nil leaves its place empty, so that fields may be removed during a walk, and returns to that place when set again.
 */
import type { LuaValue } from './values.ts'

/** What tables created at one place of a script have in common: shared until one of them gets another key. */
export interface Shape {
  readonly keys: readonly LuaValue[]
  readonly index: ReadonlyMap<LuaValue, number> | undefined
}

/** From this number on, searching the keys is slower than a map. */
const INDEXED_FROM = 9

/** Empty places are reclaimed when there are more of them than this, and more than fields. */
const MANY_EMPTY_PLACES = 16

export function shapeOf(keys: readonly LuaValue[]): Shape {
  return { keys, index: keys.length < INDEXED_FROM ? undefined : new Map(keys.map((key, i) => [key, i])) }
}

export class Fields {
  private keys: LuaValue[]
  private values: LuaValue[]
  private index: Map<LuaValue, number> | undefined
  private ownsKeys: boolean
  /** How many fields there are; empty places do not count. */
  size: number

  private constructor(keys: LuaValue[], values: LuaValue[], index: Map<LuaValue, number> | undefined, ownsKeys: boolean, size: number) {
    this.keys = keys
    this.values = values
    this.index = index
    this.ownsKeys = ownsKeys
    this.size = size
  }

  static empty(): Fields {
    return new Fields([], [], undefined, true, 0)
  }

  /** Takes ownership of the values: one for each key, nil for a field that is absent. */
  static withShape(shape: Shape, values: LuaValue[]): Fields {
    let size = 0
    for (let i = 0; i < values.length; i++) if (values[i] !== undefined) size++
    return new Fields(shape.keys as LuaValue[], values, shape.index as Map<LuaValue, number> | undefined, false, size)
  }

  static of(entries: Iterable<readonly [LuaValue, LuaValue]>): Fields {
    const fields = Fields.empty()
    for (const [key, value] of entries) fields.set(key, value)
    return fields
  }

  private placeOf(key: LuaValue): number {
    if (this.index !== undefined) return this.index.get(key) ?? -1
    const { keys } = this
    for (let i = 0; i < keys.length; i++) if (keys[i] === key) return i
    return -1
  }

  get(key: LuaValue): LuaValue {
    const place = this.placeOf(key)
    return place < 0 ? undefined : this.values[place]
  }

  /** Whether the field is a new one. The value is not nil. */
  set(key: LuaValue, value: LuaValue): boolean {
    const place = this.placeOf(key)
    if (place >= 0) {
      const isNew = this.values[place] === undefined
      this.values[place] = value
      if (isNew) this.size++
      return isNew
    }
    this.add(key, value)
    return true
  }

  /** Adds a key that is known to be new. */
  add(key: LuaValue, value: LuaValue): void {
    if (!this.ownsKeys) this.copyKeys()
    if (this.keys.length - this.size > MANY_EMPTY_PLACES && this.keys.length > 2 * this.size) this.compact()
    this.keys.push(key)
    this.values.push(value)
    this.size++
    if (this.index !== undefined) this.index.set(key, this.keys.length - 1)
    else if (this.keys.length >= INDEXED_FROM) this.index = new Map(this.keys.map((known, i) => [known, i]))
  }

  remove(key: LuaValue): void {
    const place = this.placeOf(key)
    if (place < 0 || this.values[place] === undefined) return
    this.values[place] = undefined
    this.size--
  }

  /** How many places a walk visits. */
  get places(): number {
    return this.keys.length
  }

  keyAt(place: number): LuaValue {
    return this.keys[place]
  }

  /** Nil when the place is empty. */
  valueAt(place: number): LuaValue {
    return this.values[place]
  }

  /** The place after a key, where a walk continues; 0 when the key was never there. */
  placeAfter(key: LuaValue): number {
    return this.placeOf(key) + 1
  }

  private copyKeys(): void {
    this.keys = this.keys.slice()
    if (this.index !== undefined) this.index = new Map(this.index)
    this.ownsKeys = true
  }

  private compact(): void {
    const kept = this.keys.flatMap((key, i) => (this.values[i] === undefined ? [] : [[key, this.values[i]] as const]))
    this.keys = kept.map(([key]) => key)
    this.values = kept.map(([, value]) => value)
    this.index = this.keys.length < INDEXED_FROM ? undefined : new Map(this.keys.map((key, i) => [key, i]))
  }
}
