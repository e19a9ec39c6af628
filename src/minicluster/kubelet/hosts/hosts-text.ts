/**
 * What /etc/hosts of a pod says: the pod itself, as Kubernetes writes it; the Services of its namespace, because nothing here
 * answers on a Service's address or to DNS; and what this machine's own file says. Bounded, and in a fixed order, so that
 * equal namespaces give equal text. Pure.
 */
import type { EndpointSlice, Pod, Service } from '../../../kinds/kubernetes/types.ts'
import { parseIp } from '../../../kube/ip.ts'
import { hostnameOf } from '../hostname.ts'

/** Lines about Services; more would make every look-up of a name slow. */
export const MAX_SERVICE_LINES = 2000
/** Of this machine's own file. */
const MAX_MACHINE_LINES = 1000
const DOMAIN = 'cluster.local'
const SERVICE_LABEL = 'kubernetes.io/service-name'
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** The lines of a pod that never change while it lives. */
export interface OwnLines {
  namespace: string
  /** Other namespaces whose Services it wants to find. */
  others: readonly string[]
  /** It sees the names of the machine instead of its own. */
  isHostNetwork: boolean
  /** Its own name; empty with the host's network. */
  self: string
  aliases: string
}

export function ownLines(pod: Pod, podIP: string): OwnLines {
  const { spec, metadata } = pod
  const namespace = metadata.namespace ?? ''
  const isHostNetwork = spec?.hostNetwork === true
  const hostname = hostnameOf(pod)
  const subdomain = spec?.subdomain ?? ''
  const full = subdomain === '' ? [] : [`${hostname}.${subdomain}.${namespace}.svc.${DOMAIN}`]
  const aliases = (spec?.hostAliases ?? []).flatMap(({ ip = '', hostnames = [] }) =>
    parseIp(ip) === undefined || hostnames.length === 0 ? [] : [line(ip, hostnames)],
  )
  return {
    namespace,
    others: othersOf(pod),
    isHostNetwork,
    self: isHostNetwork ? '' : line(podIP, [...full, hostname]),
    aliases: aliases.join(''),
  }
}

/** Namespaces, separated by commas: there is no DNS here that would know all of them. */
const RESOLVES = 'sluice.dev/resolves-namespaces'
const MOST_OTHERS = 16

export function othersOf({ metadata: { namespace, annotations = {} } }: Pod): string[] {
  const wanted = new Set((annotations[RESOLVES] ?? '').split(',').map((name) => name.trim()))
  return [...wanted].filter((name) => LABEL.test(name) && name !== namespace).slice(0, MOST_OTHERS)
}

/** Lines of another namespace, without the names that only its own pods use. */
export const linesForOthers = (services: string): string => services.replace(/\t\S+ /g, '\t')

/** `services` as `serviceLines` wrote them; `machine` is the text of this machine's own file. */
export function hostsText({ isHostNetwork, self, aliases }: OwnLines, services: string, machine: string): string {
  const added = aliases === '' ? '' : `\n# Entries added by HostAliases.\n${aliases}`
  const known = services === '' ? '' : `\n# Services of the namespace.\n${services}`
  const own = machine
    .split('\n')
    .filter((text) => isHostNetwork || isWorthKeeping(text))
    .slice(0, MAX_MACHINE_LINES)
    .join('\n')
  const kept = own.trim() === '' ? '' : `${own.trimEnd()}\n`
  if (isHostNetwork) return `# Managed by Sluice, from the hosts file of this machine.\n${kept}${added}${known}`
  return `# Managed by Sluice.\n${LOOPBACK}${self}${added}${known}${kept === '' ? '' : `\n# From the hosts file of this machine.\n${kept}`}`
}

const LOOPBACK = [
  '127.0.0.1\tlocalhost\n',
  '::1\tlocalhost ip6-localhost ip6-loopback\n',
  'fe00::0\tip6-localnet\n',
  'fe00::0\tip6-mcastprefix\n',
  'fe00::1\tip6-allnodes\n',
  'fe00::2\tip6-allrouters\n',
].join('')

/** Entries for other machines; the loopback names of this one are not those of a pod. */
const isWorthKeeping = (text: string): boolean => {
  const [address = ''] = text.trim().split(/\s/)
  return address !== '' && !address.startsWith('#') && !/^(127\.|::1$|fe00::|ff0)/i.test(address)
}

/**
 * A line per address that is ready (or published although it is not): `service`, `service.namespace`, `service.namespace.svc`
 * and the full name; for headless Services the same with the hostname of the pod before it.
 */
export function serviceLines(namespace: string, services: readonly Service[], slices: readonly EndpointSlice[]): string {
  const bySlice = new Map<string, EndpointSlice[]>()
  for (const slice of slices) {
    const name = slice.metadata.labels?.[SERVICE_LABEL] ?? ''
    bySlice.set(name, [...(bySlice.get(name) ?? []), slice])
  }
  const lines: string[] = []
  for (const service of [...services].sort(byName)) {
    const name = service.metadata.name ?? ''
    if (service.spec?.type === 'ExternalName' || !LABEL.test(name) || name === 'localhost') continue
    lines.push(...linesOf(namespace, { name, isHeadless: service.spec?.clusterIP === 'None' }, bySlice.get(name) ?? []))
  }
  if (lines.length <= MAX_SERVICE_LINES) return lines.join('')
  const left = lines.length - MAX_SERVICE_LINES
  return `${lines.slice(0, MAX_SERVICE_LINES).join('')}# ${left} more do not fit: at most ${MAX_SERVICE_LINES} lines are written here.\n`
}

function linesOf(
  namespace: string,
  { name, isHeadless }: { name: string; isHeadless: boolean },
  slices: readonly EndpointSlice[],
): string[] {
  const [pods, all] = [new Set<string>(), new Set<string>()]
  for (const { addressType, endpoints } of slices) {
    if (addressType === 'FQDN') continue
    // The server shows an empty list as null.
    for (const { addresses, conditions, hostname } of endpoints ?? []) {
      const [address = ''] = addresses ?? []
      if (conditions?.ready === false || parseIp(address) === undefined) continue
      if (isHeadless && LABEL.test(hostname ?? '')) pods.add(line(address, namesOf(`${hostname}.${name}`, namespace)))
      all.add(line(address, namesOf(name, namespace)))
    }
  }
  return [...[...pods].sort(), ...[...all].sort()]
}

const namesOf = (name: string, namespace: string): string[] => [
  name,
  `${name}.${namespace}`,
  `${name}.${namespace}.svc`,
  `${name}.${namespace}.svc.${DOMAIN}`,
]

const line = (address: string, names: readonly string[]): string => `${address}\t${names.join(' ')}\n`

const byName = (a: Service, b: Service): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
