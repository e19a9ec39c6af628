/**
 * metadata.managedFields in a form to compute with: who owns which set, since when, in which version. Entries that were
 * read from a stored object are decoded when they are needed and given back as they are when nothing changed.
 */
import { isJsonObject } from '../../base/json.ts'
import { compareStrings, goQuote } from '../go-print.ts'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from '../meta.ts'
import type { FieldSet } from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.ts'
import { goJson } from './go-text.ts'
import { ShapeError } from './shape-error.ts'

/** What distinguishes entries. An applier has one entry whatever version it applies in; an updater has one per version. */
export interface ManagerInfo {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
}

export function managerId({ manager, operation, apiVersion, subresource }: ManagerInfo): string {
  const parts = [`{"manager":${goJson(manager)},"operation":"${operation}"`]
  if (manager === '') parts[0] = `{"operation":"${operation}"`
  if (operation === 'Update') parts.push(`"apiVersion":${goJson(apiVersion)}`)
  if (subresource !== '') parts.push(`"subresource":${goJson(subresource)}`)
  return `${parts.join(',')}}`
}

/** One manager's ownership. Immutable: replaced rather than changed. */
export class Ownership {
  readonly info: ManagerInfo
  readonly time: string | undefined
  readonly #entry: ManagedFieldsEntry | undefined
  #set: FieldSet | undefined

  constructor(info: ManagerInfo, time: string | undefined, from: { set: FieldSet } | { entry: ManagedFieldsEntry }) {
    this.info = info
    this.time = time
    if ('set' in from) this.#set = from.set
    else this.#entry = from.entry
  }

  get set(): FieldSet {
    this.#set ??= decodeFieldsV1(this.#entry?.fieldsV1, true)
    return this.#set
  }

  /** The encoded set, if there is one that can be queried without decoding. */
  get encoded(): Readonly<Record<string, unknown>> | undefined {
    return this.#entry?.fieldsV1 ?? undefined
  }

  with(change: { set?: FieldSet; time?: string | undefined; info?: ManagerInfo }): Ownership {
    const set = change.set ?? this.set
    return new Ownership(change.info ?? this.info, 'time' in change ? change.time : this.time, { set })
  }

  /** The same ownership at another time. */
  renewed(time: string): Ownership {
    return this.#entry === undefined ? this.with({ time }) : new Ownership(this.info, time, { entry: { ...this.#entry, time } })
  }

  encode(): ManagedFieldsEntry {
    if (this.#entry !== undefined) return this.#entry
    const { manager, operation, apiVersion, subresource } = this.info
    const entry: ManagedFieldsEntry = { manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1: encodeFieldsV1(this.set) }
    if (manager === '') delete entry.manager
    if (this.time !== undefined) entry.time = this.time
    if (subresource !== '') entry.subresource = subresource
    return entry
  }
}

export type Managed = Map<string, Ownership>

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Throws ShapeError when an entry cannot be used. `trusted` entries were written by this module: their sets are
 * canonical and are not read until needed.
 */
export function decodeManaged(entries: readonly ManagedFieldsEntry[], trusted: boolean): Managed {
  const managed: Managed = new Map()
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]
    if (entry === undefined) continue
    const info = infoOf(entry, i)
    const time = textOf(entry.time) || undefined
    managed.set(managerId(info), new Ownership(info, time, trusted ? { entry } : { set: decodeFieldsV1(entry.fieldsV1) }))
  }
  return managed
}

function infoOf(entry: ManagedFieldsEntry, index: number): ManagerInfo {
  const operation = entry.operation
  if (operation !== 'Apply' && operation !== 'Update') throw new ShapeError('operation must be `Apply` or `Update`')
  const apiVersion = textOf(entry.apiVersion)
  if (apiVersion === '') throw new ShapeError('apiVersion must not be empty')
  const fieldsType: string = textOf(entry.fieldsType)
  if (fieldsType === '') throw new ShapeError(`missing fieldsType in managed fields entry ${index}`)
  if (fieldsType !== 'FieldsV1') throw new ShapeError(`invalid fieldsType ${goQuote(fieldsType)} in managed fields entry ${index}`)
  return { manager: textOf(entry.manager), operation, apiVersion, subresource: textOf(entry.subresource) }
}

/** The entries of an object; undefined, as if absent, for anything that is not a list of entries. */
export function entriesOf(object: KubeObject | undefined): readonly ManagedFieldsEntry[] | undefined {
  const entries: unknown = isJsonObject(object?.metadata) ? object?.metadata.managedFields : undefined
  return Array.isArray(entries) && entries.every(isEntry) ? entries : undefined
}

function isEntry(value: unknown): value is ManagedFieldsEntry {
  if (!isJsonObject(value)) return false
  for (const key of ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'subresource']) {
    const field = value[key]
    if (field !== undefined && field !== null && typeof field !== 'string') return false
  }
  return true
}

/** An empty list, or one empty entry: how a client asks to clear all managed fields. */
export function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  if (entries.length === 0) return true
  return entries.length === 1 && Object.values(entries[0] ?? {}).every((value) => value === undefined || value === null || value === '')
}

/** The entries to store, oldest first among those of one operation; undefined when nobody owns anything. */
export function encodeManaged(managed: Managed): ManagedFieldsEntry[] | undefined {
  if (managed.size === 0) return undefined
  const owners = [...managed.values()]
  if (owners.length > 1) owners.sort(compareOwners)
  return owners.map((owner) => owner.encode())
}

/** Times are whole seconds in UTC, so their texts sort chronologically; an absent time is the oldest. */
export function compareTimes(a: string | undefined, b: string | undefined): number {
  return compareStrings(a ?? '', b ?? '')
}

function compareOwners(a: Ownership, b: Ownership): number {
  return (
    compareStrings(a.info.operation, b.info.operation) ||
    compareTimes(a.time, b.time) ||
    compareStrings(a.info.manager, b.info.manager) ||
    compareStrings(a.info.apiVersion, b.info.apiVersion) ||
    compareStrings(a.info.subresource, b.info.subresource)
  )
}

/** A copy of the object with these managed fields in its metadata, and nothing else changed. */
export function withManagedFields(object: KubeObject, entries: ManagedFieldsEntry[] | undefined): KubeObject {
  if (entries !== undefined) return { ...object, metadata: { ...object.metadata, managedFields: entries } }
  if (!isJsonObject(object.metadata) || !Object.hasOwn(object.metadata, 'managedFields')) return object
  const { managedFields: _dropped, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** The object without managed fields, for computation: an undefined key counts as absent there, and is cheaper. */
export function bare(object: KubeObject): KubeObject {
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object
  return { ...object, metadata: { ...(object.metadata as ObjectMeta), managedFields: undefined } as ObjectMeta }
}
