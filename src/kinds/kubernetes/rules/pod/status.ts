/** Status of a pod, as the kubelet and controllers report it. */

import { duplicate, type FieldError, forbidden, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { checkDns1123Label, checkQualifiedName, checkUserId, nameIsDnsSubdomain } from '../../../../kube/names.ts'
import { FIELD_IMMUTABLE } from '../../../../kube/validate-meta.ts'
import { entries, type Fields, integers, isSet, maybeObject, maybeString, number, objects, raw, string } from '../fields.ts'
import { ipFamilyOf, legacyIpErrors } from '../ip.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'
import type { PodOptions, SpecAndMeta } from './options.ts'
import { annotationErrors } from './update.ts'

export interface PodWithStatus extends SpecAndMeta {
  status: Fields
}

const NON_NEGATIVE = 'must be a non-negative integer'
const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized']
const HEALTH = ['Healthy', 'Unhealthy', 'Unknown']
const MAX_HEALTH_MESSAGE = 1024

export function podStatusErrors(pod: PodWithStatus, old: PodWithStatus, options: PodOptions): FieldError[] {
  const { status, spec } = pod
  const errors = annotationErrors(pod, old, options)
  objects(status, 'conditions').forEach((condition, i) => {
    appendAll(errors, conditionErrors(`status.conditions[${i}]`, condition))
  })
  appendAll(errors, nominationErrors(status, old))
  if (number(status, 'observedGeneration') < 0) {
    errors.push(invalid('status.observedGeneration', number(status, 'observedGeneration'), NON_NEGATIVE))
  }
  if (string(status, 'qosClass') !== string(old.status, 'qosClass'))
    errors.push(invalid('status.qosClass', string(status, 'qosClass'), FIELD_IMMUTABLE))
  appendAll(
    errors,
    transitionErrors('containerStatuses', status, old),
    transitionErrors('initContainerStatuses', status, old),
    transitionErrors('ephemeralContainerStatuses', status, old),
    claimStatusErrors(status, spec),
    extendedClaimErrors('status.extendedResourceClaimStatus', maybeObject(status, 'extendedResourceClaimStatus'), spec),
    addressErrors('podIPs', status, old.status),
    hostAddressErrors(status, old.status),
  )
  for (const key of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'])
    appendAll(errors, userErrors(key, status, spec))
  return [
    ...errors,
    ...healthErrors('status.containerStatuses', objects(status, 'containerStatuses'), objects(spec, 'containers')),
    ...healthErrors('status.initContainerStatuses', objects(status, 'initContainerStatuses'), objects(spec, 'initContainers')),
    ...objects(status, 'ephemeralContainerStatuses').flatMap((container, i) =>
      objects(container, 'allocatedResourcesStatus').length === 0
        ? []
        : [forbidden(`status.ephemeralContainerStatuses[${i}].allocatedResourcesStatus`, 'must not be specified in container status')],
    ),
  ]
}

function conditionErrors(path: string, condition: Fields): FieldError[] {
  const [generation, type] = [number(condition, 'observedGeneration'), string(condition, 'type')]
  return [
    ...(generation < 0 ? [invalid(`${path}.observedGeneration`, generation, NON_NEGATIVE)] : []),
    ...(SYSTEM_CONDITIONS.includes(type) ? [] : invalidEach(`${path}.Type`, type, checkQualifiedName(type))),
  ]
}

function nominationErrors(status: Fields, old: PodWithStatus): FieldError[] {
  const [next, before] = [string(status, 'nominatedNodeName'), string(old.status, 'nominatedNodeName')]
  if (next === before || next === '') return []
  const errors = invalidEach('status.nominatedNodeName', next, nameIsDnsSubdomain(next, false))
  if (string(old.spec, 'nodeName') !== '') {
    errors.push(forbidden('status.nominatedNodeName', 'may not be set on pods that are already bound to a node'))
  }
  return errors
}

/** A terminated container restarts only if its restart policy allows it. */
function transitionErrors(key: string, status: Fields, old: PodWithStatus): FieldError[] {
  const isEphemeral = key === 'ephemeralContainerStatuses'
  if (!isEphemeral && couldRestartAll(old.spec)) return []
  const specs = byName(objects(old.spec, key === 'initContainerStatuses' ? 'initContainers' : 'containers'))
  const revived = new Set(
    objects(status, key)
      .filter((next) => !isSet(maybeObject(next, 'state'), 'terminated'))
      .map((next) => string(next, 'name')),
  )
  return objects(old.status, key).flatMap((before, i) => {
    const ended = maybeObject(maybeObject(before, 'state'), 'terminated')
    if (ended === undefined || !revived.has(string(before, 'name'))) return []
    const container = specs.get(string(before, 'name'))
    if (!isEphemeral && container !== undefined && shouldRestart(container, old.spec, number(ended, 'exitCode'))) return []
    return [forbidden(`status.${key}[${i}].state`, 'may not be transitioned to non-terminated state')]
  })
}

const byName = (containers: readonly Fields[]): ReadonlyMap<string, Fields> => new Map(containers.map((c) => [string(c, 'name'), c]))

const couldRestartAll = (spec: Fields): boolean =>
  [...objects(spec, 'initContainers'), ...objects(spec, 'containers')].some((container) =>
    objects(container, 'restartPolicyRules').some((rule) => string(rule, 'action') === 'RestartAllContainers'),
  )

function shouldRestart(container: Fields, spec: Fields, exitCode: number): boolean {
  const own = maybeString(container, 'restartPolicy')
  if (own !== undefined) {
    const rule = objects(container, 'restartPolicyRules').find((candidate) => matchesExit(maybeObject(candidate, 'exitCodes'), exitCode))
    if (rule !== undefined && ['Restart', 'RestartAllContainers'].includes(string(rule, 'action'))) return true
  }
  const policy = own !== undefined && ['Always', 'OnFailure', 'Never'].includes(own) ? own : string(spec, 'restartPolicy')
  if (policy === 'OnFailure') return exitCode !== 0
  return policy !== 'Never'
}

function matchesExit(exitCodes: Fields | undefined, exitCode: number): boolean {
  const isListed = integers(exitCodes, 'values').includes(exitCode)
  const operator = string(exitCodes, 'operator')
  return operator === 'In' ? isListed : operator === 'NotIn' && !isListed
}

function claimStatusErrors(status: Fields, spec: Fields): FieldError[] {
  const known = new Set(objects(spec, 'resourceClaims').map((claim) => string(claim, 'name')))
  const seen = new Set<string>()
  return objects(status, 'resourceClaimStatuses').flatMap((claim, i) => {
    const at = `status.resourceClaimStatuses[${i}]`
    const [name, own] = [string(claim, 'name'), maybeString(claim, 'resourceClaimName')]
    const errors = known.has(name) ? [] : [invalid(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`')]
    if (seen.has(name)) errors.push(duplicate(`${at}.name`, name))
    seen.add(name)
    return own === undefined ? errors : [...errors, ...invalidEach(`${at}.resourceClaimName`, own, nameIsDnsSubdomain(own, false))]
  })
}

function extendedClaimErrors(path: string, claim: Fields | undefined, spec: Fields): FieldError[] {
  if (claim === undefined) return []
  const containers = new Map([...objects(spec, 'initContainers'), ...objects(spec, 'containers')].map((c) => [string(c, 'name'), c]))
  const mappings = objects(claim, 'requestMappings')
  const seen = new Set<string>()
  const errors = mappings.length === 0 ? [required(`${path}.requestMappings`, 'at least one request mapping is required')] : []
  mappings.forEach((mapping, i) => {
    const at = `${path}.requestMappings[${i}]`
    const [name, resource, request] = [string(mapping, 'containerName'), string(mapping, 'resourceName'), string(mapping, 'requestName')]
    const container = containers.get(name)
    if (container === undefined) {
      errors.push(
        invalid(`${at}.containerName`, name, 'must match the name of an entry in spec.initContainers.name or spec.containers.name'),
      )
    } else if (!entries(maybeObject(container, 'resources'), 'requests').some(([key]) => key === resource)) {
      const where = 'spec.initContainers.resources.requests or spec.containers.resources.requests'
      errors.push(invalid(`${at}.resourceName`, resource, `must match the extended resource name of an entry in ${where}`))
    }
    appendAll(errors, invalidEach(`${path}.requestName`, request, checkDns1123Label(request)))
    const key = JSON.stringify([name, resource, request])
    if (seen.has(key)) {
      errors.push(
        duplicate(`${at}.containerName`, name),
        duplicate(`${at}.resourceName`, resource),
        duplicate(`${at}.requestName`, request),
      )
    }
    seen.add(key)
  })
  const claimName = string(claim, 'resourceClaimName')
  if (claimName === '') return [...errors, required(`${path}.resourceClaimName`)]
  return [...errors, ...invalidEach(`${path}.resourceClaimName`, claimName, nameIsDnsSubdomain(claimName, false))]
}

/** At most one address of each family. */
function addressErrors(key: string, status: Fields, old: Fields): FieldError[] {
  const ips = objects(status, key).map((entry) => string(entry, 'ip'))
  const known = objects(old, key).map((entry) => string(entry, 'ip'))
  const errors = ips.flatMap((ip, i) => legacyIpErrors(`status.${key}[${i}]`, ip, known))
  if (ips.length < 2) return errors
  const families = ips.map(ipFamilyOf)
  const bad = families.indexOf(undefined)
  const isDual = bad < 0 && families.includes('IPv4') && families.includes('IPv6')
  if (bad >= 0) {
    const detail = `failed to check for dual stack with error:invalid IP[${bad}]: ${ips[bad]}`
    errors.push({ type: 'InternalError', field: `status.${key}`, detail })
  }
  if (!isDual || ips.length > 2) {
    const value = ips.map((ip) => ({ IP: ip }))
    errors.push(invalid(`status.${key}`, value, 'may specify no more than one IP for each IP family'))
  }
  return errors
}

function hostAddressErrors(status: Fields, old: Fields): FieldError[] {
  const first = objects(status, 'hostIPs')[0]
  if (first === undefined) return []
  const errors =
    string(status, 'hostIP') === string(first, 'ip')
      ? []
      : [invalid('status.hostIPs[0].ip', string(first, 'ip'), 'must be equal to `hostIP`')]
  return [...errors, ...addressErrors('hostIPs', status, old)]
}

function userErrors(key: string, status: Fields, spec: Fields): FieldError[] {
  const isWindows = string(maybeObject(spec, 'os'), 'name') === 'windows'
  return objects(status, key).flatMap((container, i) => {
    const user = maybeObject(maybeObject(container, 'user'), 'linux')
    const at = `status.${key}[${i}].user.linux`
    if (user === undefined) return []
    if (isWindows) return [forbidden(at, 'cannot be set for a windows pod')]
    return [
      ...invalidEach(`${at}.uid`, number(user, 'uid'), checkUserId(number(user, 'uid'))),
      ...invalidEach(`${at}.gid`, number(user, 'gid'), checkUserId(number(user, 'gid'))),
      ...integers(user, 'supplementalGroups').flatMap((id, j) => invalidEach(`${at}.supplementalGroups[${j}]`, id, checkUserId(id))),
    ]
  })
}

function healthErrors(path: string, statuses: readonly Fields[], containers: readonly Fields[]): FieldError[] {
  const known = byName(containers)
  return statuses.flatMap((status, i) =>
    objects(status, 'allocatedResourcesStatus').flatMap((allocated, j) => {
      const at = `${path}[${i}].allocatedResourcesStatus[${j}]`
      const container = known.get(string(status, 'name'))
      return [...allocationErrors(`${at}.name`, string(allocated, 'name'), container), ...resourceHealthErrors(at, allocated)]
    }),
  )
}

function allocationErrors(field: string, name: string, container: Fields | undefined): FieldError[] {
  if (container === undefined) return []
  const resources = maybeObject(container, 'resources')
  if (!name.startsWith('claim:')) {
    const isRequested = entries(resources, 'requests').some(([key]) => key === name)
    return isRequested ? [] : [invalid(field, name, "must match one of the container's resource requests")]
  }
  const claims = objects(resources, 'claims').map(
    (claim) => `claim:${string(claim, 'name')}${string(claim, 'request') && `/${string(claim, 'request')}`}`,
  )
  if (claims.includes(name)) return []
  const detail =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
  return [invalid(field, name, detail)]
}

function resourceHealthErrors(path: string, allocated: Fields): FieldError[] {
  const seen = new Set<string>()
  return objects(allocated, 'resources').flatMap((resource, i) => {
    const at = `${path}.resources[${i}]`
    const [health, message, id] = [string(resource, 'health'), maybeString(resource, 'message'), string(resource, 'resourceID')]
    const errors = HEALTH.includes(health) ? [] : [unsupported(`${at}.health`, health, HEALTH)]
    if (message === '') errors.push(required(`${at}.message`, 'must be non-empty if specified'))
    else if (message !== undefined && Buffer.byteLength(message) > MAX_HEALTH_MESSAGE)
      errors.push(tooLong(`${at}.message`, MAX_HEALTH_MESSAGE))
    if (seen.has(id)) errors.push(duplicate(`${at}.resourceID`, id))
    seen.add(id)
    return errors
  })
}

/** Reporters that do not know generations must not erase them. */
export function keepObservedGenerations(status: Fields, old: Fields): void {
  if (number(status, 'observedGeneration') === 0 && number(old, 'observedGeneration') !== 0) {
    status.observedGeneration = raw(old, 'observedGeneration')
  }
  const generations = new Map<string, number[]>()
  for (const condition of objects(old, 'conditions')) {
    const type = string(condition, 'type')
    generations.set(type, [...(generations.get(type) ?? []), number(condition, 'observedGeneration')])
  }
  for (const condition of objects(status, 'conditions')) {
    const before = generations.get(string(condition, 'type'))?.shift() ?? 0
    if (number(condition, 'observedGeneration') === 0 && before !== 0) condition.observedGeneration = before
  }
}
