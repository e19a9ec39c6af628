/**
 * A process of `sluice controllers` from waiting for the lease to running everything: health at once, the rest when it
 * leads. Who loses the lease ends: nothing may be written by somebody who no longer leads. It stops in the opposite order,
 * the lease last, so that whoever comes next finds nobody at work.
 */
import { Registry } from 'prom-client'
import type { Log } from '../base/log.ts'
import { nameSuffix } from '../base/random.ts'
import { NOTHING } from '../client/cache/nothing.ts'
import { type Client, createClient } from '../client/client.ts'
import { postJson } from '../client/transport/post-json.ts'
import type { Transport } from '../client/transport.ts'
import {
  type ClusterRole,
  metricsOf,
  ownAdmissionOf,
  ownKindsOf,
  type RunningControllers,
  roomsOf,
  runControllers,
} from '../controllers.ts'
import type { FleetOptions } from '../fleet/controllers.ts'
import { fleetInWords } from '../fleet/ground.ts'
import type { MemberOptions } from '../minicluster/controllers.ts'
import { SIMULATED_NODE_SIZE } from '../minicluster/shape.ts'
import { createFence } from '../runtime/lease/fence.ts'
import { leadWhenElected } from '../runtime/lease/leader.ts'
import { liveHolder } from '../runtime/lease/live-lease.ts'
import { type Address, serveHealth } from '../runtime/listener/serve.ts'
import { installDefinitions } from './install-definitions.ts'
import type { Machine } from './machine.ts'
import { memberAccess } from './member-access.ts'
import { type RegisteredWebhooks, serveAndRegister } from './webhooks.ts'

export interface ElectedOptions {
  machine: Machine
  role: ClusterRole
  client: Client
  transport: Transport
  log: Log
  lease: { namespace: string; name: string }
  /** Simulated nodes to bring to a member. */
  nodes: number
  /** PEM of the server's authority. */
  authority: string
  fleetOptions?: FleetOptions
  health: Address
  webhook: Address
  webhookUrl: string | undefined
}

export interface Elected {
  healthAddress: string
  /** Resolves with a reason when the process must end by itself. */
  failed: Promise<string>
  stop(): Promise<void>
}

interface Leading {
  controllers: RunningControllers
  webhooks: RegisteredWebhooks | undefined
}

interface LeadOptions extends ElectedOptions {
  metered: ReturnType<typeof metricsOf>
  /** Aborted when it is to end. */
  signal: AbortSignal
  isLeader(): boolean
}

export async function runElected(options: ElectedOptions): Promise<Elected> {
  const { machine, log } = options
  const { clock, random } = machine
  const registry = new Registry()
  const metered = metricsOf(options.role, registry, clock)
  let fail: (reason: string) => void = () => undefined
  const failed = new Promise<string>((resolve) => {
    fail = resolve
  })
  const ending = new AbortController()
  const fence = createFence(options.transport)
  const client = createClient({ transport: fence.transport, clock, random, userAgent: 'sluice/controllers' })
  let leading: Promise<Leading> | undefined
  let running: Leading | undefined
  const notReady = (): string | undefined => {
    if (leading === undefined) return undefined
    return running === undefined ? 'starting' : running.controllers.busy().find((line) => line.startsWith('the cache of'))
  }
  const health = await serveHealth({ notReady, metrics: () => registry.metrics() }, options.health)

  const leadership = leadWhenElected({
    client: options.client,
    clock,
    random,
    ...options.lease,
    identity: `sluice-${nameSuffix(random, 10)}`,
    onStarted() {
      log.write('info', 'leading', { lease: options.lease.name })
      leading = lead({
        ...options,
        client,
        transport: fence.transport,
        metered,
        signal: ending.signal,
        isLeader: () => leadership.isLeader,
      })
      leading.then(
        (started) => {
          running = started
        },
        (error: unknown) => fail(messageOf(error)),
      )
    },
    onLost() {
      fence.shut('the lease was lost')
      ending.abort(new Error('the lease was lost'))
      void running?.controllers.stop()
      fail('the lease was lost')
    },
    onOther: (holder) => log.write('info', 'another process leads; waiting', { holder }),
    onError: (error) => log.write('warn', 'the lease could not be read or renewed', { cause: messageOf(error) }),
  })

  return {
    healthAddress: `http://${options.health.host}:${health.port}`,
    failed,
    async stop() {
      ending.abort(new Error('it was told to stop'))
      const led = await leading?.catch(() => undefined)
      await led?.controllers.stop()
      // Whoever leads by now has registered its own.
      if (leadership.isLeader) await takeBack(led?.webhooks, log)
      await led?.webhooks?.stop()
      await leadership.stop()
      await health.stop()
    },
  }
}

