/**
 * RFC 6902 as override policies use it (add, remove, replace), strictly: what is removed or replaced must exist. A server's
 * own JSON patch is more lenient and sorts keys; here keys keep their places, because the result may be printed into text
 * that people read. Documents are never modified; the result shares what was not touched.
 */
import { isJsonObject, setOwn } from '../../base/json.ts'
import { goQuote } from '../../kube/go-print.ts'

export interface PatchOperation {
  operator: string
  /** A JSON pointer. */
  path: string
  /** Absent means null. */
  value?: unknown
}

/** Why a patch, or any other overrider, cannot be applied; callers prefix the path to the message. */
export class DoesNotApply extends Error {}

const fail = (message: string): never => {
  throw new DoesNotApply(message)
}

/** Prefixes `what` to the message of a DoesNotApply. */
export function naming<T>(what: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof DoesNotApply) throw new DoesNotApply(`${what}: ${error.message}`)
    throw error
  }
}

/** Throws DoesNotApply, which names the operation and its path. */
export function applyPatch(document: unknown, operations: readonly PatchOperation[]): unknown {
  let current = document
  for (const operation of operations) {
    current = naming(`${operation.operator} ${goQuote(operation.path)}`, () => apply(current, operation))
  }
  return current
}

/** The value at a pointer. Throws DoesNotApply if there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  return naming(goQuote(pointer), () => keysOf(pointer).reduce(existing, document))
}

function apply(document: unknown, { operator, path, value = null }: PatchOperation): unknown {
  const act = ACTIONS.get(operator) ?? fail('there is no such operator; there are add, remove and replace')
  const keys = keysOf(path)
  if (keys.length > 0) return changed(document, keys, (container, key) => act(container, key, value))
  if (operator === 'remove') fail('the whole cannot be removed')
  return isContainer(value) ? value : fail('the whole can only become an object or a list')
}

type Action = (container: unknown, key: string, value: unknown) => unknown

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['add', add],
  ['remove', remove],
  ['replace', replace],
])

/** Objects that must keep the order of their keys are Maps. */
const isKeyed = (value: unknown): boolean => value instanceof Map || isJsonObject(value)
const isContainer = (value: unknown): boolean => Array.isArray(value) || isKeyed(value)

function keysOf(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) fail('a path begins with a slash')
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replace(/~[01]/g, (code) => (code === '~1' ? '/' : '~')))
}

function changed(node: unknown, [key = '', ...rest]: readonly string[], act: (container: unknown, key: string) => unknown): unknown {
  if (rest.length === 0) return act(node, key)
  return withEntry(node, key, changed(existing(node, key), rest, act))
}

function existing(container: unknown, key: string): unknown {
  if (Array.isArray(container)) return container[indexWithin(key, container.length)]
  if (container instanceof Map) return container.has(key) ? container.get(key) : fail(`there is no ${goQuote(key)}`)
  if (!isJsonObject(container)) return fail(`${goQuote(key)} is looked for in what is neither an object nor a list`)
  return Object.hasOwn(container, key) ? container[key] : fail(`there is no ${goQuote(key)}`)
}

/** A copy in which an existing entry, or a new key of an object, has the value. */
function withEntry(container: unknown, key: string, value: unknown): unknown {
  if (Array.isArray(container)) return container.with(indexWithin(key, container.length), value)
  if (container instanceof Map) return new Map(container).set(key, value)
  const copy = { ...(container as object) }
  setOwn(copy, key, value)
  return copy
}

function add(container: unknown, key: string, value: unknown): unknown {
  if (Array.isArray(container)) {
    const index = key === '-' ? container.length : indexWithin(key, container.length + 1)
    return container.toSpliced(index, 0, value)
  }
  return isKeyed(container)
    ? withEntry(container, key, value)
    : fail(`${goQuote(key)} cannot be added to what is neither an object nor a list`)
}

function replace(container: unknown, key: string, value: unknown): unknown {
  existing(container, key)
  return withEntry(container, key, value)
}

function remove(container: unknown, key: string): unknown {
  existing(container, key)
  if (Array.isArray(container)) return container.toSpliced(indexWithin(key, container.length), 1)
  if (container instanceof Map) return new Map([...container].filter(([name]) => name !== key))
  return Object.fromEntries(Object.entries(container as object).filter(([name]) => name !== key))
}

/** Negative indexes count from the end, as in Karmada. */
function indexWithin(key: string, length: number): number {
  if (!/^[+-]?[0-9]{1,9}$/.test(key)) return fail(`${goQuote(key)} is no index of a list`)
  const index = Number(key) < 0 ? Number(key) + length : Number(key)
  return index >= 0 && index < length ? index : fail(`a list has no index ${key}`)
}
