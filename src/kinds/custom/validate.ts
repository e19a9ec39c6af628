/**
 * Checking a value against a structural schema with the messages of the real server, which come from an OpenAPI
 * validator (`spec.size in body should be …`) turned into field errors. Errors below a part that an update left as it
 * was are dropped (ratcheting), so that tightening a schema does not lock existing objects.
 */
import { deepEqual } from '../../base/json.ts'
import { type FieldError, invalid, required, tooLong, tooMany, typeInvalid } from '../../kube/field-error.ts'
import { goQuote } from '../../kube/go-print.ts'
import { checkNumber, isInt64 } from './check-number.ts'
import { goMapJson, sortKeys } from './go-text.ts'
import type { Node } from './node.ts'
import { type Found, Walk } from './walk.ts'

export interface ValidateOptions {
  /** Where the value is in the object; '' for the object itself. */
  base?: string
  /** The value before the update; absent on create. */
  old?: unknown
}

export function validateValue(value: unknown, node: Node, options: ValidateOptions = {}): FieldError[] {
  const walk = new Walk(options.base ?? '')
  new Validator(walk).check(value, node, Object.hasOwn(options, 'old') ? { value: options.old } : undefined)
  const texts = new Set<string>()
  const errors: FieldError[] = []
  for (const { text, error } of walk.found) {
    if (texts.has(text)) continue
    texts.add(text)
    errors.push(error)
  }
  return errors
}

/** The value that an update replaces, if it can be identified. */
type Old = { value: unknown } | undefined

interface Outcome {
  found: Found[]
  matches: number
}

class Validator {
  private readonly walk: Walk

  constructor(walk: Walk) {
    this.walk = walk
  }

  check(value: unknown, node: Node, old: Old): void {
    const { walk } = this
    const before = walk.found.length
    this.checkHere(value, node, old)
    if (old !== undefined && walk.found.length > before && deepEqual(value, old.value)) walk.found.length = before
  }

  private checkHere(value: unknown, node: Node, old: Old): void {
    const { walk } = this
    if (value === null || value === undefined) {
      checkNull(node, walk)
      return
    }
    if (node.types.length > 0 || node.format !== '') {
      checkType(value, node, walk)
      walk.matches++
    }
    if (node.anyOf.length + node.oneOf.length + node.allOf.length > 0 || node.not !== undefined) this.checkJunctors(value, node, old)
    // The junctor and the enum check apply to every value and count as passed even when they have nothing to do.
    walk.matches += 4
    if (typeof value === 'string') checkString(value, node, walk)
    else if (typeof value === 'number') {
      checkNumber(value, node, walk)
      walk.matches += 2
    } else if (Array.isArray(value)) this.checkList(value, node, old)
    if (node.enum !== undefined && !matchesEnum(value, node.enum)) failEnum(value, node.enum, walk)
    if (typeof value === 'object' && !Array.isArray(value)) this.checkObject(value as Record<string, unknown>, node, old)
  }

  private attempt(value: unknown, node: Node, old: Old): Outcome {
    const { walk } = this
    const { found, matches } = walk
    walk.found = []
    walk.matches = 0
    // An alternative is judged without ratcheting of its own; the fields below it still ratchet.
    this.checkHere(value, node, old)
    const outcome = { found: walk.found, matches: walk.matches }
    walk.found = found
    walk.matches = matches
    return outcome
  }

  private checkJunctors(value: unknown, node: Node, old: Old): void {
    const { walk } = this
    const name = goQuote(walk.name)
    if (node.anyOf.length > 0) this.checkAnyOf(value, node, old)
    if (node.oneOf.length > 0) this.checkOneOf(value, node, old)
    if (node.allOf.length > 0) {
      let valid = 0
      for (const part of node.allOf) {
        const outcome = this.attempt(value, part, old)
        if (outcome.found.length === 0) valid++
        merge(walk, outcome)
      }
      if (valid < node.allOf.length) walk.addLoose(`${name} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`)
    }
    if (node.not !== undefined && this.attempt(value, node.not, old).found.length === 0)
      walk.addLoose(`${name} must not validate the schema (not)`)
  }

