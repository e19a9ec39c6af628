/** What stories check in bindings: where something was placed, what its conditions say, and which events it got. */

import type { AggregatedStatusItem, Binding } from '../../src/kinds/karmada/index.ts'
import { bindingName } from '../../src/kinds/karmada/names.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../../src/kinds/karmada/resources.ts'
import { EVENTS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import type { FleetTestbed } from './story.ts'

/** Replicas by cluster; 0 for an object without replicas that is present. */
export type Shares = Readonly<Record<string, number>>

type Fields = Record<string, unknown>

export function bindingOf(testbed: FleetTestbed, { kind, namespaced }: Resource, name: string): Promise<Binding | undefined> {
  const resource = (namespaced ? RESOURCE_BINDINGS : CLUSTER_RESOURCE_BINDINGS) as Resource<Binding & KubeObject>
  return testbed.hub.get(resource, bindingName(kind, name))
}

export const sharesOf = (binding: Binding | undefined): Shares =>
  Object.fromEntries((binding?.spec.clusters ?? []).map(({ name, replicas = 0 }) => [name, replicas]))

const isSame = (a: Shares, b: Shares): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, share]) => b[name] === share)

/** The replicas of an object in a member: replicas for most kinds, parallelism for a Job. */
function replicasIn(object: KubeObject): number {
  const { replicas, parallelism = 0 } = (object.spec ?? {}) as { replicas?: number; parallelism?: number }
  return replicas ?? parallelism
}

export interface Placing {
  /** How to read the replicas of an object in a member (default: as in built-in kinds; undefined: not at all). */
  replicas?: ((object: KubeObject) => number) | undefined
}

/** Until the scheduler's decision and the members agree: these clusters with these replicas, and no others. */
export function isPlaced(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  shares: Shares,
  { replicas = replicasIn }: Placing = {},
): Promise<void> {
  return testbed.until(`${resource.kind} ${name} placed as ${JSON.stringify(shares)}`, async () => {
    if (!isSame(sharesOf(await bindingOf(testbed, resource, name)), shares)) return false
    for (const member of testbed.members) {
      const object = await member.get(resource, name)
      const share = shares[member.name]
      if ((object === undefined) !== (share === undefined)) return false
      if (object !== undefined && replicas(object) !== share) return false
    }
    return true
  })
}

/** For kinds without replicas: in these clusters and no others. */
export const isIn = (testbed: FleetTestbed, resource: Resource, name: string, places: readonly { name: string }[]): Promise<void> =>
  isPlaced(testbed, resource, name, Object.fromEntries(places.map((place) => [place.name, 0])), { replicas: () => 0 })

/** Until a placement holds that cannot be fully predicted (ties are broken by uid), and the members have it. */
export async function placedWhere(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  isRight: (shares: Shares) => boolean,
  placing?: Placing,
): Promise<Shares> {
  let shares: Shares = {}
  await testbed.until(`${resource.kind} ${name} placed rightly`, async () => {
    shares = sharesOf(await bindingOf(testbed, resource, name))
    return isRight(shares)
  })
  await isPlaced(testbed, resource, name, shares, placing)
  return shares
}

export const totalOf = (shares: Shares): number => Object.values(shares).reduce((sum, share) => sum + share, 0)

/** Until a condition of the binding says exactly this. */
export function says(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  condition: { type: 'Scheduled' | 'FullyApplied'; status: 'True' | 'False'; reason: string; message: string },
): Promise<void> {
  return testbed.until(`the binding of ${resource.kind} ${name} says ${JSON.stringify(condition)}`, async () => {
    const binding = await bindingOf(testbed, resource, name)
    const found = binding?.status?.conditions?.find(({ type }) => type === condition.type)
    return found?.status === condition.status && found.reason === condition.reason && found.message === condition.message
  })
}

export const isScheduled = (testbed: FleetTestbed, resource: Resource, name: string): Promise<void> =>
  says(testbed, resource, name, {
    type: 'Scheduled',
    status: 'True',
    reason: 'Success',
    message: 'Binding has been scheduled successfully.',
  })

/** Until an event says this about an object of this kind. */
/** One of the messages is enough. */
export function hasEvent(
  testbed: FleetTestbed,
  about: { kind: string; name: string },
  reason: string,
  ...messages: string[]
): Promise<void> {
  return testbed.until(`${reason} about ${about.kind} ${about.name}: ${messages.join(' or ')}`, async () => {
    const namespaces = [testbed.namespace, 'default']
    const events = (await Promise.all(namespaces.map((namespace) => testbed.hub.list(EVENTS, { namespace })))).flat()
    return events.some((event) => {
      const { kind, name } = (event as Fields).involvedObject as { kind?: string; name?: string }
      return kind === about.kind && name === about.name && event.reason === reason && messages.includes(String(event.message))
    })
  })
}

/** Until the binding reports this for a cluster. */
export function reportedAs(
  testbed: FleetTestbed,
  resource: Resource,
  name: string,
  cluster: string,
  isAsWanted: (item: AggregatedStatusItem) => boolean,
): Promise<void> {
  return testbed.until(`the binding of ${resource.kind} ${name} tells of ${cluster}, as wanted`, async () => {
    const binding = await bindingOf(testbed, resource, name)
    const item = binding?.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster)
    return item !== undefined && isAsWanted(item)
  })
}
