/** `sluice join`: makes a cluster a member of the fleet (push mode): credentials in it, Secrets and the Cluster on the hub. */
import { createClient } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { undiciTransport } from '../../client/transport/undici.ts'
import { TransportError } from '../../client/transport.ts'
import { JoinError, joinMember } from '../../fleet/membership/index.ts'
import { connectionFor } from '../connect.ts'
import { CommandError, type Machine } from '../machine.ts'
import { unanswered } from '../unanswered.ts'

export interface JoinCommandOptions {
  clusterKubeconfig?: string
  clusterContext?: string
  clusterNamespace?: string
  clusterProvider?: string
  clusterRegion?: string
  clusterZones?: string
  kubeconfig?: string
  context?: string
  dryRun?: boolean
}

export async function join(machine: Machine, name: string, options: JoinCommandOptions): Promise<void> {
  checkName(name)
  const hub = await connectTo(machine, options)
  const member = await connectTo(machine, { kubeconfig: options.clusterKubeconfig, context: options.clusterContext })
  try {
    const { server, insecureSkipTlsVerify, proxy } = member.connection
    const request = {
      name,
      apiEndpoint: server.replace(/\/$/, ''),
      insecureSkipTLSVerification: insecureSkipTlsVerify,
      proxyURL: proxy?.url,
      namespace: options.clusterNamespace,
      provider: options.clusterProvider,
      region: options.clusterRegion,
      zones: options.clusterZones?.split(',').filter((zone) => zone !== ''),
    }
    const { dryRun } = options
    const made = await joinMember({ hub: hub.client, member: member.client, clock: machine.clock }, request, { dryRun })
    for (const line of made) machine.out(`${dryRun === true ? 'would make' : 'made'} ${line}\n`)
    machine.out(dryRun === true ? 'Nothing was written.\n' : `cluster(${name}) is joined successfully\n`)
  } catch (error) {
    throw explained(error, hub.connection.server)
  } finally {
    await Promise.all([hub.client.close(), member.client.close()])
  }
}

/** The name becomes part of namespaces and labels. */
function checkName(name: string): void {
  if (name.length > 48 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name))
    throw new CommandError(
      `${JSON.stringify(name)} cannot name a cluster: at most 48 lower-case letters, digits and dashes, beginning and ending with a letter or digit`,
    )
}

/** Errors that users can act on: an unreachable member has its own error, so any other transport error is about the hub. */
export function explained(error: unknown, hub: string): unknown {
  if (error instanceof JoinError) return new CommandError(error.message, error)
  if (error instanceof TransportError) return unanswered(`the hub at ${hub}`, error)
  return error instanceof ApiError ? new CommandError(`the hub at ${hub} refuses: ${error.message}`, error) : error
}

/** A client with the connection it uses. */
export async function connectTo(machine: Machine, options: { kubeconfig?: string; context?: string }) {
  const connection = await connectionFor(machine, options)
  const { clock, random } = machine
  const client = createClient({ transport: undiciTransport(connection), clock, random, userAgent: 'sluice/join' })
  return { connection, client }
}
