/** Defaults that pods get and pod templates do not, and the aliases that conversion keeps equal on them. */

import { isHugePages } from '../../../../kube/amounts.ts'
import { isPodLevelResource } from '../../pod-amounts.ts'
import { isOvercommitAllowed } from '../core/resources.ts'
import { boolean, entries, type Fields, isFields, maybeNumber, maybeObject, objects, raw, string } from '../fields.ts'
import { defaultHostPorts, defaultPodSpec, ensureFields, setDefault } from './defaults.ts'
import { aggregateAmounts, setAmount } from './quantities.ts'

/** Annotations by which pods had init containers before v1.8; the server removes them wherever it meets them. */
const INIT_CONTAINER_ANNOTATIONS = ['beta', 'alpha'].flatMap((stage) => [
  `pod.${stage}.kubernetes.io/init-containers`,
  `pod.${stage}.kubernetes.io/init-container-statuses`,
])

export function dropInitContainerAnnotations(metadata: Fields | undefined): void {
  const annotations = maybeObject(metadata, 'annotations')
  if (annotations !== undefined) for (const key of INIT_CONTAINER_ANNOTATIONS) delete annotations[key]
}

export function defaultPod(pod: Fields): void {
  const spec = ensureFields(pod, 'spec')
  defaultPodSpec(spec)
  for (const key of ['containers', 'initContainers']) {
    for (const container of objects(spec, key)) {
      const resources = maybeObject(container, 'resources')
      if (resources !== undefined) requestLimits(resources)
    }
  }
  defaultPodLevelResources(spec)
  setDefault(spec, 'enableServiceLinks', true)
  if (boolean(spec, 'hostNetwork')) defaultHostPorts(spec)
  dropInitContainerAnnotations(maybeObject(pod, 'metadata'))
  const grace = maybeNumber(spec, 'terminationGracePeriodSeconds')
  if (grace !== undefined && grace < 0) spec.terminationGracePeriodSeconds = 1
  const status = maybeObject(pod, 'status')
  if (status !== undefined) alignPodIps(status)
}

/** Where only a limit is given, the request is set to the limit. */
function requestLimits(resources: Fields): void {
  const limits = entries(resources, 'limits')
  if (limits.length === 0) return
  const requests = ensureFields(resources, 'requests')
  for (const [name, amount] of limits) if (!Object.hasOwn(requests, name)) Object.defineProperty(requests, name, ownValue(amount))
}

const ownValue = (value: unknown): PropertyDescriptor => ({ value, writable: true, enumerable: true, configurable: true })

function defaultPodLevelResources(spec: Fields): void {
  const resources = maybeObject(spec, 'resources')
  if (resources === undefined) return
  const has = (key: string, name: string): boolean => Object.hasOwn(maybeObject(resources, key) ?? {}, name)
  if (entries(resources, 'limits').length + entries(resources, 'requests').length > 0) {
    for (const [name, amount] of aggregateAmounts(spec, 'limits')) {
      if (isHugePages(name) && !has('requests', name) && !has('limits', name)) setAmount(ensureFields(resources, 'limits'), name, amount)
    }
  }
  if (entries(resources, 'limits').length === 0) return
  for (const [name, amount] of aggregateAmounts(spec, 'requests')) {
    const isDefaulted = isPodLevelResource(name) && isOvercommitAllowed(name)
    if (isDefaulted && !has('requests', name)) setAmount(ensureFields(resources, 'requests'), name, amount)
  }
  for (const [name, amount] of entries(resources, 'limits')) {
    if (isPodLevelResource(name) && !has('requests', name)) ensureFields(resources, 'requests')[name] = amount
  }
}

/** `podIP` is the first of `podIPs`; where they differ, the older field wins. */
function alignPodIps(status: Fields): void {
  const [ip, first] = [string(status, 'podIP'), string(objects(status, 'podIPs')[0], 'ip')]
  if (ip !== '' && ip !== first) status.podIPs = [{ ip }]
  else if (ip === '' && isFields((raw(status, 'podIPs') as unknown[] | undefined)?.[0])) status.podIP = first
}
