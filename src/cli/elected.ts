/**
 * A process of `sluice controllers`, from waiting for the lease to running everything: health at once, the rest when it
 * leads. A process that loses the lease exits, because only the leader may write. It stops in the reverse order, the lease
 * last, so that the next leader starts only when everything has stopped.
 */

import { Registry } from 'prom-client'
import { messageOf } from '../base/error-text.ts'
import type { Log } from '../base/log.ts'
import { nameSuffix } from '../base/random.ts'
import { type Client, createClient } from '../client/client.ts'
import { getText } from '../client/transport/get-text.ts'
import { postJson } from '../client/transport/post-json.ts'
import type { Transport } from '../client/transport.ts'
import { type ClusterRole, ownAdmissionOf, ownKindsOf, type RunningControllers, runControllers } from '../composition.ts'
import { createFence } from '../runtime/lease/fence.ts'
import { leadWhenElected } from '../runtime/lease/leader.ts'
import { liveHolder } from '../runtime/lease/live-lease.ts'
import { type Address, serveHealth } from '../runtime/listener/serve.ts'
import type { Module } from '../runtime/module/module.ts'
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
  /** PEM of the server's authority. */
  authority: string
  modules: readonly Module[]
  health: Address
  webhook: Address
  webhookUrl: string | undefined
}

export interface Elected {
  healthAddress: string
  /** Resolves with a reason when the process must exit. */
  failed: Promise<string>
  stop(): Promise<void>
}

interface Leading {
  controllers: RunningControllers
  webhooks: RegisteredWebhooks | undefined
}

interface LeadOptions extends ElectedOptions {
  registry: Registry
  /** Aborted when it should stop. */
  signal: AbortSignal
  isLeader(): boolean
}

export async function runElected(options: ElectedOptions): Promise<Elected> {
  const { machine, log } = options
  const { clock, random } = machine
  const registry = new Registry()
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
        registry,
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
      // A new leader has registered its own.
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
  const standingBack = await modulesToLeave(options)
  signal.throwIfAborted()
  const modules = options.modules.filter(({ name }) => !standingBack.includes(name))
  // Kinds are installed whichever controllers handle them.
  const kinds = ownKindsOf(role, options.modules)
  const webhooks = await serveAndRegister({ ...options, admissions: ownAdmissionOf(role, modules), kinds })
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
  const controllers = runFor(options, standingBack)
  log.write('info', 'controllers run', { without: standingBack.join(' ') })
  return { controllers, webhooks }
}

function runFor(options: LeadOptions, standingBack: readonly string[]): RunningControllers {
  const { role, modules, machine, log, registry, transport, authority } = options
  const { clock, random } = machine
  // One connection pool for all: closing this transport has no effect.
  return runControllers({
    role,
    modules,
    standingBack,
    clock,
    random,
    log,
    registry,
    authority: () => authority,
    transportFor: () => transport,
    isDiscoveryLate: true,
    connectMember: role === 'hub' ? memberAccess(() => [], 'http').connect : undefined,
    postJson,
    getText,
  })
}

/** Modules whose work another program already does on this server. */
async function modulesToLeave({ role, modules, client, log, machine }: ElectedOptions): Promise<string[]> {
  const left: string[] = []
  for (const { name, roles, upstreamLeases } of modules)
    for (const upstream of roles.includes(role) ? upstreamLeases : []) {
      const holder = await liveHolder(client, upstream, machine.clock.now())
      if (holder === undefined || left.includes(name)) continue
      left.push(name)
      log.write('info', 'a module stands back: its work is done here already', { module: name, by: holder, lease: upstream.name })
    }
  return left
}
