/**
 * What an object costs a namespace's quota, by kind: pods by their requests, services by ports and load balancers,
 * claims by size and class, everything else by count.
 */
import { setOwn } from '../../../base/json.ts'
import { type Amounts, addAmounts } from '../../../kube/amounts.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { compareQuantities, isZeroQuantity, type Quantity, quantityOf, scaledValue } from '../../../kube/quantity.ts'
import type { AdmissionRequest } from '../../admission.ts'
import { podAmountsWithOverhead, quantitiesOf } from '../pod-amounts.ts'
import { isNativeResource } from '../rules/core/resources.ts'
import { type Fields, field, maybeBoolean, maybeNumber, maybeObject, number, object, objects, string, strings } from '../rules/fields.ts'
import { podQosClass } from '../rules/pod/qos.ts'
import { classOfClaim } from './classes.ts'

export interface QuotaEvaluator {
  handles(request: AdmissionRequest): boolean
  /** Of these resource names of a quota, those that this kind of object uses. */
  matching(names: readonly string[]): string[]
  matchesScope(scope: Fields, subject: KubeObject): boolean
  /** What the object must specify to be counted at all. */
  missing(required: readonly string[], subject: KubeObject): string | undefined
  usage(subject: KubeObject, nowMs: number): Amounts<Quantity>
}

const ONE = quantityOf(1)
const countName = (group: string, resource: string): string => `count/${resource}${group === '' ? '' : `.${group}`}`
const intersection = (names: readonly string[], known: readonly string[]): string[] => names.filter((name) => known.includes(name))
const noScope = (): boolean => false
const nothingMissing = (): undefined => undefined

/** In, NotIn, Exists and DoesNotExist over a name that may be absent. */
function matchesOperator(scope: Fields, name: string | undefined): boolean {
  const values = strings(scope, 'values')
  switch (string(scope, 'operator')) {
    case 'In':
      return name !== undefined && values.includes(name)
    case 'NotIn':
      return name === undefined || !values.includes(name)
    case 'Exists':
      return name !== undefined
    case 'DoesNotExist':
      return name === undefined
    default:
      return false
  }
}

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const POD_RESOURCES = ['pods', 'count/pods', ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])]
const MUST_STATE = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']

function computeUsage(requests: Amounts<Quantity>, limits: Amounts<Quantity>): Amounts<Quantity> {
  const usage: Amounts<Quantity> = new Map([['pods', ONE]])
  for (const name of COMPUTE) {
    const [request, limit] = [requests.get(name), limits.get(name)]
    if (request !== undefined) usage.set(name, request).set(`requests.${name}`, request)
    if (limit !== undefined) usage.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) usage.set(name, request).set(`requests.${name}`, request)
    if (!isNativeResource(name) || name.startsWith('deviceclass.resource.kubernetes.io/')) usage.set(`requests.${name}`, request)
  }
  return usage
}

const isTerminating = (pod: KubeObject): boolean => (maybeNumber(object(pod, 'spec'), 'activeDeadlineSeconds') ?? -1) >= 0

/** Finished pods, and those past their grace period, count only as objects. */
function usesCompute(pod: KubeObject, nowMs: number): boolean {
  if (['Failed', 'Succeeded'].includes(string(object(pod, 'status'), 'phase'))) return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true
  return nowMs <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
}

function crossesNamespaces(pod: KubeObject): boolean {
  const crosses = (term: Fields): boolean => strings(term, 'namespaces').length > 0 || field(term, 'namespaceSelector') !== undefined
  const affinity = object(object(pod, 'spec'), 'affinity')
  return ['podAffinity', 'podAntiAffinity'].some(
    (key) =>
      objects(object(affinity, key), 'requiredDuringSchedulingIgnoredDuringExecution').some(crosses) ||
      objects(object(affinity, key), 'preferredDuringSchedulingIgnoredDuringExecution').some((weighted) =>
        crosses(object(weighted, 'podAffinityTerm')),
      ),
  )
}

