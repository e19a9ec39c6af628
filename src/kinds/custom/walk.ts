/**
 * The position of a validation and what it has found. Names of places are the OpenAPI validator's (relative to where validation
 * began), fields are those of the object.
 */
import { type FieldError, invalid } from '../../kube/field-error.ts'

export interface Found {
  /** The OpenAPI validator's text, by which it removes duplicates. */
  text: string
  error: FieldError
}

/** State of one walk. `matches` counts passed checks: of several failed alternatives the one with the most is reported. */
export class Walk {
  found: Found[] = []
  matches = 0
  readonly path: (string | number)[] = []
  private readonly base: string

  constructor(base: string) {
    this.base = base
  }

  /** The validator's own name of the place: relative to where validation began. */
  get name(): string {
    let out = ''
    for (const segment of this.path) out += typeof segment === 'number' ? `[${segment}]` : out === '' ? segment : `.${segment}`
    return out
  }

  field(name: string): string {
    const trimmed = name.startsWith('.') ? name.slice(1) : name
    if (trimmed === '') return this.base === '' ? '<nil>' : this.base
    return this.base === '' ? trimmed : `${this.base}.${trimmed}`
  }

  /** `name in body <what>` as an Invalid error with this value. */
  fail(what: string, value: unknown): void {
    const name = this.name
    const text = `${name} in body ${what}`
    this.found.push({ text, error: invalid(this.field(name), value ?? '', text) })
  }

  add(text: string, error: (field: string) => FieldError, name = this.name): void {
    this.found.push({ text, error: error(this.field(name)) })
  }

  /** An error without a place: the real server reports it on the root. */
  addLoose(text: string): void {
    this.found.push({ text, error: invalid(this.field(''), '', text) })
  }
}
