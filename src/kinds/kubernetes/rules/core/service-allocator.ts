/**
 * Gives Services their cluster addresses and node ports, and keeps what is taken. The state lives in memory and is
 * rebuilt from the stored Services; a change is held while its write is under way, then kept or given back.
 * The caller runs `begin` before prepareForCreate and prepareForUpdate, and `release` after a Service left the store.
 */
import type { Random } from '../../../../base/random.ts'
import { child, type FieldError, index, invalid } from '../../../../kube/field-error.ts'
import { formatIp, parseIp } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { internalServerError, invalidError } from '../../../../kube/status.ts'
import { ensureObject, number, writableObjects } from '../fields.ts'
import { ipNumber, ipText, parseIpRange, rangeHolds } from '../ip.ts'
import { initFamilyFields, isSettledDualStack, normalizeClusterIps, patchAllocatedValues } from './service-families.ts'
import {
  allocatesNodePorts,
  clusterIps,
  hasNodePorts,
  healthCheckNodePort,
  ipFamilies,
  isExternalName,
  needsHealthCheck,
  nodePorts,
  ports,
} from './service-shape.ts'

/** A change that is held: exactly one of the two must be called. After a dry run both do nothing. */
export interface ServiceAllocation {
  commit(): void
  revert(): void
}

export interface ServiceAllocator {
  /** Fills in families, addresses and ports of a new or changed Service; throws a StatusError when it cannot. */
  begin(service: KubeObject, old: KubeObject | undefined, dryRun: boolean): ServiceAllocation
  /** Gives back what a deleted Service had. */
  release(service: KubeObject): void
}

export interface ServiceAllocatorOptions {
  random: Random
  /** Services that hold addresses and ports already. */
  services: readonly KubeObject[]
  /** Default 10.0.0.0/16. */
  clusterIpRange?: string
  /** Inclusive; default 30000 to 32767. */
  nodePortRange?: { first: number; last: number }
}

interface State {
  random: Random
  range: { start: bigint; size: bigint }
  firstPort: number
  lastPort: number
  ips: Set<string>
  nodePorts: Set<number>
}

export function serviceAllocator(options: ServiceAllocatorOptions): ServiceAllocator {
  const range = parseIpRange(options.clusterIpRange ?? '10.0.0.0/16')
  if (range === undefined || range.family !== 'IPv4') throw new Error(`no IPv4 range: ${options.clusterIpRange}`)
  const { first, last } = options.nodePortRange ?? { first: 30_000, last: 32_767 }
  const state: State = { random: options.random, range, firstPort: first, lastPort: last, ips: new Set(), nodePorts: new Set() }
  for (const service of options.services) {
    for (const ip of heldIps(service)) state.ips.add(ip)
    for (const port of heldPorts(service)) state.nodePorts.add(port)
  }
  return {
    begin(service, old, dryRun) {
      const change = new Change(state, service, dryRun)
      try {
        allocate(change, service, old)
      } catch (error) {
        change.revert()
        throw error
      }
      return { commit: () => change.commit(), revert: () => change.revert() }
    },
    release(service) {
      for (const ip of heldIps(service)) state.ips.delete(ip)
      for (const port of heldPorts(service)) state.nodePorts.delete(port)
    },
  }
}

const canonical = (ip: string): string => {
  const parsed = parseIp(ip)
  return parsed === undefined ? ip : formatIp(parsed)
}

const heldIps = (service: KubeObject): string[] =>
  isExternalName(service)
    ? []
    : clusterIps(service)
        .filter((ip) => ip !== 'None' && ip !== '')
        .map(canonical)

const heldPorts = (service: KubeObject): number[] => {
  const health = needsHealthCheck(service) ? healthCheckNodePort(service) : 0
  return health === 0 ? nodePorts(service) : [...nodePorts(service), health]
}

const refuse = (service: KubeObject, error: FieldError): never => {
  throw invalidError({ group: '', kind: 'Service' }, service.metadata.name ?? '', [error])
}

/** What one write takes and gives back. Taken values are visible to others at once, given ones only after success. */
class Change {
  readonly #state: State
  readonly #service: KubeObject
  readonly #dryRun: boolean
  readonly #taken: (() => void)[] = []
  readonly #given: (() => void)[] = []
  #settled = false

  constructor(state: State, service: KubeObject, dryRun: boolean) {
    this.#state = state
    this.#service = service
    this.#dryRun = dryRun
  }

  takeIp(asked: string): string {
    const { ips, range } = this.#state
    if (asked === '') return this.#hold(ips, this.#freeIp())
    const ip = parseIp(asked)
    const value = ip === undefined || ip.family === 6 ? undefined : ipNumber(ip)
    let problem: string | undefined
    if (value === undefined || !rangeHolds({ family: 'IPv4', ...range }, value))
      problem = 'the provided network does not match the current range'
    else if (ips.has(canonical(asked))) problem = 'provided IP is already allocated'
    if (problem !== undefined)
      refuse(this.#service, invalid('spec.clusterIPs', clusterIps(this.#service), `failed to allocate IP ${asked}: ${problem}`))
    this.#hold(ips, canonical(asked))
    return asked
  }

  /** The first addresses of a range are left for those who ask for one by number, as long as others are free. */
  #freeIp(): string {
    const { ips, range, random } = this.#state
    const reserved = BigInt(Math.min(256, Math.max(16, Number(range.size / 16n))))
    const upper = range.size - 1n - reserved
    const start = upper > 0n ? BigInt(Math.floor(random.next() * Number(upper))) : 0n
    const at = (offset: bigint): string => ipText('IPv4', range.start + offset)
    for (let i = 0n; i < upper; i++) {
      const ip = at(reserved + ((start + i) % upper))
      if (!ips.has(ip)) return ip
    }
    for (let offset = 1n; offset < range.size - 1n; offset++) if (!ips.has(at(offset))) return at(offset)
    throw internalServerError(
      `failed to allocate a serviceIP for Service ${JSON.stringify(this.#service.metadata.name ?? '')}: range is full`,
    )
  }