function podMatchesScope(scope: Fields, pod: KubeObject): boolean {
  switch (string(scope, 'scopeName')) {
    case 'Terminating':
      return isTerminating(pod)
    case 'NotTerminating':
      return !isTerminating(pod)
    case 'BestEffort':
      return podQosClass(object(pod, 'spec')) === 'BestEffort'
    case 'NotBestEffort':
      return podQosClass(object(pod, 'spec')) !== 'BestEffort'
    case 'PriorityClass':
      return matchesOperator(scope, string(object(pod, 'spec'), 'priorityClassName') || undefined)
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(pod)
    default:
      return false
  }
}

function podMissing(required: readonly string[], pod: KubeObject): string | undefined {
  const spec = object(pod, 'spec')
  const podLevel = maybeObject(spec, 'resources')
  if (podLevel !== undefined && ['requests', 'limits'].some((list) => Object.keys(object(podLevel, list)).length > 0)) return undefined
  const missing = new Map<string, Set<string>>()
  for (const container of [...objects(spec, 'containers'), ...objects(spec, 'initContainers')]) {
    const resources = object(container, 'resources')
    const stated = computeUsage(quantitiesOf(resources, 'requests'), quantitiesOf(resources, 'limits'))
    for (const name of intersection(required, MUST_STATE)) {
      if (stated.has(name)) continue
      const containers = missing.get(name) ?? new Set<string>()
      missing.set(name, containers.add(string(container, 'name')))
    }
  }
  if (missing.size === 0) return undefined
  const said = [...missing.keys()].sort().map((name) => `${name} for: ${[...(missing.get(name) ?? [])].sort().join(',')}`)
  return `must specify ${said.join('; ')}`
}

const pods: QuotaEvaluator = {
  handles({ operation, subresource, object: pod, oldObject: old }) {
    if (subresource === 'resize') return operation === 'UPDATE'
    if (subresource !== '' || pod === undefined) return false
    return operation === 'CREATE' || (operation === 'UPDATE' && old !== undefined && isTerminating(old) !== isTerminating(pod))
  },
  matching: (names) =>
    names.filter(
      (name) =>
        POD_RESOURCES.includes(name) ||
        name.startsWith('hugepages-') ||
        name.startsWith('requests.hugepages-') ||
        (name.startsWith('requests.') && (!isNativeResource(name) || name.startsWith('requests.deviceclass.resource.kubernetes.io/'))),
    ),
  matchesScope: podMatchesScope,
  missing: podMissing,
  usage(pod, nowMs) {
    const usage: Amounts<Quantity> = new Map([['count/pods', ONE]])
    if (usesCompute(pod, nowMs))
      addAmounts(usage, computeUsage(podAmountsWithOverhead(pod, 'requests'), podAmountsWithOverhead(pod, 'limits')))
    return usage
  },
}

const SERVICE_RESOURCES = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers']

const services: QuotaEvaluator = {
  handles: ({ subresource }) => subresource === '',
  matching: (names) => intersection(names, SERVICE_RESOURCES),
  matchesScope: noScope,
  missing: nothingMissing,
  usage(service) {
    const spec = object(service, 'spec')
    const type = string(spec, 'type')
    const ports = objects(spec, 'ports')
    const allocates = maybeBoolean(spec, 'allocateLoadBalancerNodePorts') !== false
    const nodePorts =
      type === 'NodePort' || (type === 'LoadBalancer' && allocates)
        ? ports.length
        : type === 'LoadBalancer'
          ? ports.filter((port) => number(port, 'nodePort') !== 0).length
          : 0
    return new Map([
      ['count/services', ONE],
      ['services', ONE],
      ['services.loadbalancers', quantityOf(type === 'LoadBalancer' ? 1 : 0)],
      ['services.nodeports', quantityOf(nodePorts)],
    ])
  },
}

const CLAIM_RESOURCES = ['persistentvolumeclaims', 'requests.storage']
const BY_CLASS = '.storageclass.storage.k8s.io/'

