/**
 * Label selectors: the string grammar of `?labelSelector=`, LabelSelector objects, matching, validation and the
 * canonical text. The grammar and its error messages are those of k8s.io/apimachinery/pkg/labels.
 */
import { child, type FieldError, fieldErrorMessage, forbidden, index, invalid, keyed, required } from './field-error.ts'
import { compareStrings, goQuote } from './go-print.ts'
import { checkLabelValue, checkQualifiedName } from './names.ts'
import { type Parsed, parsed, unparsed } from './parsed.ts'
import { type LabelToken, scanLabelSelector } from './selector-scan.ts'

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

/** All requirements must hold; an empty list selects everything. Sorted by key. */
export type LabelSelector = readonly LabelRequirement[]

export type Labels = Readonly<Record<string, string>> | undefined

/** The LabelSelector of the wire. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

const BINARY_OPERATORS = 'in, notin, =, ==, !=, gt, lt'

class SelectorSyntax extends Error {}

const fail = (message: string): never => {
  throw new SelectorSyntax(message)
}

/** Reads `a=b,c in (d,e),!f`. */
export function parseLabelSelector(text: string): Parsed<LabelSelector> {
  try {
    return parsed(sortByKey(new Reader(scanLabelSelector(text)).selector()))
  } catch (error) {
    if (error instanceof SelectorSyntax) return unparsed(error.message)
    throw error
  }
}

const sortByKey = (list: LabelRequirement[]): LabelRequirement[] => list.sort((a, b) => compareStrings(a.key, b.key))

class Reader {
  readonly #tokens: readonly LabelToken[]
  #position = 0

  constructor(tokens: readonly LabelToken[]) {
    this.#tokens = tokens
  }

