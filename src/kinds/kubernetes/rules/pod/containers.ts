/** Regular, init and ephemeral containers: what they share, and what each kind may not have. */
import { duplicate, type FieldError, forbidden, invalid, notFound, required, tooMany } from '../../../../kube/field-error.ts'
import { checkDns1123Label } from '../../../../kube/names.ts'
import { entries, type Fields, integers, isSet, maybeObject, maybeString, objects, string } from '../fields.ts'
import { validateEnv, validateEnvFrom } from './env.ts'
import { appendAll, forbidEach, invalidEach, unsupported } from './errors.ts'
import { validateVolumeDevices, validateVolumeMounts } from './mounts.ts'
import type { PodOptions } from './options.ts'
import { hostPortErrors, validatePorts } from './ports.ts'
import { validateLifecycle, validateProbes } from './probes.ts'
import { validateContainerResources } from './resources.ts'
import { validateSecurityContext } from './security-context.ts'
import { pullPolicyErrors } from './volume-sources.ts'
import type { Volumes } from './volumes.ts'

export interface ContainerContext {
  volumes: Volumes
  claimNames: ReadonlySet<string>
  options: PodOptions
  gracePeriod: number | undefined
  podRestartPolicy: string
  hostUsers: boolean
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError']
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure']
const RESTART_ACTIONS = ['Restart', 'RestartAllContainers']
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer']
const ONLY_SIDECARS = 'may not be set for init containers without restartPolicy=Always'
const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container'

function commonErrors(path: string, container: Fields, context: ContainerContext): FieldError[] {
  const [name, policy] = [string(container, 'name'), string(container, 'terminationMessagePolicy')]
  const errors = name === '' ? [required(`${path}.name`)] : invalidEach(`${path}.name`, name, checkDns1123Label(name))
  if (string(container, 'image') === '') errors.push(required(`${path}.image`))
  if (policy === '') errors.push(required(`${path}.terminationMessagePolicy`))
  else if (!MESSAGE_POLICIES.includes(policy)) errors.push(unsupported(`${path}.terminationMessagePolicy`, policy, MESSAGE_POLICIES))
  return [
    ...errors,
    ...validatePorts(`${path}.ports`, container),
    ...validateEnv(`${path}.env`, container),
    ...validateEnvFrom(`${path}.envFrom`, container),
    ...validateVolumeMounts(`${path}.volumeMounts`, container, context.volumes),
    ...validateVolumeDevices(`${path}.volumeDevices`, container, context.volumes),
    ...pullPolicyErrors(`${path}.imagePullPolicy`, string(container, 'imagePullPolicy')),
    ...validateContainerResources(`${path}.resources`, maybeObject(container, 'resources'), context),
    ...resizePolicyErrors(`${path}.resizePolicy`, container, context.podRestartPolicy),
    ...validateSecurityContext(`${path}.securityContext`, container, context.hostUsers),
  ]
}

function resizePolicyErrors(path: string, container: Fields, podRestartPolicy: string): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  objects(container, 'resizePolicy').forEach((policy, i) => {
    const [resource, restart] = [string(policy, 'resourceName'), string(policy, 'restartPolicy')]
    if (seen.has(resource)) errors.push(duplicate(`${path}[${i}]`, resource))
    seen.add(resource)
    if (resource === '') errors.push(required(path))
    else if (resource !== 'cpu' && resource !== 'memory') errors.push(unsupported(path, resource, ['cpu', 'memory']))
    if (restart === '') errors.push(required(path))
    else if (!RESIZE_POLICIES.includes(restart)) errors.push(unsupported(path, restart, RESIZE_POLICIES))
    if (podRestartPolicy === 'Never' && restart !== 'NotRequired') {
      errors.push(invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    }
  })
  return errors
}

function restartPolicyErrors(path: string, container: Fields): FieldError[] {
  const policy = maybeString(container, 'restartPolicy')
  const rules = objects(container, 'restartPolicyRules')
  const errors: FieldError[] = []
  if (policy === undefined) {
    if (rules.length > 0) errors.push(required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'))
  } else if (!RESTART_POLICIES.includes(policy)) errors.push(unsupported(`${path}.restartPolicy`, policy, RESTART_POLICIES))
  if (rules.length > 20) errors.push(tooMany(`${path}.restartPolicyRules`, rules.length, 20))
  rules.forEach((rule, i) => {
    appendAll(errors, restartRuleErrors(`${path}.restartPolicyRules[${i}]`, rule))
  })
  return errors
}

function restartRuleErrors(path: string, rule: Fields): FieldError[] {
  const errors: FieldError[] = []
  const action = string(rule, 'action')
  if (!RESTART_ACTIONS.includes(action)) errors.push(unsupported(`${path}.action`, action, RESTART_ACTIONS))
  const exitCodes = maybeObject(rule, 'exitCodes')
  if (exitCodes === undefined) return [...errors, required(`${path}.exitCodes`, 'must be specified')]
  const operator = string(exitCodes, 'operator')
  const count = integers(exitCodes, 'values').length
  if (operator !== 'In' && operator !== 'NotIn') errors.push(unsupported(`${path}.exitCodes.operator`, operator, ['In', 'NotIn']))
  if (count > 255) errors.push(tooMany(`${path}.exitCodes.values`, count, 255))
  return errors
}

export function validateContainers(path: string, spec: Fields, context: ContainerContext): FieldError[] {
  const containers = objects(spec, 'containers')
  if (containers.length === 0) return [required(path)]
  const errors: FieldError[] = []
  const names = new Set<string>()
  containers.forEach((container, i) => {
    const at = `${path}[${i}]`
    const name = string(container, 'name')
    appendAll(errors, commonErrors(at, container, context))
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
    names.add(name)
    appendAll(errors, validateLifecycle(at, container, context.gracePeriod), validateProbes(at, container))
    appendAll(errors, restartPolicyErrors(at, container))
  })
  return [...errors, ...hostPortErrors(path, containers)]
}

export function validateInitContainers(path: string, spec: Fields, context: ContainerContext): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set(objects(spec, 'containers').map((container) => string(container, 'name')))
  objects(spec, 'initContainers').forEach((container, i) => {
    const at = `${path}[${i}]`
    const name = string(container, 'name')
    appendAll(errors, commonErrors(at, container, context))
    appendAll(errors, initRestartErrors(at, container))
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
    else if (name !== '') names.add(name)
    // The real server checks each init container separately, and so always reports index 0.
    appendAll(errors, hostPortErrors(path, [container]))
    appendAll(errors, isSidecar(container) ? sidecarErrors(at, container, context) : plainInitErrors(at, container, context.options))
  })
  return errors
}

export const isSidecar = (container: Fields): boolean => string(container, 'restartPolicy') === 'Always'

const initRestartErrors = (path: string, container: Fields): FieldError[] =>
  isSet(container, 'restartPolicy')
    ? restartPolicyErrors(path, container)
    : objects(container, 'restartPolicyRules').length > 0
      ? [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')]
      : []

const sidecarErrors = (path: string, container: Fields, context: ContainerContext): FieldError[] => [
  ...validateLifecycle(path, container, context.gracePeriod),
  ...validateProbes(path, container),
]

function plainInitErrors(path: string, container: Fields, options: PodOptions): FieldError[] {
  const errors = forbidEach(
    ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'].map((key) => isSet(container, key) && `${path}.${key}`),
    ONLY_SIDECARS,
  )
  if (options.allowRestartContainerForInit) return errors
  objects(container, 'resizePolicy').forEach((policy, i) => {
    const restart = string(policy, 'restartPolicy')
    if (restart !== 'RestartContainer') return
    const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    errors.push(invalid(`${path}.resizePolicy[${i}].restartPolicy`, restart, detail))
  })
  return errors
}

/** Fields of a container that an ephemeral one may not set, in the order of the struct. */
const NOT_FOR_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
]

export function validateEphemeralContainers(path: string, spec: Fields, context: ContainerContext): FieldError[] {
  const errors: FieldError[] = []
  const others = new Set([...objects(spec, 'containers'), ...objects(spec, 'initContainers')].map((container) => string(container, 'name')))
  const names = new Set(others)
  objects(spec, 'ephemeralContainers').forEach((container, i) => {
    const at = `${path}[${i}]`
    const [name, target] = [string(container, 'name'), string(container, 'targetContainerName')]
    appendAll(errors, commonErrors(at, container, context), imageSpaceErrors(at, container))
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
    names.add(name)
    if (target !== '' && !others.has(target)) errors.push(notFound(`${at}.targetContainerName`, target))
    appendAll(
      errors,
      forbidEach(
        NOT_FOR_EPHEMERAL.map((key) => hasValue(container, key) && `${at}.${key}`),
        NOT_EPHEMERAL,
      ),
    )
    objects(container, 'volumeMounts').forEach((mount, j) => {
      for (const key of ['subPath', 'subPathExpr']) {
        if (string(mount, key) !== '') errors.push(forbidden(`${at}.volumeMounts[${j}].${key}`, NOT_EPHEMERAL))
      }
    })
  })
  return errors
}

/** Set to something other than its zero value. */
function hasValue(container: Fields, key: string): boolean {
  const value = container[key]
  if (Array.isArray(value)) return value.length > 0
  if (key !== 'resources') return isSet(container, key)
  const resources = maybeObject(container, 'resources')
  return entries(resources, 'limits').length + entries(resources, 'requests').length + objects(resources, 'claims').length > 0
}

/** Checked only on pods: old templates may contain spaces. */
export const imageSpaceErrors = (path: string, container: Fields): FieldError[] => {
  const image = string(container, 'image')
  return image.trim() === image ? [] : [invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')]
}
