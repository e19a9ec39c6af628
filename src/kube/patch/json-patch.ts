/**
 * JSON patch (RFC 6902) as the real server applies it. It deviates from the standard where its library does: `replace`
 * of an absent key adds it, negative indexes count from the end, and a null counts as absent on the way to a path.
 * The document is never changed: containers on a path become drafts, everything else is shared with the result.
 */
import { deepEqual, isJsonObject, type Json, type JsonObject, setOwn } from '../../base/json.ts'
import { byteLength, compareStrings, goJson } from '../go-print.ts'
import { failure } from '../status.ts'
import type { JsonPatch } from './decode.ts'

/** What all `copy` operations together may add, so that a document cannot be doubled over and over. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024

type Node = Json | undefined | ObjectDraft | ListDraft
type ObjectDraft = Map<string, Node>
class ListDraft {
  items: Node[]
  constructor(items: Node[]) {
    this.items = items
  }
}
type Draft = ObjectDraft | ListDraft

/** The server does not disclose why an operation failed; the reason is kept here as the error's cause. */
class OperationFailed extends Error {}

const fail = (message: string): never => {
  throw new OperationFailed(message)
}

/** Throws a 422 StatusError when an operation does not apply. Objects that were touched have their keys sorted. */
export function applyJsonPatch(document: unknown, patch: JsonPatch): Json {
  const state: State = { root: draftOf(document as Json) ?? fail('the document is no object'), copiedBytes: 0 }
  try {
    for (const operation of patch.operations) applyOperation(state, operation)
  } catch (error) {
    if (!(error instanceof OperationFailed)) throw error
    throw Object.assign(failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {}), { cause: error })
  }
  return settle(state.root)
}

interface State {
  root: Draft
  copiedBytes: number
}

function applyOperation(state: State, operation: JsonObject): void {
  const kind = ownText(operation, 'op')
  const apply = OPERATIONS.get(kind ?? '') ?? fail(`Unexpected kind: ${kind ?? 'unknown'}`)
  apply(state, operation)
}

const OPERATIONS: ReadonlyMap<string, (state: State, operation: JsonObject) => void> = new Map([
  ['add', add],
  ['remove', removeAt],
  ['replace', replace],
  ['move', move],
  ['copy', copy],
  ['test', test],
])

function add(state: State, operation: JsonObject): void {
  const { parent, key } = locate(state.root, pathOf(operation))
  insert(parent, key, operand(operation))
}

function removeAt(state: State, operation: JsonObject): void {
  const { parent, key } = locate(state.root, pathOf(operation))
  remove(parent, key)
}

function replace(state: State, operation: JsonObject): void {
  const path = pathOf(operation)
  if (path === '') {
    state.root = draftOf(operand(operation)) ?? fail('replace operation value must be object or array')
    return
  }
  const { parent, key } = locate(state.root, path)
  if (parent instanceof ListDraft) parent.items[existingIndex(parent, key)] = operand(operation)
  else parent.set(key, operand(operation))
}

function move(state: State, operation: JsonObject): void {
  const { parent, key } = locate(state.root, fromOf(operation))
  const value = lookUp(parent, key)
  remove(parent, key)
  const target = locate(state.root, pathOf(operation))
  insert(target.parent, target.key, value)
}

function copy(state: State, operation: JsonObject): void {
  const source = locate(state.root, fromOf(operation))
  const value = settle(lookUp(source.parent, source.key) ?? null)
  const target = locate(state.root, pathOf(operation))
  state.copiedBytes += byteLength(goJson(value))
  if (state.copiedBytes > MAX_COPIED_BYTES) fail(`the accumulated size increase of copy is ${state.copiedBytes}`)
  insert(target.parent, target.key, value)
}

function test(state: State, operation: JsonObject): void {
  const path = pathOf(operation)
  const wanted = operand(operation)
  let actual: Node = state.root
  if (path !== '') {
    const { parent, key } = locate(state.root, path)
    actual = lookUp(parent, key)
  }
  if (!deepEqual(settle(actual ?? null), wanted)) fail(`testing value ${path} failed: test failed`)
}

/** Walks to the container that holds the last part of the path, turning every container on the way into a draft. */
function locate(root: Draft, path: string): { parent: Draft; key: string } {
  const parts = path.split('/')
  if (parts.length < 2) fail(`doc is missing path: "${path}"`)
  let parent = root
  for (const part of parts.slice(1, -1)) {
    const key = unescapePart(part)
    const position = parent instanceof ListDraft ? existingIndex(parent, key) : key
    const next = draftOf(lookUp(parent, key)) ?? fail(`doc is missing path: "${path}"`)
    if (parent instanceof ListDraft) parent.items[Number(position)] = next
    else parent.set(key, next)
    parent = next
  }
  return { parent, key: unescapePart(parts[parts.length - 1] ?? '') }
}

const unescapePart = (part: string): string => part.replace(/~[01]/g, (code) => (code === '~1' ? '/' : '~'))

const lookUp = (parent: Draft, key: string): Node =>
  parent instanceof ListDraft ? parent.items[existingIndex(parent, key)] : parent.get(key)

function insert(parent: Draft, key: string, value: Node): void {
  if (!(parent instanceof ListDraft)) parent.set(key, value)
  else if (key === '-') parent.items.push(value)
  else parent.items.splice(indexWithin(key, parent.items.length + 1), 0, value)
}

function remove(parent: Draft, key: string): void {
  if (parent instanceof ListDraft) parent.items.splice(existingIndex(parent, key), 1)
  else if (!parent.delete(key)) fail(`Unable to remove nonexistent key: ${key}`)
}

const existingIndex = (list: ListDraft, key: string): number => indexWithin(key, list.items.length)

function indexWithin(key: string, length: number): number {
  const index = /^[+-]?[0-9]{1,15}$/.test(key) ? Number(key) : fail(`value was not a proper array index: '${key}'`)
  const positive = index < 0 ? index + length : index
  return positive >= 0 && positive < length ? positive : fail(`Unable to access invalid index: ${index}`)
}

const pathOf = (operation: JsonObject): string => ownText(operation, 'path') ?? fail('operation missing path field')
const fromOf = (operation: JsonObject): string => ownText(operation, 'from') ?? fail('operation, missing from field')

/** An absent value is a null one. */
const operand = (operation: JsonObject): Json => (Object.hasOwn(operation, 'value') ? (operation.value ?? null) : null)

function ownText(operation: JsonObject, field: string): string | undefined {
  const value = Object.hasOwn(operation, field) ? operation[field] : undefined
  return typeof value === 'string' ? value : undefined
}

function draftOf(value: Node): Draft | undefined {
  if (value instanceof Map || value instanceof ListDraft) return value
  if (Array.isArray(value)) return new ListDraft([...value])
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined
}

/** Drafts become plain values again, with sorted keys, as the library writes them. */
function settle(node: Node): Json {
  if (node instanceof ListDraft) return node.items.map((item) => settle(item ?? null))
  if (!(node instanceof Map)) return node ?? null
  const object: JsonObject = {}
  const keys = [...node.keys()].sort(compareStrings)
  for (const key of keys) {
    const value = node.get(key)
    if (value !== undefined) setOwn(object, key, settle(value))
  }
  return object
}