/** The requested size, or what is already allocated if that is more; always whole bytes. */
function claimStorage(claim: KubeObject): Amounts<Quantity> {
  const asked = quantitiesOf(object(object(claim, 'spec'), 'resources'), 'requests').get('storage')
  if (asked === undefined) return new Map()
  const allocated = quantitiesOf(object(claim, 'status'), 'allocatedResources').get('storage')
  const larger = allocated !== undefined && compareQuantities(allocated, asked) > 0 ? allocated : asked
  const whole = scaledValue(larger, 0)
  const exact = scaledValue(larger, -3) === whole * 1000n
  return new Map([['requests.storage', exact ? larger : { unscaled: whole, scale: 0, format: larger.format }]])
}

const attributeClassesOf = (claim: KubeObject): string[] => {
  const status = object(claim, 'status')
  return [
    string(object(claim, 'spec'), 'volumeAttributesClassName'),
    string(status, 'currentVolumeAttributesClassName'),
    string(object(status, 'modifyVolumeStatus'), 'targetVolumeAttributesClassName'),
  ].filter((name) => name !== '')
}

const claims: QuotaEvaluator = {
  handles({ subresource, object: claim, oldObject: old }) {
    if (subresource === '') return true
    if (subresource !== 'status' || claim === undefined || old === undefined) return false
    const allocated = (of: KubeObject): unknown => field(object(object(of, 'status'), 'allocatedResources'), 'storage')
    return allocated(claim) !== allocated(old) || attributeClassesOf(claim).join() !== attributeClassesOf(old).join()
  },
  matching: (names) =>
    names.filter(
      (name) =>
        name === 'count/persistentvolumeclaims' ||
        CLAIM_RESOURCES.includes(name) ||
        CLAIM_RESOURCES.some((resource) => name.endsWith(`${BY_CLASS}${resource}`)),
    ),
  matchesScope(scope, claim) {
    if (string(scope, 'scopeName') !== 'VolumeAttributesClass') return false
    const names = attributeClassesOf(claim)
    return names.length === 0 ? matchesOperator(scope, undefined) : names.some((name) => matchesOperator(scope, name))
  },
  missing: nothingMissing,
  usage(claim) {
    const usage: Amounts<Quantity> = new Map([
      ['persistentvolumeclaims', ONE],
      ['count/persistentvolumeclaims', ONE],
    ])
    addAmounts(usage, claimStorage(claim))
    const storageClass = classOfClaim(claim)
    if (storageClass === '') return usage
    for (const name of CLAIM_RESOURCES) {
      const amount = usage.get(name)
      if (amount !== undefined) usage.set(`${storageClass}${BY_CLASS}${name}`, amount)
    }
    return usage
  },
}

/** Kinds that could be counted before counting was general keep their old name besides the new one. */
const OLD_NAMES = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']

function counted(group: string, resource: string): QuotaEvaluator {
  const names = [countName(group, resource), ...(group === '' && OLD_NAMES.includes(resource) ? [resource] : [])]
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    matching: (all) => intersection(all, names),
    matchesScope: noScope,
    missing: nothingMissing,
    usage: () => new Map(names.map((name) => [name, ONE])),
  }
}

const IGNORED = ['authentication.k8s.io', 'authorization.k8s.io', 'events.k8s.io']

/** Undefined for what is never counted: events and kinds that are not stored. */
export function evaluatorFor(group: string, resource: string): QuotaEvaluator | undefined {
  if (IGNORED.includes(group)) return undefined
  if (group !== '') return counted(group, resource)
  switch (resource) {
    case 'pods':
      return pods
    case 'services':
      return services
    case 'persistentvolumeclaims':
      return claims
    case 'events':
    case 'bindings':
    case 'componentstatuses':
      return undefined
    default:
      return counted(group, resource)
  }
}

export function withoutZeros(amounts: Amounts<Quantity>): Amounts<Quantity> {
  return new Map([...amounts].filter(([, amount]) => !isZeroQuantity(amount)))
}

/** As it is written into a quota's status. */
export function printedAmounts(amounts: Amounts<Quantity>, print: (name: string) => string): Fields {
  const out: Fields = {}
  for (const name of [...amounts.keys()].sort()) setOwn(out, name, print(name))
  return out
}
