/**
 * JSON into Lua and back. On the way in nothing is copied. On the way out an empty table is ambiguous, list or struct:
 * references, the objects that a result was made from, tell what stands at the same path there (indexes left out); a field
 * that no reference knows is left out. What a script did not touch is given back as it is, the very same value.
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
  /** What the result was made from; the first is the one that it most likely is, with changes. */
  references?: readonly unknown[]
}

export function toJson(run: Run, table: LuaTable, options: EncodeOptions): unknown {
  const encoder = new Encoder(run, options.references ?? [])
  const encoded = encoder.encode(table, undefined, options.references?.[0], 0)
  return encoded === EMPTY ? (options.root === 'struct' ? {} : []) : encoded
}

/** Deeper results are refused, and with them tables that contain themselves. */
const MAX_DEPTH = 200

const EMPTY = Symbol('empty')
const LEFT_OUT = Symbol('left out')

const isContainer = (value: unknown): value is JsonContainer => typeof value === 'object' && value !== null

function memberOf(container: unknown, key: string | number): unknown {
  if (!isContainer(container) || !Object.hasOwn(container, key)) return undefined
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
    const untouched = table.untouched()
    if (untouched !== undefined) return this.encodeSource(untouched.source, untouched.children, path, twin, depth)
    return table.length() > 0 ? this.encodeList(table, path, twin, depth) : this.encodeStruct(table, path, twin, depth)
  }

  private encodeList(table: LuaTable, path: Path | undefined, twin: unknown, depth: number): unknown {
    if (table.hashKeys().length > 0) throw new LuaError('cannot encode mixed or invalid key types')
    const items: unknown[] = []
    for (let i = 1; i <= table.length(); i++) {
      const value = table.get(i)
      if (value === undefined) throw new LuaError('cannot encode sparse array')
      const item = this.encodeValue(value, path, memberOf(twin, i - 1), depth)
      if (item !== LEFT_OUT) items.push(item)
    }
    return items
  }

  private encodeStruct(table: LuaTable, path: Path | undefined, twin: unknown, depth: number): unknown {
    const keys = table.hashKeys()
    if (keys.length === 0) return EMPTY
    const fields: Record<string, unknown> = {}
    for (const key of keys) {
      if (typeof key !== 'string') {
        throw new LuaError(typeof key === 'number' ? 'cannot encode sparse array' : 'cannot encode mixed or invalid key types')
      }
      const value = this.encodeValue(table.get(key), { parent: path, key }, memberOf(twin, key), depth)
      if (value !== LEFT_OUT) setOwn(fields, this.clean(key), value)
    }
    return fields
  }

  private encodeValue(value: LuaValue, path: Path | undefined, twin: unknown, depth: number): unknown {
    this.run.work(1)
    if (typeof value === 'string') return this.clean(value)
    if (value instanceof LuaTable) return this.filled(this.encode(value, path, twin, depth + 1), path)
    if (typeof value === 'function') throw new LuaError('cannot encode function to JSON')
    if (typeof value === 'number' && !Number.isFinite(value)) throw new LuaError(`cannot encode ${value} to JSON`)
    return value
  }

  private clean(text: string): string {
    return this.run.hasStrayBytes ? withoutStrays(text) : text
  }

  /** JSON that the script did not write to. Copied only where something has to change. */
  private encodeSource(
    source: JsonContainer,
    children: ReadonlyMap<LuaValue, LuaValue> | undefined,
    path: Path | undefined,
    twin: unknown,
    depth: number,
  ): unknown {
    if (source === twin) return children === undefined ? source : this.encodeChildren(source, children, path, depth)
    if (Array.isArray(source)) return this.encodeSourceList(source, children, path, twin, depth)
    const fields: Record<string, unknown> = {}
    let isSame = true
    let isEmpty = true
    for (const key of Object.keys(source)) {
      const old = (source as Readonly<Record<string, unknown>>)[key]
      if (old !== null && old !== undefined) isEmpty = false
      const value = this.encodeMember(old, children?.get(key), { parent: path, key }, memberOf(twin, key), depth)
      if (value !== old) isSame = false
      if (value !== LEFT_OUT) setOwn(fields, key, value)
    }
    return isEmpty ? EMPTY : isSame ? source : fields
  }

  private encodeSourceList(
    source: readonly unknown[],
    children: ReadonlyMap<LuaValue, LuaValue> | undefined,
    path: Path | undefined,
    twin: unknown,
    depth: number,
  ): unknown {
    if (source.length === 0) return EMPTY
    const items = source.map((old, i) => this.encodeMember(old, children?.get(i + 1), path, memberOf(twin, i), depth))
    return items.every((item, i) => item === source[i]) ? source : items.filter((item) => item !== LEFT_OUT)
  }

  private encodeMember(old: unknown, child: LuaValue, path: Path | undefined, twin: unknown, depth: number): unknown {
    this.run.work(1)
    if (old === null || old === undefined) return LEFT_OUT
    if (!isContainer(old)) return old
    if (child instanceof LuaTable) return this.filled(this.encode(child, path, twin, depth + 1), path)
    return this.filled(this.encodeSource(old, undefined, path, twin, depth + 1), path)
  }

  /** The object is where it was: only what was read can have changed, and empty fields are known for what they are. */
  private encodeChildren(source: JsonContainer, children: ReadonlyMap<LuaValue, LuaValue>, path: Path | undefined, depth: number): unknown {
    let changed: Record<string | number, unknown> | undefined
    let hasGaps = false
    for (const [name, child] of children) {
      const key = typeof name === 'number' ? name - 1 : String(name)
      const old = memberOf(source, key)
      const value = this.encodeChanged(child as LuaTable, old, typeof key === 'number' ? path : { parent: path, key }, depth)
      if (value === old) continue
      changed ??= (Array.isArray(source) ? [...source] : { ...source }) as Record<string | number, unknown>
      if (value !== LEFT_OUT) setOwn(changed, String(key), value)
      else if (Array.isArray(source)) {
        changed[key] = LEFT_OUT
        hasGaps = true
      } else delete changed[key]
    }
    if (changed === undefined) return source
    return hasGaps ? (changed as unknown as unknown[]).filter((item) => item !== LEFT_OUT) : changed
  }

  private encodeChanged(child: LuaTable, old: unknown, path: Path | undefined, depth: number): unknown {
    this.run.work(1)
    return this.filled(this.encode(child, path, old, depth + 1), path)
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