  private checkAnyOf(value: unknown, node: Node, old: Old): void {
    const { walk } = this
    let best: Outcome | undefined
    for (const part of node.anyOf) {
      const outcome = this.attempt(value, part, old)
      if (outcome.found.length === 0) {
        merge(walk, outcome)
        return
      }
      if (best === undefined || outcome.matches > best.matches) best = outcome
    }
    walk.addLoose(`${goQuote(walk.name)} must validate at least one schema (anyOf)`)
    merge(walk, best)
  }

  private checkOneOf(value: unknown, node: Node, old: Old): void {
    const { walk } = this
    let best: Outcome | undefined
    let success: Outcome | undefined
    let valid = 0
    for (const part of node.oneOf) {
      const outcome = this.attempt(value, part, old)
      if (outcome.found.length === 0) {
        valid++
        success ??= outcome
      } else if (valid === 0 && (best === undefined || outcome.matches > best.matches)) best = outcome
    }
    if (valid === 1) {
      merge(walk, success)
      return
    }
    const what = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    walk.addLoose(`${goQuote(walk.name)} must validate one and only one schema (oneOf). ${what}`)
    if (valid === 0) merge(walk, best)
  }

  private checkList(list: unknown[], node: Node, old: Old): void {
    const { walk } = this
    walk.matches += 2
    if (node.items !== undefined) {
      const oldItem = oldItems(node, old)
      for (let i = 0; i < list.length; i++) {
        walk.path.push(i)
        this.check(list[i], node.items, oldItem(list[i]))
        walk.path.pop()
      }
    }
    const { minItems, maxItems } = node
    if (minItems !== undefined && list.length < minItems) walk.fail(`should have at least ${minItems} items`, list.length)
    if (maxItems !== undefined && list.length > maxItems)
      walk.add(`${walk.name} in body should have at most ${maxItems} items`, (field) => tooMany(field, list.length, maxItems))
  }

  private checkObject(object: Record<string, unknown>, node: Node, old: Old): void {
    const { walk } = this
    walk.matches++
    const keys = Object.keys(object)
    const { minProperties, maxProperties, properties, additional } = node
    if (minProperties !== undefined && keys.length < minProperties)
      walk.fail(`should have at least ${minProperties} properties`, keys.length)
    if (maxProperties !== undefined && keys.length > maxProperties)
      walk.add(`${walk.name} in body should have at most ${maxProperties} properties`, (field) =>
        tooMany(field, keys.length, maxProperties),
      )
    const oldObject = old !== undefined && typeof old.value === 'object' ? (old.value as Record<string, unknown> | null) : null
    for (const key of keys) {
      const property = properties?.get(key)
      if (property === undefined && additional === 'nothing') failProperty(key, walk)
      const child = property ?? (typeof additional === 'object' ? additional : undefined)
      if (child === undefined) continue
      const isTypeMeta = walk.path.length === 0 && (key === 'kind' || key === 'apiVersion')
      const oldChild = oldObject !== null && !isTypeMeta && Object.hasOwn(oldObject, key) ? { value: oldObject[key] } : undefined
      walk.path.push(property === undefined && walk.path.length === 0 ? `.${key}` : key)
      this.check(object[key], child, oldChild)
      walk.path.pop()
    }
    for (const key of node.required) {
      if (Object.hasOwn(object, key)) continue
      const name = `${walk.name}.${key}`
      walk.add(`${name} in body is required`, (field) => required(field), name)
    }
  }
}

