/** LimitRanges of a namespace: defaults for containers that specify nothing, bounds for pods, containers and claims. */

import { setOwn } from '../../../base/json.ts'
import type { Amounts } from '../../../kube/amounts.ts'
import { aggregateMessage } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { compareQuantities, formatQuantity, type Quantity, quantityOf, scaledValue } from '../../../kube/quantity.ts'
import { type Admission, type AdmissionContext, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import { podAmounts, quantitiesOf } from '../pod-amounts.ts'
import { ensureObject, type Fields, object, objects, string, writableObjects } from '../rules/fields.ts'
import { forbidden } from './forbid.ts'

const ANNOTATION = 'kubernetes.io/limit-ranger'
const LIMIT_RANGES = { group: '', resource: 'limitranges' }
const MAX_MILLI = 9_223_372_036_854_775n

const isPod = (request: AdmissionRequest): boolean => request.kind === 'Pod'

/** Pods are checked when they are created and resized, claims whenever they are written. */
function applies(request: AdmissionRequest): boolean {
  if (request.object === undefined || request.oldObject?.metadata.deletionTimestamp !== undefined) return false
  if (isPod(request)) return request.subresource === 'resize' ? request.operation === 'UPDATE' : request.operation === 'CREATE'
  return request.subresource === ''
}

const limitsOf = (range: KubeObject): readonly Fields[] => objects(object(range, 'spec'), 'limits')

function containerDefaults(range: KubeObject): { requests: Fields; limits: Fields } {
  const containers = limitsOf(range).filter((limit) => string(limit, 'type') === 'Container')
  return {
    requests: Object.assign({}, ...containers.map((limit) => object(limit, 'defaultRequest'))),
    limits: Object.assign({}, ...containers.map((limit) => object(limit, 'default'))),
  }
}

function fill(container: Fields, defaults: { requests: Fields; limits: Fields }, kind: string): string[] {
  const said: string[] = []
  const fillList = (list: 'requests' | 'limits', word: string): void => {
    const missing = Object.keys(defaults[list])
      .filter((name) => !Object.hasOwn(object(object(container, 'resources'), list), name))
      .sort()
    if (missing.length === 0) return
    const target = ensureObject(ensureObject(container, 'resources'), list)
    for (const name of missing) setOwn(target, name, defaults[list][name])
    said.push(`${missing.join(', ')} ${word} for ${kind} ${string(container, 'name')}`)
  }
  fillList('requests', 'request')
  fillList('limits', 'limit')
  return said
}

function mutate(request: AdmissionRequest, { read }: AdmissionContext): void {
  const pod = request.object
  if (pod === undefined || !isPod(request) || !applies(request)) return
  for (const range of read.list(LIMIT_RANGES, request.namespace)) {
    const defaults = containerDefaults(range)
    const spec = ensureObject(pod, 'spec')
    const said = [
      ...writableObjects(spec, 'containers').flatMap((container) => fill(container, defaults, 'container')),
      ...writableObjects(spec, 'initContainers').flatMap((container) => fill(container, defaults, 'init container')),
    ]
    if (said.length === 0) continue
    pod.metadata.annotations ??= {}
    pod.metadata.annotations[ANNOTATION] = `LimitRanger plugin set: ${said.join('; ')}`
  }
}

interface Asked {
  requests: Amounts<Quantity>
  limits: Amounts<Quantity>
}

interface Bound {
  type: string
  name: string
  enforced: Quantity
}

/** Thousandths, unless a number is too large for them; then whole units. */
function comparable(...amounts: Quantity[]): bigint[] {
  const fits = amounts.every((amount) => scaledValue(amount, 0) <= MAX_MILLI)
  return amounts.map((amount) => scaledValue(amount, fits ? -3 : 0))
}

const ZERO = quantityOf(0)
const text = formatQuantity

function minProblem({ type, name, enforced }: Bound, { requests, limits }: Asked): string | undefined {
  const said = `minimum ${name} usage per ${type} is ${text(enforced)}`
  const [request, limit] = [requests.get(name), limits.get(name)]
  if (request === undefined) return `${said}.  No request is specified`
  const [low = 0n, high = 0n, bound = 0n] = comparable(request, limit ?? ZERO, enforced)
  if (low < bound) return `${said}, but request is ${text(request)}`
  return limit !== undefined && high < bound ? `${said}, but limit is ${text(limit)}` : undefined
}

function maxProblem({ type, name, enforced }: Bound, { requests, limits }: Asked): string | undefined {
  const said = `maximum ${name} usage per ${type} is ${text(enforced)}`
  const [request, limit] = [requests.get(name), limits.get(name)]
  if (limit === undefined) return `${said}.  No limit is specified`
  const [low = 0n, high = 0n, bound = 0n] = comparable(request ?? ZERO, limit, enforced)
  if (high > bound) return `${said}, but limit is ${text(limit)}`
  return request !== undefined && low > bound ? `${said}, but request is ${text(request)}` : undefined
}

function maxRequestProblem({ type, name, enforced }: Bound, { requests }: Asked): string | undefined {
  const said = `maximum ${name} usage per ${type} is ${text(enforced)}`
  const request = requests.get(name)
  if (request === undefined) return `${said}.  No request is specified`
  return compareQuantities(request, enforced) > 0 ? `${said}, but request is ${text(request)}` : undefined
}

function ratioProblem({ type, name, enforced }: Bound, { requests, limits }: Asked): string | undefined {
  const said = `${name} max limit to request ratio per ${type} is ${text(enforced)}`
  const [request, limit] = [requests.get(name), limits.get(name)]
  const [low = 0n, high = 0n] = comparable(request ?? ZERO, limit ?? ZERO, enforced)
  if (low === 0n) return `${said}, but no request is specified or request is 0`
  if (high === 0n) return `${said}, but no limit is specified or limit is 0`
  const ratio = Number(high) / Number(low)
  const allowed = scaledValue(enforced, 0) <= MAX_MILLI ? Number(scaledValue(enforced, -3)) / 1000 : Number(scaledValue(enforced, 0))
  return ratio > allowed ? `${said}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}

function problems(limit: Fields, asked: Asked): string[] {
  const type = string(limit, 'type')
  const check = (list: string, problem: (bound: Bound, asked: Asked) => string | undefined): string[] =>
    [...quantitiesOf(limit, list)].flatMap(([name, enforced]) => problem({ type, name, enforced }, asked) ?? [])
  if (type === 'PersistentVolumeClaim') return [...check('min', minProblem), ...check('max', maxRequestProblem)]
  return [...check('min', minProblem), ...check('max', maxProblem), ...check('maxLimitRequestRatio', ratioProblem)]
}

function podProblems(limit: Fields, pod: KubeObject): string[] {
  const type = string(limit, 'type')
  if (type === 'Pod') return problems(limit, { requests: podAmounts(pod, 'requests'), limits: podAmounts(pod, 'limits') })
  if (type !== 'Container') return []
  const spec = object(pod, 'spec')
  return [...objects(spec, 'containers'), ...objects(spec, 'initContainers')].flatMap((container) => {
    const resources = object(container, 'resources')
    return problems(limit, { requests: quantitiesOf(resources, 'requests'), limits: quantitiesOf(resources, 'limits') })
  })
}

function validate(request: AdmissionRequest, { read }: AdmissionContext): undefined {
  const subject = request.object
  if (subject === undefined || !applies(request)) return
  for (const range of read.list(LIMIT_RANGES, request.namespace)) {
    const found = limitsOf(range).flatMap((limit) => {
      if (isPod(request)) return podProblems(limit, subject)
      if (string(limit, 'type') !== 'PersistentVolumeClaim') return []
      return problems(limit, { requests: quantitiesOf(object(object(subject, 'spec'), 'resources'), 'requests'), limits: new Map() })
    })
    if (found.length > 0) throw forbidden(request, aggregateMessage(found))
  }
}

export const limitRanger: Admission = defineAdmission({
  name: 'LimitRanger',
  about: 'Fills in the default requests and limits of the LimitRanges of the namespace, and refuses what breaks them.',
  resources: [
    { group: '', resource: 'pods' },
    { group: '', resource: 'pods/resize' },
    { group: '', resource: 'persistentvolumeclaims' },
  ],
  operations: ['CREATE', 'UPDATE'],
  mutate,
  validate,
})
