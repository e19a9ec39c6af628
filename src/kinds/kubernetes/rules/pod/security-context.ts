/** Security contexts of pods and containers, on Linux and in what Windows shares with it. */
import { type FieldError, invalid } from '../../../../kube/field-error.ts'
import { checkUserId } from '../../../../kube/names.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'
import { internalValue } from './internal-json.ts'
import type { PodOptions } from './options.ts'
import { type Fields, fields, flag, flagOrUnset, integerOrUnset, integers, text, textOrUnset, texts } from './read.ts'
import { appArmorErrors, seccompErrors } from './security-profiles.ts'
import { validateSysctls } from './sysctls.ts'
import { windowsOptionErrors } from './windows.ts'

const FS_GROUP_POLICIES = ['Always', 'OnRootMismatch']
const GROUP_POLICIES = ['Merge', 'Strict']
const SELINUX_POLICIES = ['MountOption', 'Recursive']
const PROC_MOUNTS = ['Default', 'Unmasked']

const idErrors = (path: string, context: Fields, key: string): FieldError[] => {
  const id = integerOrUnset(context, key)
  return id === undefined ? [] : invalidEach(`${path}.${key}`, id, checkUserId(id))
}

const enumErrors = (path: string, value: string | undefined, supported: readonly string[]): FieldError[] =>
  value === undefined || supported.includes(value) ? [] : [unsupported(path, value, supported)]

export function validatePodSecurityContext(path: string, spec: Fields, options: PodOptions): FieldError[] {
  const context = fields(spec, 'securityContext') ?? {}
  const errors = [...idErrors(path, context, 'fsGroup'), ...idErrors(path, context, 'runAsUser'), ...idErrors(path, context, 'runAsGroup')]
  integers(context, 'supplementalGroups').forEach((id, i) => {
    appendAll(errors, invalidEach(`${path}.supplementalGroups[${i}]`, id, checkUserId(id)))
  })
  if (flag(spec, 'hostPID') && flag(spec, 'shareProcessNamespace')) {
    errors.push(invalid(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'))
  }
  const changePolicy = textOrUnset(context, 'seLinuxChangePolicy')
  const changePolicies = options.onlyRecursiveSELinuxChange ? ['Recursive'] : SELINUX_POLICIES
  return [
    ...errors,
    ...validateSysctls(`${path}.sysctls`, spec, options.allowHostSysctls),
    ...enumErrors(`${path}.fsGroupChangePolicy`, textOrUnset(context, 'fsGroupChangePolicy'), FS_GROUP_POLICIES),
    ...seccompErrors(`${path}.seccompProfile`, fields(context, 'seccompProfile')),
    ...windowsOptionErrors(`${path}.windowsOptions`, fields(context, 'windowsOptions')),
    ...appArmorErrors(`${path}.appArmorProfile`, fields(context, 'appArmorProfile')),
    ...enumErrors(`${path}.supplementalGroupsPolicy`, textOrUnset(context, 'supplementalGroupsPolicy'), GROUP_POLICIES),
    ...enumErrors(`${path}.seLinuxChangePolicy`, changePolicy, changePolicies),
  ]
}

/** `hostUsers` is whether the pod shares the host's user namespace, as it does unless it says otherwise. */
export function validateSecurityContext(path: string, container: Fields, hostUsers: boolean): FieldError[] {
  const context = fields(container, 'securityContext')
  if (context === undefined) return []
  const procMount = textOrUnset(context, 'procMount')
  const errors = [...idErrors(path, context, 'runAsUser'), ...idErrors(path, context, 'runAsGroup')]
  appendAll(errors, enumErrors(`${path}.procMount`, procMount, PROC_MOUNTS))
  if (hostUsers && procMount === 'Unmasked') {
    errors.push(invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`'))
  }
  appendAll(errors, seccompErrors(`${path}.seccompProfile`, fields(context, 'seccompProfile')), escalationErrors(path, context))
  return [
    ...errors,
    ...windowsOptionErrors(`${path}.windowsOptions`, fields(context, 'windowsOptions')),
    ...appArmorErrors(`${path}.appArmorProfile`, fields(context, 'appArmorProfile')),
  ]
}

function escalationErrors(path: string, context: Fields): FieldError[] {
  if (flagOrUnset(context, 'allowPrivilegeEscalation') !== false) return []
  const value = internalValue('SecurityContext', context)
  const errors: FieldError[] = []
  if (flag(context, 'privileged')) {
    errors.push(invalid(path, value, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
  }
  for (const capability of texts(fields(context, 'capabilities'), 'add')) {
    if (capability === 'CAP_SYS_ADMIN') {
      errors.push(invalid(path, value, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'))
    }
  }
  return errors
}

export const runsOnWindows = (spec: Fields | undefined): boolean => text(fields(spec, 'os'), 'name') === 'windows'