function typeOf(value: unknown): string {
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

function checkNull(node: Node, walk: Walk): void {
  if (node.types.length > 0 && !node.nullable) failType(node.types.join(','), 'null', walk)
  else walk.matches++
  if (node.enum !== undefined) failEnum(null, node.enum, walk)
}

function failType(expected: string, actual: string, walk: Walk): void {
  const text = `${walk.name} in body must be of type ${expected}: ${goQuote(actual)}`
  walk.add(text, (field) => typeInvalid(field, actual, text))
}

function checkType(value: unknown, node: Node, walk: Walk): void {
  const type = typeOf(value)
  const isText = type === 'string' || type === 'array'
  const fits = node.types.includes(type) || (type === 'integer' && node.types.includes('number'))
  const format = type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
  const isNumeric = node.types.includes('number') || node.types.includes('integer')
  const leftToFormat = !isNumeric && node.format !== '' && isText
  if (!isText && node.format !== '' && !fits && format !== node.format) failType(node.format, format, walk)
  else if (!leftToFormat && !fits) failType(node.types.join(','), type, walk)
  else walk.matches++
}

function merge(walk: Walk, outcome: Outcome | undefined): void {
  if (outcome === undefined) return
  for (const found of outcome.found) walk.found.push(found)
  walk.matches += outcome.matches
}

function runeLength(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xdc00) {
      const low = text.charCodeAt(i + 1)
      if (low >= 0xdc00 && low < 0xe000) {
        length--
        i++
      }
    }
  }
  return length
}

function checkString(text: string, node: Node, walk: Walk): void {
  walk.matches++
  checkLength(text, node, walk)
  if (node.formatCheck === undefined) return
  walk.matches++
  if (!node.formatCheck(text)) failType(node.format, text, walk)
}

/** Only the first of these failures is reported. */
function checkLength(text: string, node: Node, walk: Walk): void {
  const { maxLength, minLength, pattern } = node
  if (maxLength !== undefined && text.length > maxLength && runeLength(text) > maxLength)
    walk.add(`${walk.name} in body should be at most ${maxLength} chars long`, (field) => tooLong(field, maxLength))
  else if (minLength !== undefined && (text.length < minLength || runeLength(text) < minLength))
    walk.fail(`should be at least ${minLength} chars long`, text)
  else if (pattern !== undefined) {
    const matched = pattern.test(text)
    if (matched === undefined) walk.fail(`should match '${pattern.source}, but pattern is invalid: ${pattern.error}'`, text)
    else if (!matched) walk.fail(`should match '${pattern.source}'`, text)
  }
}

/** Only items of a list of type map can be matched; every other list is compared as a whole. */
function oldItems(node: Node, old: Old): (item: unknown) => Old {
  if (old === undefined || node.listType !== 'map' || !Array.isArray(old.value)) return () => undefined
  const keyOf = (item: unknown) =>
    typeof item === 'object' && item !== null ? goMapJson(node.listMapKeys.map((k) => (item as Record<string, unknown>)[k])) : undefined
  const byKey = new Map(old.value.map((item) => [keyOf(item), { value: item as unknown }]))
  return (item) => {
    const key = keyOf(item)
    return key === undefined ? undefined : byKey.get(key)
  }
}

function failProperty(key: string, walk: Walk): void {
  const name = walk.name
  const text = `${name}.${key} in body is a forbidden property`
  walk.add(text, (field) => invalid(field, key, text))
}

/** Numbers compare after conversion to the kind of the allowed one, as Go's reflection does. */
function matchesEnum(value: unknown, allowed: readonly unknown[]): boolean {
  return allowed.some((one) => {
    if (typeof one === 'number' && typeof value === 'number') return one === (isInt64(one) ? Math.trunc(value) : value)
    return one !== null && deepEqual(value, one)
  })
}

function failEnum(value: unknown, allowed: readonly unknown[], walk: Walk): void {
  const values = allowed.map((one) => goQuote(typeof one === 'string' ? one : goMapJson(one)))
  walk.add(`${walk.name} in body should be one of ${values.join(' ')}`, (field) => ({
    type: 'NotSupported',
    field,
    value: sortKeys(value),
    detail: `supported values: ${values.join(', ')}`,
  }))
}
