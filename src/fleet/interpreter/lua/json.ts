/**
 * JSON into Lua and back. On the way in nothing is copied. On the way out an empty table is ambiguous, list or struct:
 * references, the objects that a result was made from, show what is at the same path there (ignoring indexes); a field that
 * no reference has is left out. What a script did not touch is returned as the identical value.
 */
import { setOwn } from '../../../base/json.ts'
import { type Empties, emptiesOf, type Path, pathText } from './empty-fields.ts'
import { LuaError } from './errors.ts'
import type { Run } from './run.ts'
import { type JsonContainer, LuaTable } from './table.ts'
import { withoutStrays } from './text.ts'
import type { LuaValue } from './values.ts'

export function fromJson(value: unknown): LuaValue {
  if (value === null || value === undefined) return undefined
  return typeof value === 'object' ? new LuaTable(value as JsonContainer) : (value as LuaValue)
}

export interface EncodeOptions {
  /** What an empty result is. */
  root: 'struct' | 'list'
  /** What the result was made from; the first is the one that it most likely is a changed version of. */
  references?: readonly unknown[]
}

export function toJson(run: Run, table: LuaTable, options: EncodeOptions): unknown {
  const encoder = new Encoder(run, options.references ?? [])
  const encoded = encoder.encode(table, undefined, options.references?.[0], 0)
  return encoded === EMPTY ? (options.root === 'struct' ? {} : []) : encoded
}

/** Deeper results are refused, which includes tables that contain themselves. */
const MAX_DEPTH = 200

const EMPTY = Symbol('empty')
const LEFT_OUT = Symbol('left out')

const isContainer = (value: unknown): value is JsonContainer => typeof value === 'object' && value !== null

function memberOf(container: unknown, key: string | number): unknown {
  if (container === undefined || !isContainer(container) || !Object.hasOwn(container, key)) return undefined
  return (container as Readonly<Record<string, unknown>>)[key]
}

class Encoder {
  private empties: Empties | undefined
  private readonly run: Run
  private readonly references: readonly unknown[]

  constructor(run: Run, references: readonly unknown[]) {
    this.run = run
    this.references = references
  }

