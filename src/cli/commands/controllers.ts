/**
 * `sluice controllers`: the controllers of a role in this process, against any API server. One process of several leads (by
 * Lease); it installs our kinds where they are absent, serves our admission and conversion as webhooks, and does not run
 * what Kubernetes' own controllers already do there.
 */
import type { Log } from '../../base/log.ts'
import { withFields } from '../../base/log.ts'
import { type Client, createClient } from '../../client/client.ts'
import type { Connection } from '../../client/kubeconfig.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { type Transport, TransportError } from '../../client/transport.ts'
import type { ClusterRole } from '../../composition.ts'
import { MODULES } from '../../modules.ts'
import type { Module } from '../../runtime/module/module.ts'
import { connectionFor } from '../connect.ts'
import { runElected } from '../elected.ts'
import { leaseOf } from '../lease-of-up.ts'
import { CommandError, type Machine } from '../machine.ts'
import { watchMemory } from '../memory-watch.ts'
import { type CommandOptions, givenFlags, withFlags } from '../module-flags.ts'

/** In addition to the flags of the modules. */
export interface ControllersOptions extends CommandOptions {
  role?: string
  kubeconfig?: string
  context?: string
  leaseNamespace?: string
  healthAddress?: string
  webhookAddress?: string
  webhookUrl?: string
}

export async function controllers(machine: Machine, options: ControllersOptions): Promise<void> {
  const { role } = options
  if (role !== 'hub' && role !== 'member') throw new CommandError('--role takes hub or member: which controllers are to run here?')
  const modules = await withFlags(machine, 'controllers', MODULES, givenFlags('controllers', MODULES, { options, env: machine.env }))
  const connection = await connectionFor(machine, options)
  const transport = undiciTransport(connection)
  // The lease has its own connections: a renewal must not queue behind the controllers' requests.
  const own = undiciTransport(connection)
  const client = createClient({ transport: own, clock: machine.clock, random: machine.random, userAgent: 'sluice/controllers' })
  try {
    const log = withFields(machine.log, { role, server: connection.server })
    log.write('info', 'connected', { version: await versionOf(client, connection), context: connection.context })
    await serveUntilStopped({ machine, options, role, connection, transport, client, log, modules })
  } finally {
    await Promise.all([client.close(), transport.close()])
  }
}

async function versionOf(client: Client, connection: Connection): Promise<string> {
  try {
    const answer = await client.raw({ method: 'GET', path: '/version' })
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    if (answer.status !== 200) throw new CommandError(`${connection.server} answered ${answer.status} to /version: ${text.slice(0, 200)}`)
    return (JSON.parse(text) as { gitVersion?: string }).gitVersion ?? 'unknown'
  } catch (error) {
    if (error instanceof TransportError)
      throw new CommandError(
        `${connection.server} (context ${connection.context}) does not answer: ${error.message}\nIs it running, and is this the right --context?`,
        error,
      )
    throw error
  }
}

interface Serving {
  machine: Machine
  options: ControllersOptions
  role: ClusterRole
  connection: Connection
  transport: Transport
  client: Client
  log: Log
  modules: readonly Module[]
}

async function serveUntilStopped(serving: Serving): Promise<void> {
  const { machine, options, role, connection, log } = serving
  const running = await runElected({
    ...serving,
    lease: { ...leaseOf(role), ...(options.leaseNamespace === undefined ? {} : { namespace: options.leaseNamespace }) },
    authority: connection.ca ?? '',
    health: addressOf('--health-address', options.healthAddress ?? '127.0.0.1:0'),
    webhook: addressOf('--webhook-address', options.webhookAddress ?? '127.0.0.1:0'),
    webhookUrl: options.webhookUrl,
  })
  log.write('info', 'health and metrics are served', { address: running.healthAddress })
  const endWatch = watchMemory(machine, (warning) => log.write('warn', warning))
  const end = await Promise.race([machine.untilStopped(), running.failed.then((reason) => ({ reason }))])
  endWatch()
  log.write('info', 'stopping', { why: typeof end === 'string' ? end : end.reason })
  await running.stop()
  if (typeof end !== 'string') throw new CommandError(`stopped: ${end.reason}. Start it again; another process may lead meanwhile`)
}

function addressOf(flag: string, text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535)
    throw new CommandError(`${flag} takes HOST:PORT (port 0 picks a free one), not ${JSON.stringify(text)}`)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}
