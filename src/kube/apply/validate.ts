/** Whether a value fits its type, with the real server's messages. Applied objects must; the errors name what does not. */
import { fieldElement, printElement, printPath } from './element.ts'
import { goFormat, goSyntax, goTypeName } from './go-text.ts'
import { itemElement } from './list-item.ts'
import { ShapeError } from './shape-error.ts'
import { type Atom, alternative, deduceKind, ListType, listOf, MapType, mapOf, type Scalar } from './types.ts'

const MAX_DEPTH = 1000

/** Throws ShapeError. */
export function validateTyped(value: unknown, atom: Atom, allowDuplicates: boolean): void {
  const walk = new Validator(allowDuplicates)
  walk.visit(value, atom)
  if (walk.errors.length > 0) throw new ShapeError(walk.errors)
}

class Validator {
  readonly errors: string[] = []
  readonly #allowDuplicates: boolean
  readonly #path: string[] = []

  constructor(allowDuplicates: boolean) {
    this.#allowDuplicates = allowDuplicates
  }

  visit(value: unknown, atom: Atom): void {
    if (this.#path.length > MAX_DEPTH) {
      this.errors.push('exceeded max depth')
      return
    }
    const type = alternative(atom, deduceKind(atom, value))
    if (type instanceof MapType) this.#visitMap(value, type)
    else if (type instanceof ListType) this.#visitList(value, type)
    else {
      const error = scalarError(type, value, '')
      if (error !== undefined) this.#report(error)
    }
  }

  #report(text: string): void {
    this.errors.push(this.#path.length === 0 ? text : `${printPath(this.#path)}: ${text}`)
  }

  #visitMap(value: unknown, type: MapType): void {
    if (value === null || value === undefined) return
    const map = mapOf(value)
    if (map === undefined) this.#report(`expected map, got &{${goFormat(value)}}`)
    for (const key of Object.keys(map ?? {})) {
      const item = map?.[key]
      if (item === undefined) continue
      const atom = type.field(key)?.atom ?? type.unknown
      this.#path.push(fieldElement(key))
      if (atom === undefined) this.#report('field not declared in schema')
      else this.visit(item, atom)
      this.#path.pop()
      // The real server stops validating a map that has an undeclared field.
      if (atom === undefined) return
    }
  }

  #visitList(value: unknown, type: ListType): void {
    if (value === null || value === undefined) return
    const list = listOf(value)
    if (list === undefined) this.#report(`expected list, got &{${goFormat(value)}}`)
    const seen = new Set<string>()
    for (const [i, item] of (list ?? []).entries()) {
      const element = type.associative ? this.#nameItem(item, i, type) : `i:${i}`
      if (element === undefined) return
      if (seen.has(element) && !this.#allowDuplicates) this.#report(`duplicate entries for key ${printElement(element)}`)
      seen.add(element)
      this.#path.push(element)
      this.visit(item, type.element)
      this.#path.pop()
    }
  }

  /** Undefined, and reported, for an item without a usable key: its contents cannot be addressed either. */
  #nameItem(item: unknown, index: number, type: ListType): string | undefined {
    try {
      return itemElement(type, item)
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      this.#report(`element ${index}: ${error.message}`)
      return undefined
    }
  }
}

/** What is wrong with a scalar; null and absent fit every type. */
export function scalarError(scalar: Scalar, value: unknown, prefix: string): string | undefined {
  if (value === undefined || value === null) return undefined
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `${prefix}expected numeric (int or float), got ${goTypeName(value)}`
    case 'string':
      return typeof value === 'string' ? undefined : `${prefix}expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${prefix}expected boolean, got &{${goFormat(value)}}`
    default:
      return typeof value === 'object' ? `${prefix}expected any scalar, got &{${goFormat(value)}}` : undefined
  }
}
