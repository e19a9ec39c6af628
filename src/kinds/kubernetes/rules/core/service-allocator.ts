/**
 * Gives Services their cluster addresses and node ports. What is taken follows from the stored Services; an allocation
 * whose Service may still be on its way to the store is remembered until it arrives, or until a timeout.
 * Runs before prepareForCreate and prepareForUpdate.
 */
import { child, type FieldError, index, invalid } from '../../../../kube/field-error.ts'
import { formatIp, parseIp } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { internalServerError, invalidError } from '../../../../kube/status.ts'
import { ensureObject, number, writableObjects } from '../fields.ts'
import { type IpRange, ipNumber, ipText, parseIpRange, rangeHolds } from '../ip.ts'
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

interface AllocationView {
  /** Every Service that is stored now. Asked for only when something has to be free: most Services of controllers are headless. */
  services(): readonly KubeObject[]
  nowMs: number
  /** Nothing is remembered. */
  dryRun: boolean
}

export interface ServiceAllocator {
  /** Fills in families, addresses and ports of a new or changed Service; throws a StatusError when it cannot. */
  allocate(service: KubeObject, old: KubeObject | undefined, view: AllocationView): void
}

export interface ServiceAllocatorOptions {
  /** Default 10.0.0.0/16. */
  clusterIpRange?: string
  /** Inclusive; default 30000 to 32767. */
  nodePortRange?: { first: number; last: number }
}

/** How long a write may take from here to the store. */
const RESERVED_MS = 30_000

interface State {
  range: IpRange
  rangeText: string
  firstPort: number
  lastPort: number
  /** Where the next search begins, so that what was freed is not given out again at once. */
  nextIp: bigint
  nextPort: number
  reserved: Map<string, { owner: string; untilMs: number }>
}

