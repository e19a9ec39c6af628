/**
 * HorizontalPodAutoscaler between autoscaling/v1 and the stored autoscaling/v2. What v1 has no field for travels in
 * annotations, in the JSON of the types the real server uses for it, so that nothing is lost either way.
 */
import { deepClone, isJsonObject, type Json } from '../../base/json.ts'
import { goJson } from '../../kube/go-print.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { decodeAs, decodeTyped } from './decode-json.ts'
import { cpuUtilization, listOf, metricSpecToV1, metricSpecToV2, metricStatusToV1, metricStatusToV2 } from './hpa-metrics.ts'
import { messageModel } from './model.ts'
import type { Fields } from './rules/fields.ts'

const PREFIX = 'autoscaling.alpha.kubernetes.io/'
const METRICS = `${PREFIX}metrics`
const CURRENT_METRICS = `${PREFIX}current-metrics`
const CONDITIONS = `${PREFIX}conditions`
const BEHAVIOR = `${PREFIX}behavior`
const ROUND_TRIP = [METRICS, BEHAVIOR, `${PREFIX}scale-down-tolerance`, `${PREFIX}scale-up-tolerance`, CURRENT_METRICS, CONDITIONS]

const DEFAULT_CPU_UTILIZATION = 80

/** Between `autoscaling/v1` and `autoscaling/v2`; other targets leave the object as it is. */
export function convertHorizontalPodAutoscaler(object: KubeObject, toApiVersion: string): KubeObject {
  if (object.apiVersion === 'autoscaling/v2' && toApiVersion === 'autoscaling/v1') return toV1(object)
  if (object.apiVersion === 'autoscaling/v1' && toApiVersion === 'autoscaling/v2') return toV2(object)
  return object
}

function withAnnotations(object: KubeObject, added: Record<string, string>): KubeObject['metadata'] {
  const annotations: Record<string, string> = { ...object.metadata.annotations }
  for (const name of ROUND_TRIP) delete annotations[name]
  return { ...object.metadata, annotations: { ...annotations, ...added } }
}

const fields = (value: unknown): Fields => (isJsonObject(value) ? value : {})

/** A list as the struct of that name prints each item. */
const printed = (structName: string, items: Fields[]): string => goJson(items.map((item) => reprint(structName, item)))

function reprint(structName: string, value: Fields): Fields {
  const model = messageModel(`k8s.io.api.autoscaling.v1.${structName}`)
  return model === undefined ? value : decodeAs(model, value as Json).object
}

function toV1(object: KubeObject): KubeObject {
  const spec = fields(object.spec)
  const status = fields(object.status)
  const metrics = listOf(spec.metrics)
  const added: Record<string, string> = {}
  const others = metrics.filter((metric) => cpuUtilization(metric, 'target') === undefined)
  if (others.length > 0) added[METRICS] = printed('MetricSpec', others.map(metricSpecToV1))
  const current = listOf(status.currentMetrics)
  if (current.length > 0) added[CURRENT_METRICS] = printed('MetricStatus', current.map(metricStatusToV1))
  if (isJsonObject(spec.behavior)) added[BEHAVIOR] = goJson(internalBehavior(spec.behavior))
  const conditions = listOf(status.conditions)
  if (conditions.length > 0) added[CONDITIONS] = printed('HorizontalPodAutoscalerCondition', conditions)
  const converted: Fields = {
    kind: object.kind,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(object, added),
    spec: {
      scaleTargetRef: spec.scaleTargetRef,
      minReplicas: spec.minReplicas,
      maxReplicas: spec.maxReplicas,
      targetCPUUtilizationPercentage: first(metrics, 'target'),
    },
    status: {
      observedGeneration: status.observedGeneration,
      lastScaleTime: status.lastScaleTime,
      currentReplicas: status.currentReplicas,
      desiredReplicas: status.desiredReplicas,
      currentCPUUtilizationPercentage: last(current),
    },
  }
  return decodeTyped({ group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' }, converted as Json).object
}

const first = (metrics: Fields[], part: 'target' | 'current'): unknown =>
  metrics.map((metric) => cpuUtilization(metric, part)).find((value) => value !== undefined)

const last = (metrics: Fields[]): unknown => first([...metrics].reverse(), 'current')

const cpuMetric = (utilization: unknown): Fields => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: utilization } },
})

