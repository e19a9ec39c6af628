/** What the story derives from a snapshot. Pure. */
import type { Cluster } from '../../kinds/karmada/index.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { FleetSnapshot } from './fleet-snapshot.ts'

const conditionOf = (cluster: Cluster | undefined) => findCondition(cluster?.status?.conditions, 'Ready')
const clusterOf = ({ clusters }: FleetSnapshot, name: string): Cluster | undefined =>
  clusters.find(({ metadata }) => metadata.name === name)

/** `True`, `False` or `Unknown`, and the reason. */
export function readinessOf(snapshot: FleetSnapshot, name: string): { status: string; reason: string } {
  const { status = 'Unknown', reason = 'NotLookedAtYet' } = conditionOf(clusterOf(snapshot, name)) ?? {}
  return { status, reason }
}

export const regionOf = (snapshot: FleetSnapshot, name: string): string => clusterOf(snapshot, name)?.spec.region ?? ''

/** Replicas by cluster, as decided; undefined until all of them are assigned. */
export function divisionOf({ binding }: FleetSnapshot, replicas: number): { name: string; replicas: number }[] | undefined {
  const clusters = (binding?.spec.clusters ?? []).map((one) => ({ name: one.name, replicas: one.replicas ?? 0 }))
  const sum = clusters.reduce((total, one) => total + one.replicas, 0)
  return sum === replicas ? clusters.sort((a, b) => (a.name < b.name ? -1 : 1)) : undefined
}

const isRunning = ({ metadata, status }: Pod): boolean => metadata.deletionTimestamp === undefined && status?.phase === 'Running'
const readyCondition = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Ready')
const isReady = (pod: Pod): boolean => isRunning(pod) && readyCondition(pod)?.status === 'True'

export const runningIn = ({ pods }: FleetSnapshot, member: string): Pod[] => (pods[member] ?? []).filter(isRunning)
export const readyIn = ({ pods }: FleetSnapshot, member: string): Pod[] => (pods[member] ?? []).filter(isReady)

/** Whether every member has as many ready pods as it was assigned. */
export const isPresent = (snapshot: FleetSnapshot, division: readonly { name: string; replicas: number }[]): boolean =>
  division.every(({ name, replicas }) => readyIn(snapshot, name).length === replicas)

/** What a pod that is not ready waits for, if one reports it. */
export function complaintOf({ pods }: FleetSnapshot): string {
  for (const [member, list] of Object.entries(pods))
    for (const pod of list) {
      if (isReady(pod)) continue
      const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting
      const condition = readyCondition(pod)
      return `pod ${pod.metadata.name} of ${member} is ${pod.status?.phase ?? 'new'}: ${waiting?.message ?? waiting?.reason ?? condition?.message ?? 'it does not say why'}`
    }
  return 'there are fewer pods than decided'
}
