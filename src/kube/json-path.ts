/**
 * The JSONPath of printer columns, scale paths and selectable fields, as k8s.io/client-go evaluates it with missing
 * keys allowed: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels['a\.b']`.
 * Compiled once, evaluated often; no expression and no object can make it throw or loop.
 */
import { isJsonObject } from '../base/json.ts'
import { compareStrings, goJson, goPrint } from './go-print.ts'
import { type JsonPathNode, JsonPathSyntax, parseNodes } from './json-path-parse.ts'
import { type Parsed, parsed, unparsed } from './parsed.ts'

/** All values a path finds in an object, in order; an object the path does not fit has none. */
export type JsonPath = (data: unknown) => unknown[]

class JsonPathMismatch extends Error {}

const MAX_RESULTS = 10_000

/** The expression is written without braces. */
export function compileJsonPath(expression: string): Parsed<JsonPath> {
  try {
    const nodes = parseNodes(expression)
    return parsed((data) => {
      try {
        return walk([data], nodes)
      } catch (error) {
        if (error instanceof JsonPathMismatch) return []
        throw error
      }
    })
  } catch (error) {
    if (error instanceof JsonPathSyntax) return unparsed(error.message)
    throw error
  }
}

function walk(values: unknown[], nodes: readonly JsonPathNode[]): unknown[] {
  return nodes.reduce<unknown[]>((current, node) => evaluate(current, node), values)
}

function evaluate(values: unknown[], node: JsonPathNode): unknown[] {
  switch (node.kind) {
    case 'field':
      return values.flatMap((value) => (isJsonObject(value) && Object.hasOwn(value, node.name) ? [value[node.name]] : []))
    case 'wildcard':
      return values.flatMap(children)
    case 'recursive':
      return descend(values)
    case 'value':
      // A string stands for itself whatever came before it, a number or boolean once per value found so far.
      return typeof node.value === 'string' ? [node.value] : values.map(() => node.value)
    case 'slice':
      return values.flatMap((value) => (value === null || value === undefined ? [] : sliced(value, node)))
    case 'union':
      return node.paths.flatMap((path) => walk(values, path))
    case 'filter':
      return values.flatMap((value) => filtered(value, node))
    case 'word':
      throw new JsonPathMismatch(`unrecognized identifier ${node.name}`)
  }
}

/** Map keys in sorted order: Go's order is random, and a stable one is better than none. */
function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort(compareStrings)
    return keys.map((key) => value[key])
  }
  return []
}

function descend(values: unknown[]): unknown[] {
  const result: unknown[] = []
  const pending = [...values].reverse()
  while (pending.length > 0 && result.length < MAX_RESULTS) {
    const value = pending.pop()
    const below = children(value)
    if (below.length === 0) continue
    result.push(value)
    pending.push(...[...below].reverse())
  }
  return result
}

function sliced(value: unknown, node: JsonPathNode & { kind: 'slice' }): unknown[] {
  if (!Array.isArray(value)) throw new JsonPathMismatch('not array or slice')
  const length = value.length
  let from = node.from ?? 0
  let to = node.single ? from + 1 : (node.to ?? length)
  if (from < 0) from += length
  if (to < 0 || (to === 0 && node.single)) to += length
  if (from === to) return []
  if (from < 0 || from >= length || to < 0 || to > length || from > to) throw new JsonPathMismatch('array index out of bounds')
  const step = node.step ?? 1
  if (step <= 0) throw new JsonPathMismatch('step must be > 0')
  return value.slice(from, to).filter((_, i) => i % step === 0)
}

function filtered(value: unknown, node: JsonPathNode & { kind: 'filter' }): unknown[] {
  if (!Array.isArray(value)) throw new JsonPathMismatch('not array or slice and cannot be filtered')
  return value.filter((item) => {
    const lefts = walk([item], node.left)
    if (node.operator === 'exists') return lefts.length > 0
    const rights = lefts.length === 0 ? [] : walk([item], node.right)
    if (lefts.length === 0 || rights.length === 0) return false
    if (lefts.length > 1 || rights.length > 1) throw new JsonPathMismatch('can only compare one element at a time')
    return compare(lefts[0], node.operator, rights[0])
  })
}

/** Values of different kinds cannot be compared; integers and fractions count as different kinds. */
function compare(left: unknown, operator: string, right: unknown): boolean {
  const kind = kindOf(left)
  if (kind === undefined || kind !== kindOf(right)) throw new JsonPathMismatch('incompatible types for comparison')
  const order = left === right ? 0 : kind === 'string' ? compareStrings(String(left), String(right)) : Number(left) - Number(right)
  if (operator === '==') return order === 0
  if (operator === '!=') return order !== 0
  if (kind === 'boolean') throw new JsonPathMismatch('invalid type for comparison')
  if (operator === '<') return order < 0
  if (operator === '>') return order > 0
  if (operator === '<=') return order <= 0
  if (operator === '>=') return order >= 0
  throw new JsonPathMismatch(`unrecognized filter operator ${operator}`)
}

function kindOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'float') : undefined
}

/** A found value as text: objects and lists as JSON with sorted keys, nothing as `<no value>`. */
export function jsonPathText(value: unknown): string {
  if (value === null || value === undefined) return '<no value>'
  return typeof value === 'object' ? goJson(sortKeys(value)) : goPrint(value)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value).sort(compareStrings)
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]))
}