function toV2(object: KubeObject): KubeObject {
  const spec = fields(object.spec)
  const status = fields(object.status)
  const annotations = object.metadata.annotations ?? {}
  const cpu = spec.targetCPUUtilizationPercentage ?? undefined
  const metrics = [
    ...(decoded(annotations, METRICS, 'MetricSpec') ?? []).map(metricSpecToV2),
    ...(cpu === undefined ? [] : [cpuMetric(cpu)]),
  ]
  if (metrics.length === 0) metrics.push(cpuMetric(DEFAULT_CPU_UTILIZATION))
  const converted: Fields = {
    kind: object.kind,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(object, {}),
    spec: {
      scaleTargetRef: spec.scaleTargetRef,
      minReplicas: spec.minReplicas,
      maxReplicas: spec.maxReplicas,
      metrics,
      behavior: behaviorFrom(annotations),
    },
    status: {
      observedGeneration: status.observedGeneration,
      lastScaleTime: status.lastScaleTime,
      currentReplicas: status.currentReplicas,
      desiredReplicas: status.desiredReplicas,
      currentMetrics: decoded(annotations, CURRENT_METRICS, 'MetricStatus')?.map(metricStatusToV2) ?? currentCpu(status),
      conditions: decoded(annotations, CONDITIONS, 'HorizontalPodAutoscalerCondition'),
    },
  }
  return decodeTyped({ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' }, converted as Json).object
}

function currentCpu(status: Fields): Fields[] | undefined {
  const utilization = status.currentCPUUtilizationPercentage ?? undefined
  return utilization === undefined
    ? undefined
    : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: utilization } } }]
}

/** The list an annotation holds, or undefined when it is absent or not of that type (the real server ignores those). */
function decoded(annotations: Record<string, string>, name: string, structName: string): Fields[] | undefined {
  const value = parseAnnotation(annotations, name)
  if (!Array.isArray(value)) return undefined
  try {
    return value.map((item) => (item === null ? {} : reprint(structName, item as Fields)))
  } catch {
    // Edited by hand and invalid: ignored rather than refused, as on the real server.
    return undefined
  }
}

function parseAnnotation(annotations: Record<string, string>, name: string): unknown {
  const text = Object.hasOwn(annotations, name) ? annotations[name] : undefined
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The real server writes its internal struct here, whose fields have no JSON names: they print as in Go, null when unset. */
function internalBehavior(behavior: Fields): Fields {
  return { ScaleUp: internalRules(behavior.scaleUp), ScaleDown: internalRules(behavior.scaleDown) }
}

function internalRules(value: unknown): Fields | null {
  if (!isJsonObject(value)) return null
  return {
    StabilizationWindowSeconds: value.stabilizationWindowSeconds ?? null,
    SelectPolicy: value.selectPolicy ?? null,
    Policies: Array.isArray(value.policies)
      ? listOf(value.policies).map((p) => ({ Type: p.type ?? '', Value: p.value ?? 0, PeriodSeconds: p.periodSeconds ?? 0 }))
      : null,
    Tolerance: value.tolerance ?? null,
  }
}

function behaviorFrom(annotations: Record<string, string>): Fields | undefined {
  const internal = fields(parseAnnotation(annotations, BEHAVIOR))
  const behavior: Fields = {}
  if (isJsonObject(internal.ScaleUp)) behavior.scaleUp = externalRules(internal.ScaleUp)
  if (isJsonObject(internal.ScaleDown)) behavior.scaleDown = externalRules(internal.ScaleDown)
  return Object.keys(behavior).length === 0 ? undefined : behavior
}

function externalRules(rules: Fields): Fields {
  return deepClone({
    stabilizationWindowSeconds: rules.StabilizationWindowSeconds,
    selectPolicy: rules.SelectPolicy,
    policies: Array.isArray(rules.Policies)
      ? listOf(rules.Policies).map((p) => ({ type: p.Type, value: p.Value, periodSeconds: p.PeriodSeconds }))
      : undefined,
    tolerance: rules.Tolerance,
  })
}
