/**
 * The checks of the pod security standards, at their latest version: what `baseline` forbids, and what `restricted` requires.
 * Each returns why it fails, in the words of the real server.
 */
import { goQuote } from '../../../kube/go-print.ts'
import {
  boolean,
  type Fields,
  field,
  maybeBoolean,
  maybeNumber,
  maybeObject,
  number,
  object,
  objects,
  string,
  stringEntries,
  strings,
} from '../rules/fields.ts'

export interface PodShape {
  metadata: unknown
  spec: Fields
}

type Check = (pod: PodShape) => string | undefined

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many)
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort()
const containers = (spec: Fields): Fields[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((key) => [...objects(spec, key)])
const context = (of: Fields): Fields => object(of, 'securityContext')
const nameOf = (container: Fields): string => string(container, 'name')
const named = (names: readonly string[]): string => `${plural('container', 'containers', names.length)} ${quoted(names)}`
const failing = (spec: Fields, isBad: (container: Fields) => boolean): string[] => containers(spec).filter(isBad).map(nameOf)
const isWindows = (spec: Fields): boolean => string(object(spec, 'os'), 'name') === 'windows'
/** Root inside a user namespace is unprivileged outside of it. */
const hasOwnUsers = (spec: Fields): boolean => maybeBoolean(spec, 'hostUsers') === false
/** 'pod', and the containers, that set something bad. */
const setters = (podIsBad: boolean, bad: readonly string[]): string[] => [
  ...(podIsBad ? ['pod'] : []),
  ...(bad.length > 0 ? [named(bad)] : []),
]

const DEFAULT_CAPABILITIES =
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' ')
const added = (container: Fields): readonly string[] => strings(object(context(container), 'capabilities'), 'add')

const appArmor: Check = ({ spec, metadata }) => {
  const type = (of: Fields): string | undefined => {
    const profile = maybeObject(context(of), 'appArmorProfile')
    return profile === undefined ? undefined : string(profile, 'type')
  }
  const isBad = (of: Fields): boolean => type(of) !== undefined && !['RuntimeDefault', 'Localhost'].includes(type(of) ?? '')
  const bad = failing(spec, isBad)
  const annotations = stringEntries(metadata, 'annotations')
    .filter(
      ([key, value]) =>
        key.startsWith('container.apparmor.security.beta.kubernetes.io/') &&
        value !== '' &&
        value !== 'runtime/default' &&
        !value.startsWith('localhost/'),
    )
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .sort()
  const values = [...sorted([spec, ...containers(spec)].filter(isBad).map((of) => type(of) ?? '')), ...annotations]
  const who = [...setters(isBad(spec), bad), ...(annotations.length > 0 ? [plural('annotation', 'annotations', annotations.length)] : [])]
  if (who.length === 0) return undefined
  const reason = plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length)
  return `${reason} (${who.join(' and ')} must not set AppArmor profile type to ${quoted(values)})`
}

const capabilities: Check = ({ spec }) => {
  const extra = (container: Fields): string[] => added(container).filter((name) => !DEFAULT_CAPABILITIES.includes(name))
  const bad = failing(spec, (container) => extra(container).length > 0)
  if (bad.length === 0) return undefined
  return `non-default capabilities (${named(bad)} must not include ${quoted(sorted(containers(spec).flatMap(extra)))} in securityContext.capabilities.add)`
}

