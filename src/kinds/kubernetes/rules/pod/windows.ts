/** What a pod's operating system allows: Windows options, host-process containers, and fields of the other system. */
import { type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { checkDns1123Subdomain } from '../../../../kube/names.ts'
import { boolean, type Fields, isSet, maybeBoolean, maybeObject, maybeString, objects, string } from '../fields.ts'
import { allContainers } from './containers-walk.ts'
import { appendAll, forbidEach, invalidEach, unsupported } from './errors.ts'

const MAX_CREDENTIAL_BYTES = 64 * 1024
const MAX_DOMAIN = 256
const MAX_USER = 104
const CONTROL = /\p{Cc}/u
const NET_BIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const DNS_DOMAIN = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`)

export function windowsOptionErrors(path: string, options: Fields | undefined): FieldError[] {
  if (options === undefined) return []
  const errors: FieldError[] = []
  const name = maybeString(options, 'gmsaCredentialSpecName')
  const credential = maybeString(options, 'gmsaCredentialSpec')
  const user = maybeString(options, 'runAsUserName')
  if (name !== undefined) appendAll(errors, invalidEach(`${path}.gmsaCredentialSpecName`, name, checkDns1123Subdomain(name)))
  if (credential === '') errors.push(invalid(`${path}.gmsaCredentialSpec`, credential, 'gmsaCredentialSpec cannot be an empty string'))
  else if (credential !== undefined && Buffer.byteLength(credential) > MAX_CREDENTIAL_BYTES) {
    errors.push(invalid(`${path}.gmsaCredentialSpec`, credential, 'gmsaCredentialSpec size must be under 64 KiB'))
  }
  if (user !== undefined) {
    appendAll(
      errors,
      userNameProblems(user).map((problem) => invalid(`${path}.runAsUserName`, user, problem)),
    )
  }
  return errors
}

function userNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (CONTROL.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const [domain, user] = parts.length === 1 ? [undefined, parts[0] ?? ''] : [parts[0] ?? '', parts[1] ?? '']
  const problems: string[] = []
  if (domain !== undefined && Buffer.byteLength(domain) >= MAX_DOMAIN) {
    problems.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN} characters`)
  }
  if (domain !== undefined && !NET_BIOS.test(domain) && !DNS_DOMAIN.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  if (user === '') problems.push("runAsUserName's User cannot be empty")
  else if (Buffer.byteLength(user) > MAX_USER) problems.push(`runAsUserName's User length must not be longer than ${MAX_USER} characters`)
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return problems
}

/** Either all containers are host-process or none, and they need the host's network. */
export function hostProcessErrors(path: string, spec: Fields): FieldError[] {
  const errors: FieldError[] = []
  const ofPod = maybeBoolean(maybeObject(maybeObject(spec, 'securityContext'), 'windowsOptions'), 'hostProcess')
  const containers = allContainers(spec, path)
  let count = 0
  for (const { container, path: at } of containers) {
    const own = maybeBoolean(maybeObject(maybeObject(container, 'securityContext'), 'windowsOptions'), 'hostProcess')
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      errors.push(invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, detail))
    }
    if (own ?? ofPod ?? false) count++
  }
  if (count === 0) return errors
  if (count !== containers.length) {
    errors.push(invalid(path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'))
  }
  if (!boolean(spec, 'hostNetwork')) {
    errors.push(invalid(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'))
  }
  return errors
}

/** `spec.os`, and that no field of the other system is set. */
export function validateOs(path: string, spec: Fields): FieldError[] {
  const os = maybeObject(spec, 'os')
  if (os === undefined) return []
  const name = string(os, 'name')
  if (name === '') return [required(`${path}.os.name`)]
  if (name === 'linux') return linuxErrors(path, spec)
  if (name === 'windows') return windowsErrors(path, spec)
  return [unsupported(`${path}.os`, name, ['linux', 'windows'])]
}

function linuxErrors(path: string, spec: Fields): FieldError[] {
  const detail = 'windows options cannot be set for a linux pod'
  const at = [{ container: spec, path }, ...allContainers(spec, path)]
  return at
    .filter(({ container }) => isSet(maybeObject(container, 'securityContext'), 'windowsOptions'))
    .map((found) => forbidden(`${found.path}.securityContext.windowsOptions`, detail))
}

const CONTAINER_FIELDS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]

function windowsErrors(path: string, spec: Fields): FieldError[] {
  const context = maybeObject(spec, 'securityContext')
  const own = (key: string) => isSet(context, key) && `${path}.securityContext.${key}`
  const paths = [
    own('appArmorProfile'),
    own('seLinuxOptions'),
    isSet(spec, 'hostUsers') && `${path}.hostUsers`,
    boolean(spec, 'hostPID') && `${path}.hostPID`,
    boolean(spec, 'hostIPC') && `${path}.hostIPC`,
    own('seccompProfile'),
    own('fsGroup'),
    own('fsGroupChangePolicy'),
    objects(context, 'sysctls').length > 0 && `${path}.securityContext.sysctls`,
    isSet(spec, 'shareProcessNamespace') && `${path}.shareProcessNamespace`,
    own('runAsUser'),
    own('runAsGroup'),
    own('supplementalGroups'),
    own('supplementalGroupsPolicy'),
    own('seLinuxChangePolicy'),
  ]
  for (const { container, path: at } of allContainers(spec, path)) {
    const ofContainer = maybeObject(container, 'securityContext')
    appendAll(
      paths,
      CONTAINER_FIELDS.map((key) => isSet(ofContainer, key) && `${at}.securityContext.${key}`),
    )
  }
  return forbidEach(paths, 'cannot be set for a windows pod')
}