  /** `twin` is what the first reference has at this place. */
  encode(table: LuaTable, path: Path | undefined, twin: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) throw new LuaError('cannot encode recursively nested tables to JSON')
    const source = table.untouched()
    if (source !== undefined) return this.encodeSource(source, table.hasReadChildren() ? table : undefined, path, twin, depth)
    return table.length() > 0 ? this.encodeList(table, path, twin, depth) : this.encodeStruct(table, path, twin, depth)
  }

  /** Paths are only needed to look up references. */
  private below(path: Path | undefined, key: string): Path | undefined {
    return this.references.length === 0 ? undefined : { parent: path, key }
  }

  private encodeList(table: LuaTable, path: Path | undefined, twin: unknown, depth: number): unknown {
    if ((table.fields()?.size ?? 0) > 0) throw new LuaError('cannot encode mixed or invalid key types')
    const items: unknown[] = []
    const length = table.length()
    for (let i = 1; i <= length; i++) {
      const value = table.get(i)
      if (value === undefined) throw new LuaError('cannot encode sparse array')
      const item = this.encodeValue(value, path, memberOf(twin, i - 1), depth)
      if (item !== LEFT_OUT) items.push(item)
    }
    return items
  }

  private encodeStruct(table: LuaTable, path: Path | undefined, twin: unknown, depth: number): unknown {
    const list = table.fields()
    if (list === undefined || list.size === 0) return EMPTY
    const fields: Record<string, unknown> = {}
    for (let place = 0; place < list.places; place++) {
      const item = list.valueAt(place)
      if (item === undefined) continue
      const key = list.keyAt(place)
      if (typeof key !== 'string') {
        throw new LuaError(typeof key === 'number' ? 'cannot encode sparse array' : 'cannot encode mixed or invalid key types')
      }
      const value = this.encodeValue(item, this.below(path, key), memberOf(twin, key), depth)
      if (value !== LEFT_OUT) setOwn(fields, this.clean(key), value)
    }
    return fields
  }

  private encodeValue(value: LuaValue, path: Path | undefined, twin: unknown, depth: number): unknown {
    this.run.work(1)
    if (typeof value === 'string') {
      // A text may be in the result many times, and is written out each time.
      this.run.make(value.length)
      return this.clean(value)
    }
    if (value instanceof LuaTable) return this.filled(this.encode(value, path, twin, depth + 1), path)
    if (typeof value === 'function') throw new LuaError('cannot encode function to JSON')
    if (typeof value === 'number' && !Number.isFinite(value)) throw new LuaError(`cannot encode ${value} to JSON`)
    return value
  }

  private clean(text: string): string {
    return this.run.hasStrayBytes ? withoutStrays(text) : text
  }

  /**
   * JSON that the script did not write to; `owner` is its table, if any of its children was read. If the first reference
   * has the identical value at this place, only children that were read can have changed.
   */
  private encodeSource(source: JsonContainer, owner: LuaTable | undefined, path: Path | undefined, twin: unknown, depth: number): unknown {
    const isInPlace = source === twin
    if (isInPlace && owner === undefined) return source
    return Array.isArray(source)
      ? this.encodeSourceList(source, owner, path, isInPlace ? source : twin, isInPlace, depth)
      : this.encodeSourceStruct(source as Readonly<Record<string, unknown>>, owner, path, isInPlace ? source : twin, isInPlace, depth)
  }

  /** Copied only when the first difference is found. */
  private encodeSourceStruct(
    source: Readonly<Record<string, unknown>>,
    owner: LuaTable | undefined,
    path: Path | undefined,
    twin: unknown,
    isInPlace: boolean,
    depth: number,
  ): unknown {
    const keys = Object.keys(source)
    let copy: Record<string, unknown> | undefined
    let isEmpty = !isInPlace
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const old = source[key]
      if (old !== null && old !== undefined) isEmpty = false
      const value = this.encodeMember(old, owner?.readChild(key), path, key, twin, isInPlace, depth)
      if (copy === undefined && value !== old) copy = fieldsBefore(source, keys, i)
      if (copy !== undefined && value !== LEFT_OUT) setOwn(copy, key, value)
    }
    return isEmpty ? EMPTY : (copy ?? source)
  }

  private encodeSourceList(
    source: readonly unknown[],
    owner: LuaTable | undefined,
    path: Path | undefined,
    twin: unknown,
    isInPlace: boolean,
    depth: number,
  ): unknown {
    if (source.length === 0 && !isInPlace) return EMPTY
    let copy: unknown[] | undefined
    for (let i = 0; i < source.length; i++) {
      const value = this.encodeMember(source[i], owner?.readChild(i), path, i, twin, isInPlace, depth)
      if (copy === undefined && value !== source[i]) copy = source.slice(0, i)
      if (copy !== undefined && value !== LEFT_OUT) copy.push(value)
    }
    return copy ?? source
  }

  private encodeMember(
    old: unknown,
    child: LuaTable | undefined,
    path: Path | undefined,
    key: string | number,
    twin: unknown,
    isInPlace: boolean,
    depth: number,
  ): unknown {
    if (isInPlace && child === undefined) return old
    this.run.work(1)
    if (typeof old === 'string') this.run.make(old.length)
    if (typeof old !== 'object') return old === undefined ? LEFT_OUT : old
    if (old === null) return LEFT_OUT
    const at = typeof key === 'number' ? path : this.below(path, key)
    const other = memberOf(twin, key)
    if (child !== undefined) return this.filled(this.encode(child, at, other, depth + 1), at)
    return this.filled(this.encodeSource(old as JsonContainer, undefined, at, other, depth + 1), at)
  }

  /** What an empty table at this path is. */
  private filled(value: unknown, path: Path | undefined): unknown {
    if (value !== EMPTY) return value
    if (this.references.length === 0) return LEFT_OUT
    this.empties ??= emptiesOf(this.references)
    const text = pathText(path)
    return this.empties.structs.has(text) ? {} : this.empties.lists.has(text) ? [] : LEFT_OUT
  }
}

/** A copy of the first fields, for the caller to continue. */
function fieldsBefore(source: Readonly<Record<string, unknown>>, keys: readonly string[], count: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (let i = 0; i < count; i++) setOwn(copy, keys[i] as string, source[keys[i] as string])
  return copy
}
