/**
 * Karmada's feature gates, as far as they concern what is here. All are on, as in Karmada's own end-to-end runs; each can be
 * switched off by its name.
 */
import { type Parsed, parsed, unparsed } from '../kube/parsed.ts'

const FLEET_GATES = [
  /** Taints by condition, and bindings that NoExecute taints drive away. */
  'Failover',
  /** The old copy stays until the new ones are healthy. Off: taints remove it at once, applications that ask for it stay. */
  'GracefulEviction',
  /** What an object needs beside it goes where it goes. */
  'PropagateDeps',
  'PropagationPolicyPreemption',
  /** Workloads of several components are scheduled as such. */
  'MultiplePodTemplatesScheduling',
  /** Bindings say the namespace and the priority class their replicas count against. */
  'ResourceQuotaEstimate',
  /** Bindings are decided in the order of their priority. */
  'PriorityBasedScheduling',
  /** State of a workload goes with it as labels. */
  'StatefulFailoverInjection',
  /** What was decided and does not show in clusters yet is subtracted from their capacity. */
  'SchedulingOvercommitProtection',
  /** Bindings say to which groups of affinity their template belongs. */
  'WorkloadAffinity',
] as const

export type FleetGate = (typeof FLEET_GATES)[number]
export type FleetGates = Readonly<Record<FleetGate, boolean>>

export const ALL_GATES_ON: FleetGates = Object.freeze(Object.fromEntries(FLEET_GATES.map((name) => [name, true])) as FleetGates)

const isGate = (name: string): name is FleetGate => (FLEET_GATES as readonly string[]).includes(name)

/** `Name=true|false,…`, as Karmada's programs take it. */
export function parseGates(text: string): Parsed<FleetGates> {
  const gates: Record<FleetGate, boolean> = { ...ALL_GATES_ON }
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue
    const [name = '', value, ...more] = part.split('=')
    if (!isGate(name)) return unparsed(`there is no gate ${JSON.stringify(name)}; there are ${FLEET_GATES.join(', ')}`)
    if ((value !== 'true' && value !== 'false') || more.length > 0)
      return unparsed(`${name} is true or false, not ${JSON.stringify(part.slice(name.length + 1))}`)
    gates[name] = value === 'true'
  }
  return parsed(gates)
}