  selector(): LabelRequirement[] {
    const list: LabelRequirement[] = []
    for (;;) {
      const { kind, text } = this.#peek()
      if (kind === 'end') return list
      if (kind !== 'identifier' && kind !== '!') fail(`found '${text}', expected: !, identifier, or 'end of string'`)
      list.push(this.#requirement())
      const next = this.#take()
      if (next.kind === 'end') return list
      if (next.kind !== ',') fail(`found '${next.text}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (after.kind !== 'identifier' && after.kind !== '!') fail(`found '${after.text}', expected: identifier after ','`)
    }
  }

  /** `in` and `notin` are operators only where an operator is expected. */
  #peek(operators = false): LabelToken {
    const token = this.#tokens[this.#position] ?? { kind: 'end', text: '' }
    return !operators && (token.kind === 'in' || token.kind === 'notin') ? { kind: 'identifier', text: token.text } : token
  }

  #take(operators = false): LabelToken {
    const token = this.#peek(operators)
    this.#position++
    return token
  }

  #requirement(): LabelRequirement {
    const wrap = (message: string) => fail(`unable to parse requirement: ${message}`)
    const negated = this.#peek().kind === '!'
    if (negated) this.#take()
    const key = this.#take()
    if (key.kind !== 'identifier') wrap(`found '${key.text}', expected: identifier`)
    const keyProblems = checkQualifiedName(key.text)
    // The real parser has no path here and prints it as <nil>.
    if (keyProblems.length > 0) wrap(fieldErrorMessage(invalid('<nil>', key.text, keyProblems.join('; '))))
    const next = this.#peek().kind
    if (negated || next === 'end' || next === ',') return { key: key.text, operator: negated ? '!' : 'exists', values: [] }
    const operator = this.#operator(wrap)
    const values = operator === 'in' || operator === 'notin' ? this.#valueList(wrap) : this.#exactValue(wrap)
    const requirement = { key: key.text, operator, values: [...new Set(values)].sort(compareStrings) }
    const problems = requirementProblems(requirement, '')
    if (problems.length > 0) wrap(aggregate(problems.map(fieldErrorMessage)))
    return requirement
  }

  #operator(wrap: (message: string) => never): LabelOperator {
    const token = this.#take(true)
    switch (token.kind) {
      case '>':
        return 'gt'
      case '<':
        return 'lt'
      case '=':
      case '==':
      case '!=':
      case 'in':
      case 'notin':
        return token.kind
      default:
        return wrap(`found '${token.text}', expected: ${BINARY_OPERATORS}`)
    }
  }

  #valueList(wrap: (message: string) => never): string[] {
    const open = this.#take()
    if (open.kind !== '(') wrap(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.kind === ')') {
      this.#take()
      return ['']
    }
    if (first.kind !== 'identifier' && first.kind !== ',') wrap(`found '${first.text}', expected: ',', ')' or identifier`)
    const values: string[] = []
    for (;;) {
      const token = this.#take()
      const next = this.#peek()
      if (token.kind === 'identifier') {
        values.push(token.text)
        if (next.kind !== ',' && next.kind !== ')') wrap(`found '${next.text}', expected: ',' or ')'`)
      } else if (token.kind === ',') {
        // A missing value on either side of a comma is the empty value.
        if (values.length === 0 || next.kind === ')' || next.kind === ',') values.push('')
      } else wrap(`found '${token.text}', expected: ',', or identifier`)
      if (next.kind === ')') {
        this.#take()
        return values
      }
    }
  }

  #exactValue(wrap: (message: string) => never): string[] {
    const next = this.#peek()
    if (next.kind === 'end' || next.kind === ',') return ['']
    this.#take()
    if (next.kind !== 'identifier') wrap(`found '${next.text}', expected: identifier`)
    return [next.text]
  }
}

/** Kubernetes' aggregate of errors: one alone, several in brackets. */
const aggregate = (messages: string[]): string => (messages.length === 1 ? (messages[0] ?? '') : `[${[...new Set(messages)].join(', ')}]`)

function requirementProblems(requirement: LabelRequirement, path: string): FieldError[] {
  const { key, operator, values } = requirement
  const at = child(path, 'values')
  const problems: FieldError[] = []
  if (operator === 'gt' || operator === 'lt') {
    for (const [i, value] of values.entries()) {
      if (parseInt64(value) === undefined)
        problems.push(invalid(index(at, i), value, "for 'Gt', 'Lt' operators, the value must be an integer"))
    }
  }
  for (const [i, value] of values.entries()) {
    const wrong = checkLabelValue(value)
    if (wrong.length > 0) problems.push(invalid(keyed(index(at, i), key), value, wrong.join('; ')))
  }
  return problems
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,25}$/.test(text)) return undefined
  const value = BigInt(text.replace(/^\+/, ''))
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined
}

/** The selector of exactly these labels; values are not validated, as the server trusts what it stored. */
function selectorFromLabels(labels: Labels): LabelSelector {
  return sortByKey(Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] })))
}

const OBJECT_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

/** A LabelSelector object as a selector: absent selects nothing (undefined), empty selects everything. */
export function selectorFromObject(object: LabelSelectorObject | undefined | null): Parsed<LabelSelector | undefined> {
  if (object === undefined || object === null) return parsed(undefined)
  const list: LabelRequirement[] = []
  for (const requirement of selectorFromLabels(object.matchLabels)) {
    const problems = objectRequirementProblems(requirement)
    if (problems.length > 0) return unparsed(aggregate(problems.map(fieldErrorMessage)))
    list.push(requirement)
  }
  for (const expression of object.matchExpressions ?? []) {
    const operator = OBJECT_OPERATORS.get(expression.operator)
    if (operator === undefined) return unparsed(`${goQuote(expression.operator)} is not a valid label selector operator`)
    const requirement = { key: expression.key, operator, values: expression.values ?? [] }
    const problems = objectRequirementProblems(requirement)
    if (problems.length > 0) return unparsed(aggregate(problems.map(fieldErrorMessage)))
    list.push(requirement)
  }
  return parsed(sortByKey(list))
}

function objectRequirementProblems(requirement: LabelRequirement): FieldError[] {
  const { key, operator, values } = requirement
  const problems = checkQualifiedName(key).length > 0 ? [invalid('key', key, checkQualifiedName(key).join('; '))] : []
  if ((operator === 'in' || operator === 'notin') && values.length === 0)
    problems.push(invalid('values', values, "for 'in', 'notin' operators, values set can't be empty"))
  if ((operator === 'exists' || operator === '!') && values.length > 0)
    problems.push(invalid('values', values, 'values set must be empty for exists and does not exist'))
  return [...problems, ...requirementProblems(requirement, '')]
}

export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((requirement) => matchesRequirement(requirement, labels))
}

function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value)
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    default: {
      const left = value === undefined ? undefined : parseInt64(value)
      const right = values.length === 1 ? parseInt64(values[0] ?? '') : undefined
      if (left === undefined || right === undefined) return false
      return operator === 'gt' ? left > right : left < right
    }
  }
}

/** The value that a key must have, when the selector leaves no choice. */
export function requiredLabel(selector: LabelSelector, key: string): string | undefined {
  const requirement = selector.find((r) => r.key === key)
  const exact = requirement?.operator === '=' || requirement?.operator === '==' || requirement?.operator === 'in'
  return exact && requirement.values.length === 1 ? requirement.values[0] : undefined
}

/** Canonical text: `a=b,c in (d,e),!f`. */
export function formatLabelSelector(selector: LabelSelector): string {
  return selector.map(formatRequirement).join(',')
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key
  if (operator === '!') return `!${key}`
  const list = [...values].sort(compareStrings).join(',')
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${list})`
  return `${key}${operator === 'gt' ? '>' : operator === 'lt' ? '<' : operator}${list}`
}

/** A LabelSelector object as kubectl's columns show it: `<none>` when it selects everything or is absent. */
export function formatSelectorObject(object: LabelSelectorObject | undefined | null): string {
  const selector = selectorFromObject(object)
  if (selector.error !== undefined) return '<error>'
  return selector.value === undefined || selector.value.length === 0 ? '<none>' : formatLabelSelector(selector.value)
}

/** Validation of a LabelSelector inside an object. */
export function validateLabelSelector(
  object: LabelSelectorObject | undefined | null,
  path: string,
  options: { allowInvalidValues?: boolean } = {},
): FieldError[] {
  if (object === undefined || object === null) return []
  const errors = validateLabels(object.matchLabels, child(path, 'matchLabels'))
  for (const [i, expression] of (object.matchExpressions ?? []).entries()) {
    const at = index(child(path, 'matchExpressions'), i)
    const values = expression.values ?? []
    if (expression.operator === 'In' || expression.operator === 'NotIn') {
      if (values.length === 0) errors.push(required(child(at, 'values'), "must be specified when `operator` is 'In' or 'NotIn'"))
    } else if (expression.operator === 'Exists' || expression.operator === 'DoesNotExist') {
      if (values.length > 0)
        errors.push(forbidden(child(at, 'values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    } else errors.push(invalid(child(at, 'operator'), expression.operator, 'not a valid selector operator'))
    for (const message of checkQualifiedName(expression.key)) errors.push(invalid(child(at, 'key'), expression.key, message))
    if (options.allowInvalidValues === true) continue
    for (const [v, value] of values.entries())
      for (const message of checkLabelValue(value)) errors.push(invalid(index(child(at, 'values'), v), value, message))
  }
  return errors
}

/** Validation of a map of labels; every failure is reported at the map itself. */
export function validateLabels(labels: Record<string, string> | undefined | null, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const message of checkQualifiedName(key)) errors.push(invalid(path, key, message))
    for (const message of checkLabelValue(value)) errors.push(invalid(path, value, message))
  }
  return errors
}
