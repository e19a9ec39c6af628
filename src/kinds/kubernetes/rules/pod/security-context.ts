/** Security contexts of pods and containers, for Linux and what Windows shares with it. */
import { type FieldError, invalid } from '../../../../kube/field-error.ts'
import { checkUserId } from '../../../../kube/names.ts'
import { boolean, type Fields, integers, maybeBoolean, maybeNumber, maybeObject, maybeString, string, strings } from '../fields.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'
import { internalValue } from './internal-json.ts'
import type { PodOptions } from './options.ts'
import { appArmorErrors, seccompErrors } from './security-profiles.ts'
import { validateSysctls } from './sysctls.ts'
import { windowsOptionErrors } from './windows.ts'

const FS_GROUP_POLICIES = ['Always', 'OnRootMismatch']
const GROUP_POLICIES = ['Merge', 'Strict']
const SELINUX_POLICIES = ['MountOption', 'Recursive']
const PROC_MOUNTS = ['Default', 'Unmasked']

const idErrors = (path: string, context: Fields, key: string): FieldError[] => {
  const id = maybeNumber(context, key)
  return id === undefined ? [] : invalidEach(`${path}.${key}`, id, checkUserId(id))
}

const enumErrors = (path: string, value: string | undefined, supported: readonly string[]): FieldError[] =>
  value === undefined || supported.includes(value) ? [] : [unsupported(path, value, supported)]

export function validatePodSecurityContext(path: string, spec: Fields, options: PodOptions): FieldError[] {
  const context = maybeObject(spec, 'securityContext') ?? {}
  const errors = [...idErrors(path, context, 'fsGroup'), ...idErrors(path, context, 'runAsUser'), ...idErrors(path, context, 'runAsGroup')]
  integers(context, 'supplementalGroups').forEach((id, i) => {
    appendAll(errors, invalidEach(`${path}.supplementalGroups[${i}]`, id, checkUserId(id)))
  })
  if (boolean(spec, 'hostPID') && boolean(spec, 'shareProcessNamespace')) {
    errors.push(invalid(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'))
  }
  const changePolicy = maybeString(context, 'seLinuxChangePolicy')
  const changePolicies = options.onlyRecursiveSELinuxChange ? ['Recursive'] : SELINUX_POLICIES
  return [
    ...errors,
    ...validateSysctls(`${path}.sysctls`, spec, options.allowHostSysctls),
    ...enumErrors(`${path}.fsGroupChangePolicy`, maybeString(context, 'fsGroupChangePolicy'), FS_GROUP_POLICIES),
    ...seccompErrors(`${path}.seccompProfile`, maybeObject(context, 'seccompProfile')),
    ...windowsOptionErrors(`${path}.windowsOptions`, maybeObject(context, 'windowsOptions')),
    ...appArmorErrors(`${path}.appArmorProfile`, maybeObject(context, 'appArmorProfile')),
    ...enumErrors(`${path}.supplementalGroupsPolicy`, maybeString(context, 'supplementalGroupsPolicy'), GROUP_POLICIES),
    ...enumErrors(`${path}.seLinuxChangePolicy`, changePolicy, changePolicies),
  ]
}

/** `hostUsers` is whether the pod shares the host's user namespace, as it does unless it says otherwise. */
export function validateSecurityContext(path: string, container: Fields, hostUsers: boolean): FieldError[] {
  const context = maybeObject(container, 'securityContext')
  if (context === undefined) return []
  const procMount = maybeString(context, 'procMount')
  const errors = [...idErrors(path, context, 'runAsUser'), ...idErrors(path, context, 'runAsGroup')]
  appendAll(errors, enumErrors(`${path}.procMount`, procMount, PROC_MOUNTS))
  if (hostUsers && procMount === 'Unmasked') {
    errors.push(invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`'))
  }
  appendAll(errors, seccompErrors(`${path}.seccompProfile`, maybeObject(context, 'seccompProfile')), escalationErrors(path, context))
  return [
    ...errors,
    ...windowsOptionErrors(`${path}.windowsOptions`, maybeObject(context, 'windowsOptions')),
    ...appArmorErrors(`${path}.appArmorProfile`, maybeObject(context, 'appArmorProfile')),
  ]
}

function escalationErrors(path: string, context: Fields): FieldError[] {
  if (maybeBoolean(context, 'allowPrivilegeEscalation') !== false) return []
  const value = internalValue('SecurityContext', context)
  const errors: FieldError[] = []
  if (boolean(context, 'privileged')) {
    errors.push(invalid(path, value, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
  }
  for (const capability of strings(maybeObject(context, 'capabilities'), 'add')) {
    if (capability === 'CAP_SYS_ADMIN') {
      errors.push(invalid(path, value, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'))
    }
  }
  return errors
}

export const runsOnWindows = (spec: Fields | undefined): boolean => string(maybeObject(spec, 'os'), 'name') === 'windows'
