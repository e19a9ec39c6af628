/**
 * RBAC policy rules as values: read from objects of any shape, matched against a request, and printed as the real server
 * prints them.
 */

import { isJsonObject } from '../../base/json.ts'
import { goQuote } from '../../kube/go-print.ts'
import type { Attributes } from './attributes.ts'

export interface PolicyRule {
  verbs: readonly string[]
  apiGroups: readonly string[]
  resources: readonly string[]
  resourceNames: readonly string[]
  nonResourceURLs: readonly string[]
}

/** The rules of a Role or ClusterRole; anything that is not a rule is left out. */
export function readRules(rules: unknown): PolicyRule[] {
  if (!Array.isArray(rules)) return []
  return rules.filter(isJsonObject).map((rule) => ({
    verbs: strings(rule.verbs),
    apiGroups: strings(rule.apiGroups),
    resources: strings(rule.resources),
    resourceNames: strings(rule.resourceNames),
    nonResourceURLs: strings(rule.nonResourceURLs),
  }))
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

export function ruleAllows(rule: PolicyRule, ask: Attributes): boolean {
  if (!has(rule.verbs, ask.verb)) return false
  if (!ask.isResource) return rule.nonResourceURLs.some((pattern) => coversPath(pattern, ask.path))
  return (
    has(rule.apiGroups, ask.group) &&
    rule.resources.some((resource) => coversResource(resource, ask.resource, ask.subresource)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(ask.name))
  )
}

const has = (set: readonly string[], value: string): boolean => set.includes(value) || set.includes('*')

function coversResource(pattern: string, resource: string, subresource: string): boolean {
  if (pattern === '*') return true
  if (subresource === '') return pattern === resource
  return pattern === `${resource}/${subresource}` || pattern === `*/${subresource}`
}

function coversPath(pattern: string, path: string): boolean {
  if (pattern === path || pattern === '*') return true
  if (!pattern.endsWith('*')) return false
  let end = pattern.length
  while (end > 0 && pattern[end - 1] === '*') end--
  return path.startsWith(pattern.slice(0, end))
}

/** Of an answer; what is beyond is counted. */
const DESCRIBED_LINES = 100
const DESCRIBED_CHARACTERS = 65_536

/**
 * One line per resource and name, with its verbs, and one per path and verb: `{APIGroups:[""], …}`, sorted. Products are
 * multiplied out only as far as they are shown.
 */
export function describeRules(products: readonly PolicyRule[]): string[] {
  const lines = new Map<string, PolicyRule>()
  let unsaid = 0
  let left = DESCRIBED_CHARACTERS
  for (const product of products) {
    let said = 0
    for (const part of linesOf(product)) {
      left -= sizeOf(part)
      if (lines.size >= DESCRIBED_LINES || left < 0) break
      said++
      const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames, part.nonResourceURLs, isPath(part) ? part.verbs : []])
      const known = lines.get(key)
      lines.set(key, known === undefined || isPath(part) ? part : { ...part, verbs: [...known.verbs, ...part.verbs] })
    }
    unsaid += linesIn(product) - said
  }
  const described = [...lines.values()].map(describe).sort()
  return unsaid === 0 ? described : [...described, `and ${unsaid} more`]
}

const isPath = ({ nonResourceURLs }: PolicyRule): boolean => nonResourceURLs.length > 0

const sizeOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  [verbs, apiGroups, resources, resourceNames, nonResourceURLs].flat().reduce((sum, text) => sum + text.length + 3, 0)

function linesIn(rule: PolicyRule): number {
  if (isPath(rule)) return rule.nonResourceURLs.length * rule.verbs.length
  return rule.apiGroups.length * rule.resources.length * Math.max(1, rule.resourceNames.length)
}

function* linesOf(rule: PolicyRule): Iterable<PolicyRule> {
  for (const url of rule.nonResourceURLs) for (const verb of rule.verbs) yield { ...rule, verbs: [verb], nonResourceURLs: [url] }
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name])
  for (const group of rule.apiGroups)
    for (const resource of rule.resources)
      for (const resourceNames of names) yield { ...rule, apiGroups: [group], resources: [resource], resourceNames }
}

function describe(rule: PolicyRule): string {
  const fields: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  return `{${fields
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${quotedList(values)}`)
    .join(', ')}}`
}

/** A list of strings as Go's %q prints it: `["a" "b"]`. */
export const quotedList = (values: readonly string[]): string => `[${values.map((v) => goQuote(v)).join(' ')}]`
