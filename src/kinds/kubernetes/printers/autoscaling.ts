/** Rows of autoscalers and disruption budgets. autoscaling/v1 keeps most metrics in annotations; they are read from there. */
import type { KubeObject } from '../../../kube/meta.ts'
import { ageOf, at, type Cells, count, list, nameOf, text } from './fields.ts'

const UNKNOWN = '<unknown>'
const MAX_METRICS = 2

interface Metrics {
  specs: readonly unknown[]
  statuses: readonly unknown[]
}

const row = (object: KubeObject, metrics: Metrics, nowMs: number): unknown[] => {
  const target = at(object, 'spec', 'scaleTargetRef')
  const minimum = at(object, 'spec', 'minReplicas')
  return [
    nameOf(object),
    `${text(at(target, 'kind'))}/${text(at(target, 'name'))}`,
    metricsText(metrics),
    minimum === undefined ? '<unset>' : String(minimum),
    count(at(object, 'spec', 'maxReplicas')),
    count(at(object, 'status', 'currentReplicas')),
    ageOf(object, nowMs),
  ]
}

export const autoscaler: Cells = (object, nowMs) =>
  row(object, { specs: list(at(object, 'spec', 'metrics')), statuses: list(at(object, 'status', 'currentMetrics')) }, nowMs)

function metricsText({ specs, statuses }: Metrics): string {
  if (specs.length === 0) return '<none>'
  const shown = specs.slice(0, MAX_METRICS).map((spec, i) => metricText(spec, statuses[i]))
  const left = specs.length - shown.length
  return left > 0 ? `${shown.join(', ')} + ${left} more...` : shown.join(', ')
}

function metricText(spec: unknown, status: unknown): string {
  switch (at(spec, 'type')) {
    case 'External':
      return valueMetric(at(spec, 'external', 'target'), at(status, 'external', 'current'))
    case 'Object':
      return valueMetric(at(spec, 'object', 'target'), at(status, 'object', 'current'))
    case 'Pods':
      return `${shownQuantity(at(status, 'pods', 'current', 'averageValue'))}/${at(spec, 'pods', 'target', 'averageValue') ?? '<nil>'}`
    case 'Resource':
      return resourceMetric(at(spec, 'resource'), at(status, 'resource', 'current'))
    case 'ContainerResource':
      return resourceMetric(at(spec, 'containerResource'), at(status, 'containerResource', 'current'))
    default:
      return '<unknown type>'
  }
}

const shownQuantity = (value: unknown): string => (value === undefined ? UNKNOWN : String(value))

function valueMetric(target: unknown, current: unknown): string {
  const average = at(target, 'averageValue')
  if (average !== undefined) return `${shownQuantity(at(current, 'averageValue'))}/${average} (avg)`
  return `${shownQuantity(at(current, 'value'))}/${at(target, 'value') ?? '<nil>'}`
}

function resourceMetric(metric: unknown, current: unknown): string {
  const name = text(at(metric, 'name'))
  const average = at(metric, 'target', 'averageValue')
  if (average !== undefined) return `${name}: ${shownQuantity(at(current, 'averageValue'))}/${average}`
  const percent = (value: unknown, without: string) => (value === undefined ? without : `${value}%`)
  const target = percent(at(metric, 'target', 'averageUtilization'), '<auto>')
  return `${name}: ${percent(at(current, 'averageUtilization'), UNKNOWN)}/${target}`
}

export const autoscalerV1: Cells = (object, nowMs) => {
  const cpuTarget = at(object, 'spec', 'targetCPUUtilizationPercentage')
  const cpuNow = at(object, 'status', 'currentCPUUtilizationPercentage')
  const cpu = (field: string, value: unknown) => ({ type: 'Resource', resource: { name: 'cpu', [field]: { averageUtilization: value } } })
  const others = annotated(object, 'autoscaling.alpha.kubernetes.io/metrics').map((m) => modern(m, 'target'))
  const known = annotated(object, 'autoscaling.alpha.kubernetes.io/current-metrics').map((m) => modern(m, 'current'))
  const specs = cpuTarget === undefined ? others : [cpu('target', cpuTarget), ...others]
  const statuses = known.length > 0 || cpuNow === undefined ? known : [cpu('current', cpuNow)]
  return row(object, { specs, statuses }, nowMs)
}

function annotated(object: KubeObject, key: string): readonly unknown[] {
  try {
    return list(JSON.parse(object.metadata.annotations?.[key] ?? '[]'))
  } catch {
    // The annotation is user input: what cannot be parsed is not shown.
    return []
  }
}

const SOURCES = ['external', 'object', 'pods', 'resource', 'containerResource']

/** The flat form of the annotations (`targetAverageValue`) as the nested one of v2 (`target.averageValue`). */
function modern(metric: unknown, side: 'target' | 'current'): unknown {
  const source = SOURCES.find((name) => at(metric, name) !== undefined) ?? ''
  const flat = at(metric, source)
  const pick = (field: string) => at(flat, `${side}${field}`)
  const value = {
    averageValue: pick('AverageValue') ?? at(flat, 'averageValue'),
    value: pick('Value'),
    averageUtilization: pick('AverageUtilization'),
  }
  return { type: at(metric, 'type'), [source]: { name: at(flat, 'name'), [side]: value } }
}

export const disruptionBudget: Cells = (object, nowMs) => [
  nameOf(object),
  String(at(object, 'spec', 'minAvailable') ?? 'N/A'),
  String(at(object, 'spec', 'maxUnavailable') ?? 'N/A'),
  count(at(object, 'status', 'disruptionsAllowed')),
  ageOf(object, nowMs),
]
