/** Metrics of a HorizontalPodAutoscaler between autoscaling/v2 and the old types that the v1 annotations hold. */
import { type Fields, fieldsOf } from './rules/fields.ts'

export const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])

/** Drops what is undefined, so that the result prints as Go would. */
const compact = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined && v !== null))

const SOURCES = ['object', 'pods', 'resource', 'containerResource', 'external'] as const
type Source = (typeof SOURCES)[number]

type Converter = (source: Fields) => Fields

function convertWith(converters: Record<Source, Converter>, metric: Fields): Fields {
  const out: Fields = { type: metric.type }
  for (const name of SOURCES) if (metric[name] !== undefined && metric[name] !== null) out[name] = converters[name](fieldsOf(metric[name]))
  return out
}

const isZero = (quantity: unknown): boolean => quantity === undefined || quantity === null || quantity === '0'

const specToV1: Record<Source, Converter> = {
  object: ({ describedObject, target, metric }) => {
    const to = fieldsOf(target)
    const id = fieldsOf(metric)
    return compact({
      target: describedObject,
      metricName: id.name,
      targetValue: to.value ?? '0',
      selector: id.selector,
      averageValue: to.averageValue,
    })
  },
  pods: ({ target, metric }) => {
    const id = fieldsOf(metric)
    return compact({ metricName: id.name, targetAverageValue: fieldsOf(target).averageValue ?? '0', selector: id.selector })
  },
  resource: ({ name, target }) => compact({ name, ...averages(fieldsOf(target), 'target') }),
  containerResource: ({ name, container, target }) => compact({ name, ...averages(fieldsOf(target), 'target'), container }),
  external: ({ target, metric }) => {
    const to = fieldsOf(target)
    const id = fieldsOf(metric)
    return compact({ metricName: id.name, metricSelector: id.selector, targetValue: to.value, targetAverageValue: to.averageValue })
  },
}

const averages = (from: Fields, prefix: 'target' | 'current'): Fields => ({
  [`${prefix}AverageUtilization`]: from.averageUtilization,
  [`${prefix}AverageValue`]: from.averageValue ?? (prefix === 'current' ? '0' : undefined),
})

const specToV2: Record<Source, Converter> = {
  object: ({ target, metricName, targetValue, selector, averageValue }) => {
    const average = averageValue !== undefined && averageValue !== null
    // The old type cannot omit the value; a zero beside an average means that none was given.
    const value = average && isZero(targetValue) ? undefined : (targetValue ?? '0')
    return {
      describedObject: target,
      target: compact({ type: average ? 'AverageValue' : 'Value', value, averageValue }),
      metric: compact({ name: metricName, selector }),
    }
  },
  pods: ({ metricName, targetAverageValue, selector }) => ({
    metric: compact({ name: metricName, selector }),
    target: { type: 'AverageValue', averageValue: targetAverageValue ?? '0' },
  }),
  resource: (source) => ({ name: source.name, target: resourceTarget(source) }),
  containerResource: (source) => ({ name: source.name, target: resourceTarget(source), container: source.container }),
  external: ({ metricName, metricSelector, targetValue, targetAverageValue }) => ({
    metric: compact({ name: metricName, selector: metricSelector }),
    target: compact({
      type: targetValue === undefined || targetValue === null ? 'AverageValue' : 'Value',
      value: targetValue,
      averageValue: targetAverageValue,
    }),
  }),
}

function resourceTarget({ targetAverageUtilization: utilization, targetAverageValue }: Fields): Fields {
  const type = utilization === undefined || utilization === null ? 'AverageValue' : 'Utilization'
  return compact({ type, averageValue: targetAverageValue, averageUtilization: utilization })
}

const statusToV1: Record<Source, Converter> = {
  object: ({ describedObject, current, metric }) => {
    const now = fieldsOf(current)
    const id = fieldsOf(metric)
    return compact({
      target: describedObject,
      metricName: id.name,
      currentValue: now.value ?? '0',
      selector: id.selector,
      averageValue: now.averageValue,
    })
  },
  pods: ({ current, metric }) => {
    const id = fieldsOf(metric)
    return compact({ metricName: id.name, currentAverageValue: fieldsOf(current).averageValue ?? '0', selector: id.selector })
  },
  resource: ({ name, current }) => compact({ name, ...averages(fieldsOf(current), 'current') }),
  containerResource: ({ name, container, current }) => compact({ name, ...averages(fieldsOf(current), 'current'), container }),
  external: ({ current, metric }) => {
    const now = fieldsOf(current)
    const id = fieldsOf(metric)
    return compact({
      metricName: id.name,
      metricSelector: id.selector,
      currentValue: now.value ?? '0',
      currentAverageValue: now.averageValue,
    })
  },
}

const statusToV2: Record<Source, Converter> = {
  object: ({ target, metricName, currentValue, selector, averageValue }) => ({
    describedObject: target,
    metric: compact({ name: metricName, selector }),
    current: compact({ value: currentValue ?? '0', averageValue }),
  }),
  pods: ({ metricName, currentAverageValue, selector }) => ({
    metric: compact({ name: metricName, selector }),
    current: { averageValue: currentAverageValue ?? '0' },
  }),
  resource: (source) => ({ name: source.name, current: resourceCurrent(source) }),
  containerResource: (source) => ({ name: source.name, current: resourceCurrent(source), container: source.container }),
  external: ({ metricName, metricSelector, currentValue, currentAverageValue }) => ({
    metric: compact({ name: metricName, selector: metricSelector }),
    current: compact({ value: currentValue ?? '0', averageValue: currentAverageValue }),
  }),
}

const resourceCurrent = ({ currentAverageUtilization, currentAverageValue }: Fields): Fields =>
  compact({ averageValue: currentAverageValue ?? '0', averageUtilization: currentAverageUtilization })

export const metricSpecToV1 = (metric: Fields): Fields => convertWith(specToV1, metric)
export const metricSpecToV2 = (metric: Fields): Fields => convertWith(specToV2, metric)
export const metricStatusToV1 = (metric: Fields): Fields => convertWith(statusToV1, metric)
export const metricStatusToV2 = (metric: Fields): Fields => convertWith(statusToV2, metric)

/** The one metric that autoscaling/v1 has a field for. */
export function cpuUtilization(metric: Fields, part: 'target' | 'current'): unknown {
  const resource = fieldsOf(metric.resource)
  if (metric.type !== 'Resource' || resource.name !== 'cpu') return undefined
  return fieldsOf(resource[part]).averageUtilization ?? undefined
}
