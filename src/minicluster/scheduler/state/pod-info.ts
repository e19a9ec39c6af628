/**
 * What the scheduler knows about a pod, parsed once per version of it: amounts, ports, terms, claims. Costs about 1 KiB per
 * pod in addition to the pod itself, which the cache holds anyway.
 */

import { deepEqual } from '../../../base/json.ts'
import type { ContainerPort, Pod, Toleration, Volume } from '../../../kinds/kubernetes/types.ts'
import { type Amounts, CPU, MEMORY } from '../../../kube/amounts.ts'
import { objectKey } from '../../../kube/object-reference.ts'
import type { Labels } from '../../../kube/selector.ts'
import { type AffinityTerm, readTerms, readWeightedTerms, type WeightedTerm } from './affinity-term.ts'
import { requestsOf } from './requests.ts'

export interface HostPort {
  protocol: string
  ip: string
  port: number
}

/** A claim that a pod uses, by name; that of an ephemeral volume is created for the pod alone. */
export interface ClaimUse {
  name: string
  isEphemeral: boolean
}

export interface PodInfo {
  readonly key: string
  /** As last seen: changes of the status alone do not create a new info. */
  pod: Pod
  readonly uid: string
  readonly namespace: string
  readonly labels: Labels
  readonly priority: number
  readonly requests: Amounts
  /** CPU and memory as they count when nodes are compared. */
  readonly compared: { readonly cpu: number; readonly memory: number }
  readonly ports: readonly HostPort[]
  readonly claims: readonly ClaimUse[]
  readonly tolerations: readonly Toleration[]
  readonly terms: PodTerms
  readonly isTerminating: boolean
}

export interface PodTerms {
  readonly affinity: readonly AffinityTerm[]
  readonly antiAffinity: readonly AffinityTerm[]
  readonly preferred: readonly WeightedTerm[]
  readonly preferredAnti: readonly WeightedTerm[]
}

const NO_TERMS: PodTerms = Object.freeze({ affinity: [], antiAffinity: [], preferred: [], preferredAnti: [] })

export function podInfo(pod: Pod): PodInfo {
  const { metadata, spec } = pod
  const namespace = metadata.namespace ?? ''
  const requests = requestsOf(pod)
  const compared = requestsOf(pod, 'for-comparison')
  return {
    key: objectKey(namespace, metadata.name),
    pod,
    uid: metadata.uid ?? '',
    namespace,
    labels: metadata.labels,
    priority: spec?.priority ?? 0,
    requests,
    compared: { cpu: compared.get(CPU) ?? 0, memory: compared.get(MEMORY) ?? 0 },
    ports: hostPortsOf(pod),
    claims: (spec?.volumes ?? []).flatMap((volume) => claimOf(metadata.name ?? '', volume)),
    tolerations: spec?.tolerations ?? [],
    terms: termsOf(pod, namespace),
    isTerminating: metadata.deletionTimestamp !== undefined,
  }
}

function termsOf(pod: Pod, namespace: string): PodTerms {
  const { podAffinity: near, podAntiAffinity: far } = pod.spec?.affinity ?? {}
  if (near === undefined && far === undefined) return NO_TERMS
  return {
    affinity: readTerms(namespace, near?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: readTerms(namespace, far?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: readWeightedTerms(namespace, near?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAnti: readWeightedTerms(namespace, far?.preferredDuringSchedulingIgnoredDuringExecution),
  }
}

function hostPortsOf(pod: Pod): HostPort[] {
  const found: HostPort[] = []
  const take = ({ hostPort, hostIP, protocol }: ContainerPort): void => {
    if (hostPort !== undefined && hostPort > 0) found.push({ protocol: protocol ?? 'TCP', ip: hostIP || '0.0.0.0', port: hostPort })
  }
  for (const container of pod.spec?.containers ?? []) for (const port of container.ports ?? []) take(port)
  // Sidecars keep their ports; other init containers have ended before anything else runs.
  for (const container of pod.spec?.initContainers ?? [])
    if (container.restartPolicy === 'Always') for (const port of container.ports ?? []) take(port)
  return found
}

function claimOf(podName: string, volume: Volume): ClaimUse[] {
  const { persistentVolumeClaim, ephemeral } = volume
  if (persistentVolumeClaim !== undefined) return [{ name: persistentVolumeClaim.claimName ?? '', isEphemeral: false }]
  return ephemeral !== undefined ? [{ name: `${podName}-${volume.name ?? ''}`, isEphemeral: true }] : []
}

/** Whether two versions of a pod are the same to the scheduler: most updates change only the status. */
export function isAlike(old: Pod, now: Pod): boolean {
  const [a, b] = [old.metadata, now.metadata]
  if (a.uid !== b.uid || a.generation !== b.generation || (a.deletionTimestamp === undefined) !== (b.deletionTimestamp === undefined))
    return false
  if ((old.spec?.nodeName ?? '') !== (now.spec?.nodeName ?? '') || !deepEqual(a.labels ?? {}, b.labels ?? {})) return false
  if ((old.status?.nominatedNodeName ?? '') !== (now.status?.nominatedNodeName ?? '')) return false
  if (a.generation === undefined && !deepEqual(old.spec, now.spec)) return false
  return deepEqual(heldOf(old), heldOf(now))
}

/** What a resize in progress has allocated; almost always nothing. */
function heldOf(pod: Pod): unknown {
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const resized = statuses.filter(({ resources }) => resources !== undefined)
  if (resized.length === 0) return undefined
  const pending = pod.status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason
  return [pending, resized.map(({ name, resources, allocatedResources }) => [name, resources, allocatedResources])]
}

/** Whether a pod counts the same on its node as before; the rest of a pod never changes. */
export const isSameOnNode = (old: PodInfo, now: PodInfo): boolean =>
  old.uid === now.uid &&
  old.isTerminating === now.isTerminating &&
  deepEqual(old.labels ?? {}, now.labels ?? {}) &&
  deepEqual([...old.requests], [...now.requests])
