/** `sluice unjoin`: removes a cluster from the fleet. Its workloads move to others first; what joining created in it is deleted last. */
import { unjoinMember } from '../../fleet/membership/index.ts'
import { CommandError, type Machine } from '../machine.ts'
import { connectTo, explained } from './join.ts'

export interface UnjoinCommandOptions {
  clusterKubeconfig?: string
  clusterContext?: string
  clusterNamespace?: string
  kubeconfig?: string
  context?: string
  wait?: string
  force?: boolean
  dryRun?: boolean
}

export async function unjoin(machine: Machine, name: string, options: UnjoinCommandOptions): Promise<void> {
  const waitMs = secondsOf(options.wait ?? '60') * 1000
  const { force, dryRun, clusterKubeconfig: kubeconfig, clusterContext: context } = options
  const hub = await connectTo(machine, options)
  const member = kubeconfig === undefined ? undefined : await connectTo(machine, { kubeconfig, context })
  try {
    const request = { name, namespace: options.clusterNamespace, waitMs, force, dryRun }
    await unjoinMember({ hub: hub.client, member: member?.client, clock: machine.clock }, request)
    if (dryRun === true) machine.out(`would take cluster ${name} out of the fleet\nNothing was written.\n`)
    else machine.out(`cluster(${name}) is no longer a member\n${member === undefined ? LEFT : ''}`)
  } catch (error) {
    throw explained(error, hub.connection.server)
  } finally {
    await Promise.all([hub.client.close(), member?.client.close()])
  }
}

const LEFT =
  'What joining made in it (namespace karmada-cluster, its role) is still there; --cluster-kubeconfig FILE removes that as well.\n'

function secondsOf(text: string): number {
  const [, digits = ''] = /^(\d{1,6})s?$/.exec(text) ?? []
  if (digits === '') throw new CommandError(`--wait takes seconds, not ${JSON.stringify(text)}`)
  return Number(digits)
}