const hostNamespaces: Check = ({ spec }) => {
  const used = ['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => boolean(spec, key)).map((key) => `${key}=true`)
  return used.length === 0 ? undefined : `host namespaces (${used.join(', ')})`
}

const hostPaths: Check = ({ spec }) => {
  const bad = objects(spec, 'volumes')
    .filter((volume) => field(volume, 'hostPath') !== undefined)
    .map(nameOf)
  return bad.length === 0 ? undefined : `hostPath volumes (${plural('volume', 'volumes', bad.length)} ${quoted(bad)})`
}

const hostPorts: Check = ({ spec }) => {
  const used = (container: Fields): string[] =>
    objects(container, 'ports').flatMap((port) => (number(port, 'hostPort') === 0 ? [] : [String(number(port, 'hostPort'))]))
  const bad = failing(spec, (container) => used(container).length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(containers(spec).flatMap(used))
  return `hostPort (${named(bad)} ${plural('uses', 'use', bad.length)} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')})`
}

const probeHosts: Check = ({ spec }) => {
  const hosts = (container: Fields): string[] => {
    const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'].map((key) => object(container, key))
    const hooks = ['postStart', 'preStop'].map((key) => object(object(container, 'lifecycle'), key))
    return [...probes, ...hooks]
      .flatMap((handler) => ['httpGet', 'tcpSocket'].map((key) => string(object(handler, key), 'host')))
      .filter((host) => host !== '')
  }
  const bad = sorted(failing(spec, (container) => hosts(container).length > 0))
  if (bad.length === 0) return undefined
  const all = sorted(containers(spec).flatMap(hosts))
  return `probe or lifecycle host (${named(bad)} ${plural('uses', 'use', bad.length)} ${plural('probe or lifecycle host', 'probe or lifecycle hosts', all.length)} ${quoted(all)})`
}

const privileged: Check = ({ spec }) => {
  const bad = failing(spec, (container) => boolean(context(container), 'privileged'))
  return bad.length === 0 ? undefined : `privileged (${named(bad)} must not set securityContext.privileged=true)`
}

const procMount =
  (relaxed: boolean): Check =>
  ({ spec }) => {
    if (relaxed && hasOwnUsers(spec)) return undefined
    const mount = (container: Fields): string => string(context(container), 'procMount')
    const bad = failing(spec, (container) => !['', 'Default'].includes(mount(container)))
    if (bad.length === 0) return undefined
    const values = sorted(
      containers(spec)
        .map(mount)
        .filter((one) => !['', 'Default'].includes(one)),
    )
    return `procMount (${named(bad)} must not set securityContext.procMount to ${quoted(values)})`
  }

const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']

const seLinux: Check = ({ spec }) => {
  const options = (of: Fields): Fields => object(context(of), 'seLinuxOptions')
  const isBad = (of: Fields): boolean =>
    !SELINUX_TYPES.includes(string(options(of), 'type')) || string(options(of), 'user') !== '' || string(options(of), 'role') !== ''
  const all = [spec, ...containers(spec)]
  const who = setters(isBad(spec), failing(spec, isBad))
  if (who.length === 0) return undefined
  const types = sorted(all.map((of) => string(options(of), 'type')).filter((type) => !SELINUX_TYPES.includes(type)))
  const said = types.length > 0 ? [`${plural('type', 'types', types.length)} ${quoted(types)}`] : []
  for (const key of ['user', 'role']) if (all.some((of) => string(options(of), key) !== '')) said.push(`${key} may not be set`)
  return `seLinuxOptions (${who.join(' and ')} set forbidden securityContext.seLinuxOptions: ${said.join('; ')})`
}

const seccompType = (of: Fields): string | undefined => {
  const profile = maybeObject(context(of), 'seccompProfile')
  return profile === undefined ? undefined : string(profile, 'type')
}
const isGoodSeccomp = (type: string | undefined): boolean => type === 'RuntimeDefault' || type === 'Localhost'
const setsBadSeccomp = (of: Fields): boolean => seccompType(of) !== undefined && !isGoodSeccomp(seccompType(of))

const seccomp: Check = ({ spec }) => {
  const who = setters(setsBadSeccomp(spec), failing(spec, setsBadSeccomp))
  if (who.length === 0) return undefined
  const values = sorted([spec, ...containers(spec)].filter(setsBadSeccomp).map((of) => seccompType(of) ?? ''))
  return `seccompProfile (${who.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(values)})`
}

const SYSCTLS =
  'kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_unprivileged_port_start net.ipv4.ip_local_reserved_ports net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_rmem net.ipv4.tcp_wmem'.split(
    ' ',
  )

const sysctls: Check = ({ spec }) => {
  const bad = objects(context(spec), 'sysctls')
    .map(nameOf)
    .filter((name) => !SYSCTLS.includes(name))
  return bad.length === 0 ? undefined : `forbidden sysctls (${bad.join(', ')})`
}

const windowsHostProcess: Check = ({ spec }) => {
  const uses = (of: Fields): boolean => boolean(object(context(of), 'windowsOptions'), 'hostProcess')
  const who = setters(uses(spec), failing(spec, uses))
  return who.length === 0 ? undefined : `hostProcess (${who.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true)`
}

const allowPrivilegeEscalation: Check = ({ spec }) => {
  if (isWindows(spec)) return undefined
  const bad = failing(spec, (container) => maybeBoolean(context(container), 'allowPrivilegeEscalation') !== false)
  return bad.length === 0
    ? undefined
    : `allowPrivilegeEscalation != false (${named(bad)} must set securityContext.allowPrivilegeEscalation=false)`
}

const restrictedCapabilities: Check = ({ spec }) => {
  if (isWindows(spec)) return undefined
  const extra = (container: Fields): string[] => added(container).filter((name) => name !== 'NET_BIND_SERVICE')
  const keeping = failing(spec, (container) => !strings(object(context(container), 'capabilities'), 'drop').includes('ALL'))
  const adding = failing(spec, (container) => extra(container).length > 0)
  const said = keeping.length > 0 ? [`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []
  if (adding.length > 0)
    said.push(`${named(adding)} must not include ${quoted(sorted(containers(spec).flatMap(extra)))} in securityContext.capabilities.add`)
  return said.length === 0 ? undefined : `unrestricted capabilities (${said.join('; ')})`
}

const ALLOWED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]

const restrictedVolumes: Check = ({ spec }) => {
  const bad = objects(spec, 'volumes').filter((volume) => !ALLOWED_VOLUMES.some((key) => field(volume, key) !== undefined))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map((volume) => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown'))
  return `restricted volume types (${plural('volume', 'volumes', bad.length)} ${quoted(bad.map(nameOf))} ${plural('uses', 'use', bad.length)} ${plural('restricted volume type', 'restricted volume types', types.length)} ${quoted(types)})`
}

const runAsNonRoot: Check = ({ spec }) => {
  if (hasOwnUsers(spec)) return undefined
  const own = maybeBoolean(context(spec), 'runAsNonRoot')
  const who = setters(
    own === false,
    failing(spec, (container) => maybeBoolean(context(container), 'runAsNonRoot') === false),
  )
  if (who.length > 0) return `runAsNonRoot != true (${who.join(' and ')} must not set securityContext.runAsNonRoot=false)`
  if (own === true) return undefined
  const silent = failing(spec, (container) => maybeBoolean(context(container), 'runAsNonRoot') === undefined)
  return silent.length === 0 ? undefined : `runAsNonRoot != true (pod or ${named(silent)} must set securityContext.runAsNonRoot=true)`
}

const runAsUser: Check = ({ spec }) => {
  if (hasOwnUsers(spec)) return undefined
  const isRoot = (of: Fields): boolean => maybeNumber(context(of), 'runAsUser') === 0
  const who = setters(isRoot(spec), failing(spec, isRoot))
  return who.length === 0 ? undefined : `runAsUser=0 (${who.join(' and ')} must not set runAsUser=0)`
}

const restrictedSeccomp: Check = (pod) => {
  const { spec } = pod
  if (isWindows(spec)) return undefined
  const explicit = seccomp(pod)
  if (explicit !== undefined || isGoodSeccomp(seccompType(spec))) return explicit
  const silent = failing(spec, (container) => seccompType(container) === undefined)
  if (silent.length === 0) return undefined
  return `seccompProfile (pod or ${named(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`
}

const SHARED: readonly Check[] = [appArmor]
const BASELINE: readonly Check[] = [
  ...SHARED,
  capabilities,
  hostNamespaces,
  hostPaths,
  hostPorts,
  probeHosts,
  privileged,
  procMount(true),
  seLinux,
  seccomp,
  sysctls,
  windowsHostProcess,
]
const RESTRICTED: readonly Check[] = [
  ...SHARED,
  hostNamespaces,
  hostPorts,
  probeHosts,
  privileged,
  seLinux,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  restrictedCapabilities,
  procMount(false),
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  restrictedSeccomp,
]

function failures(level: string, pod: PodShape): string[] {
  const checks = level === 'baseline' ? BASELINE : level === 'restricted' ? RESTRICTED : []
  return checks.flatMap((check) => check(pod) ?? [])
}

/** Everything that is wrong under a level, in one text; undefined when nothing is. */
export function violations(level: string, pod: PodShape): string | undefined {
  const found = failures(level, pod)
  return found.length === 0 ? undefined : found.join(', ')
}

/** The same without naming the container or pod: what many pods can have in common. */
export function violatedRules(level: string, pod: PodShape): string | undefined {
  const found = failures(level, pod).map((failure) => failure.slice(0, failure.indexOf(' (')))
  return found.length === 0 ? undefined : found.join(', ')
}
