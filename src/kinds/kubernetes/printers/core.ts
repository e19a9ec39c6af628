/** Rows of the simple kinds of the core group: data, namespaces, nodes, quotas, events. */
import { compareStrings } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { ageOf, at, type Cells, count, keysOf, list, nameOf, since, text } from './fields.ts'

export const nameAndAge: Cells = (object, nowMs) => [nameOf(object), ageOf(object, nowMs)]

/** Kinds without columns of their own show when they were created. */
export const nameAndCreation: Cells = (object) => [nameOf(object), object.metadata.creationTimestamp ?? null]

export const configMap: Cells = (object, nowMs) => [
  nameOf(object),
  keysOf(at(object, 'data')).length + keysOf(at(object, 'binaryData')).length,
  ageOf(object, nowMs),
]

export const secret: Cells = (object, nowMs) => [
  nameOf(object),
  text(at(object, 'type')),
  keysOf(at(object, 'data')).length,
  ageOf(object, nowMs),
]

export const namespace: Cells = (object, nowMs) => [nameOf(object), text(at(object, 'status', 'phase')), ageOf(object, nowMs)]

export const componentStatus: Cells = (object) => {
  const condition = list(at(object, 'conditions')).find((c) => at(c, 'type') === 'Healthy')
  const status = condition === undefined ? 'Unknown' : at(condition, 'status') === 'True' ? 'Healthy' : 'Unhealthy'
  return [nameOf(object), status, text(at(condition, 'message')), text(at(condition, 'error'))]
}

export const node: Cells = (object, nowMs) => {
  const info = at(object, 'status', 'nodeInfo')
  const architecture = text(at(info, 'architecture'))
  return [
    nameOf(object),
    nodeStatus(object),
    nodeRoles(object) || '<none>',
    ageOf(object, nowMs),
    text(at(info, 'kubeletVersion')),
    nodeAddress(object, 'InternalIP'),
    nodeAddress(object, 'ExternalIP'),
    text(at(info, 'osImage'), '<unknown>'),
    text(at(info, 'kernelVersion'), '<unknown>') + (architecture === '' ? '' : ` (${architecture})`),
    text(at(info, 'containerRuntimeVersion'), '<unknown>'),
  ]
}

function nodeStatus(object: KubeObject): string {
  const ready = list(at(object, 'status', 'conditions')).findLast((c) => at(c, 'type') === 'Ready')
  const status = ready === undefined ? 'Unknown' : at(ready, 'status') === 'True' ? 'Ready' : 'NotReady'
  return at(object, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status
}

const ROLE_PREFIX = 'node-role.kubernetes.io/'

function nodeRoles(object: KubeObject): string {
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(object.metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX)) roles.add(key.slice(ROLE_PREFIX.length))
    else if (key === 'kubernetes.io/role') roles.add(value)
  }
  roles.delete('')
  return [...roles].sort(compareStrings).join(',')
}

function nodeAddress(object: KubeObject, type: string): string {
  const address = list(at(object, 'status', 'addresses')).find((a) => at(a, 'type') === type)
  return text(at(address, 'address'), '<none>')
}

export const resourceQuota: Cells = (object, nowMs) => {
  const hard = at(object, 'status', 'hard')
  const used = at(object, 'status', 'used')
  const cell = (names: string[]) => names.map((name) => `${name}: ${at(used, name) ?? '0'}/${at(hard, name) ?? '0'}`).join(', ')
  const names = keysOf(hard)
  const isLimit = (name: string) => name.startsWith('limits.')
  return [nameOf(object), cell(names.filter((name) => !isLimit(name))), cell(names.filter(isLimit)), ageOf(object, nowMs)]
}

/** The same event in its two versions: core/v1 and events.k8s.io/v1 name the fields differently. */
export const coreEvent: Cells = (object, nowMs) =>
  eventCells(
    object,
    {
      about: at(object, 'involvedObject'),
      source: at(object, 'source'),
      message: at(object, 'message'),
      first: at(object, 'firstTimestamp'),
      last: at(object, 'lastTimestamp'),
      count: at(object, 'count'),
      controller: at(object, 'reportingComponent'),
    },
    nowMs,
  )

export const event: Cells = (object, nowMs) =>
  eventCells(
    object,
    {
      about: at(object, 'regarding'),
      source: at(object, 'deprecatedSource'),
      message: at(object, 'note'),
      first: at(object, 'deprecatedFirstTimestamp'),
      last: at(object, 'deprecatedLastTimestamp'),
      count: at(object, 'deprecatedCount'),
      controller: at(object, 'reportingController'),
    },
    nowMs,
  )

type EventFields = Record<'about' | 'source' | 'message' | 'first' | 'last' | 'count' | 'controller', unknown>

function eventCells(object: KubeObject, fields: EventFields, nowMs: number): unknown[] {
  const series = at(object, 'series')
  const first = since(fields.first ?? at(object, 'eventTime'), nowMs)
  const last = fields.last === undefined ? first : since(fields.last, nowMs)
  const component = text(at(fields.source, 'component'), text(fields.controller))
  const instance = text(at(fields.source, 'host'), text(at(object, 'reportingInstance')))
  const kind = text(at(fields.about, 'kind')).toLowerCase()
  const name = text(at(fields.about, 'name'))
  return [
    series === undefined ? last : since(at(series, 'lastObservedTime'), nowMs),
    text(at(object, 'type')),
    text(at(object, 'reason')),
    name === '' ? kind : `${kind}/${name}`,
    text(at(fields.about, 'fieldPath')),
    instance === '' ? component : `${component}, ${instance}`,
    text(fields.message).trim(),
    first,
    // An event that is neither part of a series nor counted happened once.
    series === undefined ? count(fields.count) || 1 : count(at(series, 'count')),
    nameOf(object),
  ]
}
