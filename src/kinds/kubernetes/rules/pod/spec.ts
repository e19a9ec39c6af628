/** A whole pod spec, in a pod or in a template. The order of the checks is the real server's, and so is that of the messages. */
import { duplicate, type FieldError, forbidden, invalid, notFound, required } from '../../../../kube/field-error.ts'
import { checkDns1123Label, checkQualifiedName, nameIsDnsSubdomain, rangeMessage } from '../../../../kube/names.ts'
import { boolean, type Fields, isSet, maybeBoolean, maybeNumber, maybeObject, maybeString, objects, string } from '../fields.ts'
import { dnsLabelErrors, labelErrors } from '../formats.ts'
import { validateAffinity } from './affinity.ts'
import { isMirrorPod } from './annotations.ts'
import { type ContainerContext, validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.ts'
import { allContainers } from './containers-walk.ts'
import { dnsPolicyErrors, hostnameOverrideErrors, validateDnsConfig, validateHostAliases } from './dns.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'
import { internalValue } from './internal-json.ts'
import type { PodOptions } from './options.ts'
import { hostNetworkPortErrors } from './ports.ts'
import { claimNamesOf, validateOverhead, validatePodResources } from './resources.ts'
import { validatePodSecurityContext } from './security-context.ts'
import { validateTolerations } from './tolerations.ts'
import { validateTopologySpread } from './topology-spread.ts'
import { validateVolumes } from './volumes.ts'
import { hostProcessErrors, validateOs } from './windows.ts'

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never']
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never']
const MAX_INT32 = 2 ** 31 - 1

/** `metadata` is the pod's own; absent for templates, whose pods have no name yet. */
export function validatePodSpec(
  path: string,
  spec: Fields,
  { metadata, options }: { metadata: Fields | undefined; options: PodOptions },
): FieldError[] {
  const { volumes, errors } = validateVolumes(`${path}.volumes`, spec, { metadata, options })
  const context: ContainerContext = {
    volumes,
    claimNames: claimNamesOf(spec),
    options,
    gracePeriod: maybeNumber(spec, 'terminationGracePeriodSeconds'),
    podRestartPolicy: string(spec, 'restartPolicy'),
    hostUsers: maybeBoolean(spec, 'hostUsers') !== false,
  }
  return [
    ...(context.gracePeriod === undefined ? [required(`${path}.terminationGracePeriodSeconds`)] : []),
    ...errors,
    ...resourceClaimErrors(`${path}.resourceClaims`, spec, metadata),
    ...validateContainers(`${path}.containers`, spec, context),
    ...validateInitContainers(`${path}.initContainers`, spec, context),
    ...validateEphemeralContainers(`${path}.ephemeralContainers`, spec, context),
    ...validatePodResources(`${path}.resources`, spec, options),
    ...hostNetworkPortErrors(path, spec, options.isPod),
    ...enumErrors(`${path}.restartPolicy`, string(spec, 'restartPolicy'), RESTART_POLICIES),
    ...dnsPolicyErrors(`${path}.dnsPolicy`, spec),
    ...labelErrors(`${path}.nodeSelector`, spec, 'nodeSelector'),
    ...validatePodSecurityContext(`${path}.securityContext`, spec, options),
    ...validateAffinity(`${path}.affinity`, spec, options),
    ...validateDnsConfig(`${path}.dnsConfig`, spec),
    ...gateErrors(path, spec),
    ...validateTopologySpread(`${path}.topologySpreadConstraints`, spec, options),
    ...hostProcessErrors(path, spec),
    ...hostUsersErrors(path, spec, options),
    ...hostnameOverrideErrors(path, spec),
    ...nameErrors(path, spec),
    ...validateTolerations(`${path}.tolerations`, spec),
    ...validateHostAliases(`${path}.hostAliases`, spec),
    ...classErrors(path, spec),
    ...validateOverhead(`${path}.overhead`, spec, options),
    ...validateOs(path, spec),
    ...fileKeyVolumeErrors(path, spec),
  ]
}

const enumErrors = (path: string, value: string, supported: readonly string[]): FieldError[] =>
  value === '' ? [required(path)] : supported.includes(value) ? [] : [unsupported(path, value, supported)]

function nameErrors(path: string, spec: Fields): FieldError[] {
  const errors: FieldError[] = []
  for (const key of ['serviceAccountName', 'nodeName']) {
    const name = string(spec, key)
    if (name !== '') appendAll(errors, invalidEach(`${path}.${key}`, name, nameIsDnsSubdomain(name, false)))
  }
  const deadline = maybeNumber(spec, 'activeDeadlineSeconds')
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    errors.push(invalid(`${path}.activeDeadlineSeconds`, deadline, rangeMessage(1, MAX_INT32)))
  }
  for (const key of ['hostname', 'subdomain']) {
    const name = string(spec, key)
    if (name !== '') appendAll(errors, dnsLabelErrors(`${path}.${key}`, name))
  }
  return errors
}

