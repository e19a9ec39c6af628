/**
 * State that a workload takes along: values of its status in the cluster it leaves, found by kubectl's JSONPath templates
 * (`{.a.b}`; text around the braces is kept), stored under label names. A missing value is an error, because moving without
 * it would lose it. Pure.
 */
import type { Binding, StatePreservation } from '../../kinds/karmada/index.ts'
import { compileJsonPath, jsonPathText } from '../../kube/json-path.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'

export type PreservedState = Pick<
  NonNullable<Binding['spec']['gracefulEvictionTasks']>[number],
  'preservedLabelState' | 'clustersBeforeFailover'
>

/** The state recorded in a task: none without rules. */
export function preservedState(binding: Binding, cluster: string, preservation: StatePreservation | undefined): Parsed<PreservedState> {
  const rules = preservation?.rules ?? []
  if (rules.length === 0) return parsed({})
  const item = binding.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster)
  if (item?.status === undefined || item.status === null)
    return unparsed(`the application status has not yet been collected from Cluster(${cluster})`)
  const labels: Record<string, string> = {}
  for (const { aliasLabelName, jsonPath } of rules) {
    const value = evaluate(jsonPath, item.status)
    if (value.error !== undefined) return value
    labels[aliasLabelName] = value.value
  }
  return parsed({ preservedLabelState: labels, clustersBeforeFailover: (binding.spec.clusters ?? []).map(({ name }) => name) })
}

/** The result of a template as one string. */
export function evaluate(template: string, data: unknown): Parsed<string> {
  let text = ''
  for (const part of partsOf(template)) {
    if (part.error !== undefined) return part
    if ('text' in part.value) {
      text += part.value.text
      continue
    }
    const { path } = part.value
    const compiled = compileJsonPath(path)
    if (compiled.error !== undefined) return compiled
    const found = compiled.value(data)
    if (found.length === 0) return unparsed(`failed to execute jsonpath "${template}": ${path} is not found`)
    text += found.map(jsonPathText).join(' ')
  }
  return parsed(text)
}

type Part = { text: string } | { path: string }

function partsOf(template: string): Parsed<Part>[] {
  const parts: Parsed<Part>[] = []
  let at = 0
  while (at < template.length) {
    const open = template.indexOf('{', at)
    if (open !== at) parts.push(parsed({ text: template.slice(at, open < 0 ? undefined : open) }))
    if (open < 0) break
    const close = endOf(template, open + 1)
    if (close < 0) return [unparsed('unclosed action')]
    parts.push(parsed({ path: template.slice(open + 1, close).trim() }))
    at = close + 1
  }
  return parts
}

/** Where the braces close; those inside quotes do not count. */
function endOf(template: string, from: number): number {
  let quote = ''
  for (let i = from; i < template.length; i++) {
    const char = template[i] as string
    if (quote !== '') {
      if (char === '\\') i++
      else if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '}') return i
  }
  return -1
}
