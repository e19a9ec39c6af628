/**
 * RBAC policy rules as values: read from objects of any shape, matched against a request, and compared with each other.
 * `uncovered` is the basis of the escalation check: the parts of some rules that other rules do not grant.
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

/** The smallest parts of `wanted` that no rule of `held` grants. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !held.some((rule) => covers(rule, part)))
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = []
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name])
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) {
      for (const verb of rule.verbs) {
        for (const resourceNames of names)
          parts.push({ verbs: [verb], apiGroups: [group], resources: [resource], resourceNames, nonResourceURLs: [] })
      }
    }
  }
  for (const url of rule.nonResourceURLs) {
    for (const verb of rule.verbs) parts.push({ verbs: [verb], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [url] })
  }
  return parts
}

/** `part` has at most one value in each list. */
function covers(rule: PolicyRule, part: PolicyRule): boolean {
  return (
    part.verbs.every((verb) => has(rule.verbs, verb)) &&
    part.apiGroups.every((group) => has(rule.apiGroups, group)) &&
    part.resources.every((resource) => coversResourceText(rule.resources, resource)) &&
    part.nonResourceURLs.every((url) => rule.nonResourceURLs.some((pattern) => coversPath(pattern, url))) &&
    (rule.resourceNames.length === 0 || (part.resourceNames.length > 0 && part.resourceNames.every((n) => rule.resourceNames.includes(n))))
  )
}

function coversResourceText(held: readonly string[], resource: string): boolean {
  if (has(held, resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && held.includes(`*/${resource.slice(slash + 1)}`)
}

/** Merges parts that differ only in their verb, and prints each rule as one line: `{APIGroups:[""], …}`, sorted. */
export function describeRules(parts: readonly PolicyRule[]): string[] {
  const merged = new Map<string, PolicyRule>()
  const others: PolicyRule[] = []
  for (const part of parts) {
    if (part.nonResourceURLs.length > 0) {
      others.push(part)
      continue
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames])
    const known = merged.get(key)
    merged.set(key, known === undefined ? part : { ...known, verbs: [...known.verbs, ...part.verbs] })
  }
  return [...new Set([...others, ...merged.values()].map(describe))].sort()
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