export function serviceAllocator(options: ServiceAllocatorOptions = {}): ServiceAllocator {
  const rangeText = options.clusterIpRange ?? '10.0.0.0/16'
  const range = parseIpRange(rangeText)
  if (range === undefined || range.family !== 'IPv4') throw new Error(`no IPv4 range: ${options.clusterIpRange}`)
  const { first, last } = options.nodePortRange ?? { first: 30_000, last: 32_767 }
  const state: State = { range, rangeText, firstPort: first, lastPort: last, nextIp: 0n, nextPort: first, reserved: new Map() }
  return {
    allocate(service, old, view) {
      const taken = new Taken(state, service, view)
      if (old !== undefined) patchAllocatedValues(service, old)
      normalizeClusterIps(service, old)
      const settled = isSettledDualStack(service, old)
      if (!settled) initFamilyFields(service, old)
      if (!settled && !isExternalName(service) && (old === undefined || isExternalName(old))) allocateIps(taken, service)
      if (old === undefined) allocatePorts(taken, service)
      else updatePorts(taken, service, old)
      if (needsHealthCheck(service) && (old === undefined || !needsHealthCheck(old))) allocateHealthPort(taken, service)
      taken.remember()
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

const ipKey = (ip: string): string => `ip ${ip}`
const portKey = (port: number): string => `port ${port}`

/** What others have, as one write sees it, plus what this write takes. */
class Taken {
  readonly #state: State
  readonly #service: KubeObject
  readonly #view: AllocationView
  readonly #owner: string
  readonly #mine: string[] = []
  #held: Set<string> | undefined

  constructor(state: State, service: KubeObject, view: AllocationView) {
    this.#state = state
    this.#service = service
    this.#view = view
    const { namespace = '', name = '', generateName = '' } = service.metadata
    this.#owner = `${namespace}/${name || generateName}`
  }

  #all(): Set<string> {
    if (this.#held !== undefined) return this.#held
    const held = new Set<string>()
    for (const other of this.#view.services()) {
      for (const ip of heldIps(other)) held.add(ipKey(ip))
      for (const port of heldPorts(other)) held.add(portKey(port))
    }
    for (const [key, { owner, untilMs }] of this.#state.reserved) {
      if (untilMs <= this.#view.nowMs) this.#state.reserved.delete(key)
      else if (owner !== this.#owner || (this.#service.metadata.name ?? '') === '') held.add(key)
    }
    this.#held = held
    return held
  }

  takeIp(asked: string): string {
    if (asked === '') return this.#take(this.#freeIp(), ipKey)
    const ip = parseIp(asked)
    let problem: string | undefined
    if (ip === undefined || ip.family === 6 || !rangeHolds(this.#state.range, ipNumber(ip)))
      problem = this.#view.dryRun
        ? `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${this.#state.rangeText}`
        : 'the provided network does not match the current range'
    else if (this.#all().has(ipKey(canonical(asked)))) problem = 'provided IP is already allocated'
    if (problem !== undefined)
      refuse(this.#service, invalid('spec.clusterIPs', clusterIps(this.#service), `failed to allocate IP ${asked}: ${problem}`))
    this.#take(canonical(asked), ipKey)
    return asked
  }

  /** The first addresses of a range are reserved for explicit requests, as long as others are free. */
  #freeIp(): string {
    const { range, nextIp } = this.#state
    const held = this.#all()
    const reserved = BigInt(Math.min(256, Math.max(16, Number(range.size / 16n))))
    const upper = range.size - 1n - reserved
    const at = (offset: bigint): string => ipText('IPv4', range.start + offset)
    for (let i = 0n; i < upper; i++) {
      const offset = (nextIp + i) % upper
      if (held.has(ipKey(at(reserved + offset)))) continue
      this.#state.nextIp = (offset + 1n) % upper
      return at(reserved + offset)
    }
    for (let offset = 1n; offset < range.size - 1n; offset++) if (!held.has(ipKey(at(offset)))) return at(offset)
    throw internalServerError(
      `failed to allocate a serviceIP for Service ${JSON.stringify(this.#service.metadata.name ?? '')}: range is full`,
    )
  }

  takePort(port: number): string | undefined {
    const { firstPort, lastPort } = this.#state
    // A dry run does not check the range.
    if (!this.#view.dryRun && (port < firstPort || port > lastPort))
      return `provided port is not in the valid range. The range of valid ports is ${firstPort}-${lastPort}`
    if (this.#all().has(portKey(port))) return 'provided port is already allocated'
    this.#take(port, portKey)
    return undefined
  }

  takeFreePort(): number | undefined {
    const { firstPort, lastPort, nextPort } = this.#state
    const size = lastPort - firstPort + 1
    for (let i = 0; i < size; i++) {
      const port = firstPort + ((nextPort - firstPort + i) % size)
      if (this.#all().has(portKey(port))) continue
      this.#state.nextPort = port === lastPort ? firstPort : port + 1
      return this.#take(port, portKey)
    }
    return undefined
  }

  remember(): void {
    if (this.#view.dryRun) return
    for (const key of this.#mine) this.#state.reserved.set(key, { owner: this.#owner, untilMs: this.#view.nowMs + RESERVED_MS })
  }

  #take<T>(value: T, keyOf: (value: T) => string): T {
    const key = keyOf(value)
    this.#all().add(key)
    this.#mine.push(key)
    return value
  }
}

function allocateIps(taken: Taken, service: KubeObject): void {
  const asked = clusterIps(service)
  if (asked[0] === 'None') return
  const spec = ensureObject(service, 'spec')
  const ips = ipFamilies(service).map((_, i) => taken.takeIp(asked[i] ?? ''))
  spec.clusterIPs = ips
  if (ips[0] !== undefined) spec.clusterIP = ips[0]
}

/** Ports with the same number (TCP and UDP, say) share a node port. */
function allocatePorts(taken: Taken, service: KubeObject): void {
  if (!hasNodePorts(service)) return
  const given = new Map<number, number>()
  for (const [i, port] of writableObjects(ensureObject(service, 'spec'), 'ports').entries()) {
    const own = number(port, 'nodePort')
    if (own === 0 && !allocatesNodePorts(service)) continue
    const number_ = number(port, 'port')
    const shared = given.get(number_)
    if (shared === undefined) {
      const asked = ports(service).find((other) => number(other, 'port') === number_ && number(other, 'nodePort') !== 0)
      port.nodePort = takePort(taken, service, i, asked === undefined ? 0 : number(asked, 'nodePort'))
      given.set(number_, number(port, 'nodePort'))
    } else if (own === 0) port.nodePort = shared
    else if (own !== shared) takePort(taken, service, i, own)
  }
}

function updatePorts(taken: Taken, service: KubeObject, old: KubeObject): void {
  if (!hasNodePorts(service)) return
  const known = new Set(nodePorts(old))
  const before = new Set(known)
  for (const [i, port] of writableObjects(ensureObject(service, 'spec'), 'ports').entries()) {
    const own = number(port, 'nodePort')
    if (own === 0 && !allocatesNodePorts(service)) continue
    if (own === 0) port.nodePort = takePort(taken, service, i, 0)
    else if (!known.has(own) && !before.has(own)) {
      takePort(taken, service, i, own)
      known.add(own)
    }
  }
}

function takePort(taken: Taken, service: KubeObject, i: number, asked: number): number {
  if (asked !== 0) {
    const problem = taken.takePort(asked)
    if (problem !== undefined) refuse(service, invalid(child(index('spec.ports', i), 'nodePort'), asked, problem))
    return asked
  }
  const free = taken.takeFreePort()
  if (free === undefined) throw internalServerError('failed to allocate a nodePort: range is full')
  return free
}

function allocateHealthPort(taken: Taken, service: KubeObject): void {
  const asked = healthCheckNodePort(service)
  if (asked !== 0) {
    const problem = taken.takePort(asked)
    if (problem !== undefined) throw internalServerError(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`)
    return
  }
  const free = taken.takeFreePort()
  if (free === undefined) throw internalServerError('failed to allocate a HealthCheck NodePort 0: range is full')
  ensureObject(service, 'spec').healthCheckNodePort = free
}