function classErrors(path: string, spec: Fields): FieldError[] {
  const [priority, runtime, preemption] = [
    string(spec, 'priorityClassName'),
    maybeString(spec, 'runtimeClassName'),
    maybeString(spec, 'preemptionPolicy'),
  ]
  return [
    ...(priority === '' ? [] : invalidEach(`${path}.priorityClassName`, priority, nameIsDnsSubdomain(priority, false))),
    ...(runtime === undefined ? [] : invalidEach(`${path}.runtimeClassName`, runtime, nameIsDnsSubdomain(runtime, false))),
    ...(preemption === undefined ? [] : enumErrors(`${path}.preemptionPolicy`, preemption, PREEMPTION_POLICIES)),
  ]
}

function gateErrors(path: string, spec: Fields): FieldError[] {
  const errors = objects(spec, 'readinessGates').flatMap((gate, i) => {
    const type = string(gate, 'conditionType')
    return invalidEach(`${path}.readinessGates[${i}].conditionType`, type, checkQualifiedName(type))
  })
  const seen = new Set<string>()
  objects(spec, 'schedulingGates').forEach((gate, i) => {
    const name = string(gate, 'name')
    appendAll(errors, invalidEach(`${path}.schedulingGates[${i}]`, name, checkQualifiedName(name)))
    if (seen.has(name)) errors.push(duplicate(`${path}.schedulingGates[${i}]`, name))
    seen.add(name)
  })
  return errors
}

function resourceClaimErrors(path: string, spec: Fields, metadata: Fields | undefined): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  objects(spec, 'resourceClaims').forEach((claim, i) => {
    if (metadata !== undefined && isMirrorPod(metadata)) {
      errors.push(forbidden('[]', 'static pods do not support resource claims'))
      return
    }
    appendAll(errors, oneClaimErrors(`${path}[${i}]`, claim, names))
  })
  return errors
}

function oneClaimErrors(at: string, claim: Fields, names: Set<string>): FieldError[] {
  const errors: FieldError[] = []
  const [name, own, template] = [
    string(claim, 'name'),
    maybeString(claim, 'resourceClaimName'),
    maybeString(claim, 'resourceClaimTemplateName'),
  ]
  const value = internalValue('PodResourceClaim', claim)
  if (name === '') errors.push(required(`${at}.name`))
  else if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
  else {
    appendAll(errors, invalidEach(`${at}.name`, name, checkDns1123Label(name)))
    names.add(name)
  }
  if (own !== undefined && template !== undefined) {
    errors.push(invalid(at, value, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'))
  }
  if (own === undefined && template === undefined) {
    errors.push(invalid(at, value, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'))
  }
  if (own !== undefined) appendAll(errors, invalidEach(`${at}.resourceClaimName`, own, nameIsDnsSubdomain(own, false)))
  if (template !== undefined)
    appendAll(errors, invalidEach(`${at}.resourceClaimTemplateName`, template, nameIsDnsSubdomain(template, false)))
  return errors
}

/** A pod in a user namespace of its own cannot share the host's other namespaces, nor see raw devices. */
function hostUsersErrors(path: string, spec: Fields, options: PodOptions): FieldError[] {
  if (maybeBoolean(spec, 'hostUsers') !== false) return []
  const detail = 'when `hostUsers` is false'
  const errors: FieldError[] = []
  if (boolean(spec, 'hostNetwork') && !options.allowUserNamespaceOnHostNetwork) errors.push(forbidden(`${path}.hostNetwork`, detail))
  if (boolean(spec, 'hostPID')) errors.push(forbidden(`${path}.HostPID`, detail))
  if (boolean(spec, 'hostIPC')) errors.push(forbidden(`${path}.HostIPC`, detail))
  if (options.allowUserNamespaceVolumeDevices) return errors
  for (const { container, path: at } of allContainers(spec, path)) {
    if (objects(container, 'volumeDevices').length > 0) errors.push(forbidden(`${at}.volumeDevices`, detail))
  }
  return errors
}

/** Files that variables are read from live in an emptyDir, which an init container fills. */
function fileKeyVolumeErrors(path: string, spec: Fields): FieldError[] {
  const volumes = new Map(objects(spec, 'volumes').map((volume) => [string(volume, 'name'), volume]))
  return allContainers(spec, path).flatMap(({ container, path: at }) =>
    objects(container, 'env').flatMap((variable, i) => {
      const ref = maybeObject(maybeObject(variable, 'valueFrom'), 'fileKeyRef')
      if (ref === undefined) return []
      const name = string(ref, 'volumeName')
      const field = `${at}.env[${i}].valueFrom.fileKeyRef.volumeName`
      const volume = volumes.get(name)
      if (volume === undefined) return [notFound(field, name)]
      return isSet(volume, 'emptyDir') ? [] : [invalid(field, name, 'referenced volume must be of type emptyDir')]
    }),
  )
}
