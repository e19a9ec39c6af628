/**
 * Karmada's feature gates, as far as they apply here. All are on, as in Karmada's own end-to-end runs; each can be switched
 * off by name.
 */
import { type Parsed, parsed, unparsed } from '../kube/parsed.ts'

const FLEET_GATES = [
  /** Taints clusters by condition, and evicts bindings because of NoExecute taints. */
  'Failover',
  /** The old copy stays until the new ones are healthy. Off: taints remove it at once; applications that ask for it are not moved. */
  'GracefulEviction',
  /** The dependencies of an object go to the clusters that it goes to. */
  'PropagateDeps',
  'PropagationPolicyPreemption',
  /** Workloads of several components are scheduled as such. */
  'MultiplePodTemplatesScheduling',
  /** Bindings name the namespace and the priority class that their replicas count against. */
  'ResourceQuotaEstimate',
  /** Bindings are scheduled in the order of their priority. */
  'PriorityBasedScheduling',
  /** State of a workload moves with it, as labels. */
  'StatefulFailoverInjection',
  /** What was decided but does not show in clusters yet is subtracted from their capacity. */
  'SchedulingOvercommitProtection',
  /** Bindings name the affinity groups of their template. */
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