async function takeBack(webhooks: RegisteredWebhooks | undefined, log: Log): Promise<void> {
  try {
    await webhooks?.takeBack()
  } catch (error) {
    log.write('warn', 'the webhooks could not be taken back; the server calls them in vain and goes on', { cause: messageOf(error) })
  }
}

async function lead(options: LeadOptions): Promise<Leading> {
  const { role, client, log, signal } = options
  const member = role === 'member' ? memberOf(options) : undefined
  const run = member === undefined ? undefined : { hasProcessNodes: false, isMapped: () => false, resolves: () => false }
  const without = await roomsToLeave(options, member)
  signal.throwIfAborted()
  const kinds = ownKindsOf(role)
  const admissions = without.includes('minicluster') ? [] : ownAdmissionOf(role, run)
  const webhooks = await serveAndRegister({ ...options, admissions, kinds })
  try {
    const { clock } = options.machine
    const created = await installDefinitions(kinds, { client, clock, log, conversion: webhooks?.conversion, signal })
    if (created.length > 0) log.write('info', 'definitions were installed', { definitions: created.join(' ') })
    signal.throwIfAborted()
  } catch (error) {
    if (options.isLeader()) await takeBack(webhooks, log)
    await webhooks?.stop()
    throw error
  }
  const controllers = runFor(options, member, without)
  log.write('info', 'controllers run', { without: without.join(' ') })
  return { controllers, webhooks }
}

function runFor(options: LeadOptions, member: MemberOptions | undefined, without: string[]) {
  const { role, machine, log, metered, transport, authority, fleetOptions } = options
  const { clock, random } = machine
  // One pool of connections for all: closing this way to it closes nothing.
  return runControllers({
    role,
    clock,
    random,
    log,
    ...metered,
    member,
    without,
    fleetOptions,
    authority: () => authority,
    transportFor: () => transport,
    isDiscoveryLate: true,
    connectMember: memberAccess(() => [], 'http').connect,
    webhooks: postJson,
  })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Rooms whose work somebody else does on this server already. */
async function roomsToLeave(
  { role, client, log, machine, authority }: ElectedOptions,
  member: MemberOptions | undefined,
): Promise<string[]> {
  const left: string[] = []
  // Only the list is read here: nothing follows anything yet.
  const rooms = roomsOf(role, { authority: () => authority, member, everything: NOTHING, fleet: fleetInWords() })
  for (const room of rooms)
    for (const upstream of room.upstream) {
      const holder = await liveHolder(client, upstream, machine.clock.now())
      if (holder === undefined || left.includes(room.name)) continue
      left.push(room.name)
      log.write('info', 'a room stays away: its work is done here already', { room: room.name, by: holder, lease: upstream.name })
    }
  return left
}

/** A member that is not ours brings its own nodes; simulated ones may be added. */
function memberOf({ nodes }: ElectedOptions): MemberOptions {
  const none = { count: 0, size: SIMULATED_NODE_SIZE }
  const simulated = { count: nodes, size: SIMULATED_NODE_SIZE }
  return { shape: { index: 1, name: 'sluice', region: 'east', zones: ['east-a', 'east-b'], simulated, process: none } }
}
