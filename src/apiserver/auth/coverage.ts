/**
 * What some rules grant that others do not: the basis of the escalation check. A rule is a product of verbs, groups,
 * resources and names, and is never multiplied out: in each dimension, values that the same held rules cover are one. Rules
 * are anybody's to write, so the work is bounded: what has not been compared by then counts as not held.
 */
import type { PolicyRule } from './rules.ts'

/** Comparisons of one value with one held rule. */
const BUDGET = 1_000_000

export interface Uncovered {
  /** Products that no held rule grants any part of. They do not overlap within a wanted rule. */
  missing: PolicyRule[]
  /** False: there was too much to compare, and what was left is among the missing. */
  isCompared: boolean
}

export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[], budget = BUDGET): Uncovered {
  const grants = held.map(compiled)
  const meter = { left: budget }
  const missing = wanted.flatMap((rule) => [
    ...missingOf(resourceProduct(rule), grants, meter),
    ...missingOf(pathProduct(rule), grants, meter),
  ])
  return { missing, isCompared: meter.left >= 0 }
}

const FIELDS = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs', 'verbs'] as const
type Field = (typeof FIELDS)[number]

/** Without names a rule is about every name, which only a rule without names covers. */
const ANY_NAME = Symbol('any name')
type Value = string | typeof ANY_NAME

type Grant = Readonly<Record<Field, (value: Value) => boolean>>

/** A list of values for each field that matters, verbs last: refusals name the verbs of each resource together. */
type Product = readonly (readonly [Field, readonly Value[]])[]

function resourceProduct({ apiGroups, resources, resourceNames, verbs }: PolicyRule): Product {
  return [
    ['apiGroups', apiGroups],
    ['resources', resources],
    ['resourceNames', resourceNames.length === 0 ? [ANY_NAME] : resourceNames],
    ['verbs', verbs],
  ]
}

const pathProduct = ({ nonResourceURLs, verbs }: PolicyRule): Product => [
  ['resourceNames', [ANY_NAME]],
  ['nonResourceURLs', nonResourceURLs],
  ['verbs', verbs],
]

interface Meter {
  left: number
}

/** The parts of a product that no grant covers, as products. */
function missingOf(product: Product, grants: readonly Grant[], meter: Meter): PolicyRule[] {
  if (product.some(([, values]) => values.length === 0)) return []
  const found: PolicyRule[] = []
  const chosen = new Map<Field, readonly Value[]>()
  const look = (at: number, candidates: readonly Grant[]): void => {
    const dimension = product[at]
    if (dimension === undefined) return
    const [field, values] = dimension
    for (const { covering, members } of classesOf(values, { field, candidates, meter })) {
      chosen.set(field, members)
      // What is left when the budget is spent is not looked at any more.
      if (covering.length > 0 && meter.left >= 0) look(at + 1, covering)
      else found.push(ruleOf([...chosen, ...product.slice(at + 1)]))
    }
    chosen.delete(field)
  }
  look(0, grants)
  return found
}

interface Class {
  covering: readonly Grant[]
  members: readonly Value[]
}

/** The values by the grants that cover them. When the budget is spent, nothing covers anything. */
function classesOf(values: readonly Value[], at: { field: Field; candidates: readonly Grant[]; meter: Meter }): Class[] {
  const { field, candidates, meter } = at
  const classes = new Map<string, { covering: Grant[]; members: Value[] }>()
  for (const value of values) {
    meter.left -= candidates.length
    const covering = meter.left < 0 ? [] : candidates.flatMap((grant, i) => (grant[field](value) ? [{ grant, i }] : []))
    const key = covering.map(({ i }) => i).join()
    const known = classes.get(key)
    if (known === undefined) classes.set(key, { covering: covering.map(({ grant }) => grant), members: [value] })
    else known.members.push(value)
  }
  return [...classes.values()]
}

/** Lists are shared, not copied: there may be many products of long lists. */
function ruleOf(fields: Iterable<readonly [Field, readonly Value[]]>): PolicyRule {
  const lists = new Map(fields)
  const textsOf = (field: Field): readonly string[] => {
    const values = lists.get(field) ?? []
    return values[0] === ANY_NAME ? [] : (values as readonly string[])
  }
  return {
    verbs: textsOf('verbs'),
    apiGroups: textsOf('apiGroups'),
    resources: textsOf('resources'),
    resourceNames: textsOf('resourceNames'),
    nonResourceURLs: textsOf('nonResourceURLs'),
  }
}

function compiled({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): Grant {
  const names = new Set<Value>(resourceNames)
  return {
    verbs: oneOf(verbs),
    apiGroups: oneOf(apiGroups),
    resources: resourcesOf(resources),
    resourceNames: (name) => names.size === 0 || names.has(name),
    nonResourceURLs: pathsOf(nonResourceURLs),
  }
}

function oneOf(values: readonly string[]): (value: Value) => boolean {
  const set = new Set<Value>(values)
  return set.has('*') ? () => true : (value) => set.has(value)
}

function resourcesOf(patterns: readonly string[]): (value: Value) => boolean {
  const set = new Set<Value>(patterns)
  if (set.has('*')) return () => true
  return (value) => {
    if (set.has(value)) return true
    const slash = typeof value === 'string' ? value.indexOf('/') : -1
    return slash >= 0 && set.has(`*/${String(value).slice(slash + 1)}`)
  }
}

/** Paths, and beginnings of paths: of those only the shortest count, and at most one of them can be the right one. */
function pathsOf(patterns: readonly string[]): (value: Value) => boolean {
  const exact = new Set<Value>(patterns)
  const beginnings: string[] = []
  const sorted = patterns
    .filter((pattern) => pattern.endsWith('*'))
    .map(withoutStars)
    .sort()
  for (const text of sorted) {
    const last = beginnings.at(-1)
    if (last === undefined || !text.startsWith(last)) beginnings.push(text)
  }
  return (value) => {
    if (exact.has(value)) return true
    if (typeof value !== 'string') return false
    const before = beginnings[lastUpTo(beginnings, value)]
    return before !== undefined && value.startsWith(before)
  }
}

function withoutStars(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern[end - 1] === '*') end--
  return pattern.slice(0, end)
}

/** The index of the greatest text that is not after `value`; -1 if all are. */
function lastUpTo(sorted: readonly string[], value: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? '') <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