  takePort(port: number): string | undefined {
    const { nodePorts, firstPort, lastPort } = this.#state
    if (port < firstPort || port > lastPort)
      return `provided port is not in the valid range. The range of valid ports is ${firstPort}-${lastPort}`
    if (nodePorts.has(port)) return 'provided port is already allocated'
    this.#hold(nodePorts, port)
    return undefined
  }

  takeFreePort(): number | undefined {
    const { nodePorts, firstPort, lastPort, random } = this.#state
    const size = lastPort - firstPort + 1
    const start = Math.floor(random.next() * size)
    for (let i = 0; i < size; i++) {
      const port = firstPort + ((start + i) % size)
      if (!nodePorts.has(port)) return this.#hold(nodePorts, port)
    }
    return undefined
  }

  give(old: KubeObject, kept: KubeObject): void {
    const { ips, nodePorts } = this.#state
    const [keptIps, keptPorts] = [heldIps(kept), heldPorts(kept)]
    for (const ip of heldIps(old)) if (!keptIps.includes(ip)) this.#given.push(() => ips.delete(ip))
    for (const port of heldPorts(old)) if (!keptPorts.includes(port)) this.#given.push(() => nodePorts.delete(port))
  }

  commit(): void {
    if (this.#settled) return
    if (this.#dryRun) return this.revert()
    this.#settled = true
    for (const give of this.#given) give()
  }

  revert(): void {
    if (this.#settled) return
    this.#settled = true
    for (const undo of this.#taken) undo()
  }

  #hold<T>(set: Set<T>, value: T): T {
    set.add(value)
    this.#taken.push(() => set.delete(value))
    return value
  }
}

function allocate(change: Change, service: KubeObject, old: KubeObject | undefined): void {
  if (old !== undefined) patchAllocatedValues(service, old)
  normalizeClusterIps(service, old)
  const settled = isSettledDualStack(service, old)
  if (!settled) initFamilyFields(service, old)
  if (!settled && !isExternalName(service) && (old === undefined || isExternalName(old))) allocateIps(change, service)
  if (old === undefined) allocatePorts(change, service)
  else updatePorts(change, service, old)
  if (needsHealthCheck(service) && (old === undefined || !needsHealthCheck(old))) allocateHealthPort(change, service)
  if (old !== undefined) change.give(old, service)
}

function allocateIps(change: Change, service: KubeObject): void {
  const asked = clusterIps(service)
  if (asked[0] === 'None') return
  const spec = ensureObject(service, 'spec')
  const ips = ipFamilies(service).map((_, i) => change.takeIp(asked[i] ?? ''))
  spec.clusterIPs = ips
  if (ips[0] !== undefined) spec.clusterIP = ips[0]
}

/** Ports of one number (TCP and UDP, say) share a node port. */
function allocatePorts(change: Change, service: KubeObject): void {
  if (!hasNodePorts(service)) return
  const given = new Map<number, number>()
  for (const [i, port] of writableObjects(ensureObject(service, 'spec'), 'ports').entries()) {
    const own = number(port, 'nodePort')
    if (own === 0 && !allocatesNodePorts(service)) continue
    const number_ = number(port, 'port')
    const shared = given.get(number_)
    if (shared === undefined) {
      const asked = ports(service).find((other) => number(other, 'port') === number_ && number(other, 'nodePort') !== 0)
      port.nodePort = takePort(change, service, i, asked === undefined ? 0 : number(asked, 'nodePort'))
      given.set(number_, number(port, 'nodePort'))
    } else if (own === 0) port.nodePort = shared
    else if (own !== shared) takePort(change, service, i, own)
  }
}

function updatePorts(change: Change, service: KubeObject, old: KubeObject): void {
  if (!hasNodePorts(service)) return
  const known = new Set(nodePorts(old))
  const before = new Set(known)
  for (const [i, port] of writableObjects(ensureObject(service, 'spec'), 'ports').entries()) {
    const own = number(port, 'nodePort')
    if (own === 0 && !allocatesNodePorts(service)) continue
    if (own === 0) port.nodePort = takePort(change, service, i, 0)
    else if (!known.has(own) && !before.has(own)) {
      takePort(change, service, i, own)
      known.add(own)
    }
  }
}

function takePort(change: Change, service: KubeObject, i: number, asked: number): number {
  if (asked !== 0) {
    const problem = change.takePort(asked)
    if (problem !== undefined) refuse(service, invalid(child(index('spec.ports', i), 'nodePort'), asked, problem))
    return asked
  }
  const free = change.takeFreePort()
  if (free === undefined) throw internalServerError('failed to allocate a nodePort: range is full')
  return free
}

function allocateHealthPort(change: Change, service: KubeObject): void {
  const asked = healthCheckNodePort(service)
  if (asked !== 0) {
    const problem = change.takePort(asked)
    if (problem !== undefined) throw internalServerError(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`)
    return
  }
  const free = change.takeFreePort()
  if (free === undefined) throw internalServerError('failed to allocate a HealthCheck NodePort 0: range is full')
  ensureObject(service, 'spec').healthCheckNodePort = free
}
