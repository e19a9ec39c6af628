/**
 * How many pods the owners of some pods want: the total that percentages and maxUnavailable of a budget refer to. Owners
 * of the common kinds are read from caches; any other is asked for its scale, if it has one.
 */

import type { Client } from '../../../client/client.ts'
import { discoverResources } from '../../../client/discovery.ts'
import { isNotFound } from '../../../client/errors.ts'
import { DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { goQuote } from '../../../kube/go-print.ts'
import { type OwnerReference, parseGroupVersion } from '../../../kube/meta.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { Reader } from '../../../runtime/controller.ts'
import { controllerOf } from '../../../runtime/workloads/pod/ownership.ts'

export interface Scale {
  /** Sum over all owners. */
  expected: number
  /** Names of pods without an owner: their intended number is unknown. */
  unmanaged: string[]
}

export type ScaleResult = { scale: Scale; problem?: undefined } | { scale?: undefined; problem: string }

interface OwnerScale {
  uid: string
  replicas: number
}

export async function expectedScale(pods: readonly Pod[], read: Reader, client: Client): Promise<ScaleResult> {
  const unmanaged: string[] = []
  const known = new Set<string>()
  const scales = new Map<string, number>()
  for (const pod of pods) {
    const reference = controllerOf(pod)
    if (reference === undefined) {
      unmanaged.push(pod.metadata.name ?? '')
      continue
    }
    if (known.has(reference.uid)) continue
    known.add(reference.uid)
    const found = await ownerScale(reference, pod.metadata.namespace ?? '', { read, client })
    if (typeof found === 'string') return { problem: found }
    if (found === undefined) return { problem: `found no controllers for pod ${goQuote(pod.metadata.name ?? '')}` }
    scales.set(found.uid, found.replicas)
  }
  return { scale: { expected: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), unmanaged } }
}

interface Sources {
  read: Reader
  client: Client
}

/** Undefined when the owner is gone; a text with the reason when the scale cannot be determined. */
async function ownerScale(reference: OwnerReference, namespace: string, sources: Sources): Promise<OwnerScale | string | undefined> {
  const { read } = sources
  const { group } = parseGroupVersion(reference.apiVersion)
  if (group === 'apps' && reference.kind === 'ReplicaSet') {
    const set = read.get(REPLICA_SETS, namespace, reference.name)
    if (set === undefined || set.metadata.uid !== reference.uid) return undefined
    const above = controllerOf(set)
    const deployment = above?.kind === 'Deployment' ? read.get(DEPLOYMENTS, namespace, above.name) : undefined
    const owner = deployment !== undefined && deployment.metadata.uid === above?.uid ? deployment : set
    return { uid: owner.metadata.uid ?? '', replicas: owner.spec?.replicas ?? 1 }
  }
  if (group === 'apps' && reference.kind === 'StatefulSet') {
    const set = read.get(STATEFUL_SETS, namespace, reference.name)
    if (set === undefined || set.metadata.uid !== reference.uid) return undefined
    return { uid: reference.uid, replicas: set.spec?.replicas ?? 1 }
  }
  return scaleOf(reference, namespace, sources.client)
}

async function scaleOf(reference: OwnerReference, namespace: string, client: Client): Promise<OwnerScale | string | undefined> {
  const { group, version } = parseGroupVersion(reference.apiVersion)
  const resources = await discoverResources(client)
  const resource = resources.find((one) => one.group === group && one.kind === reference.kind)
  if (resource === undefined) return `no matches for kind ${goQuote(reference.kind)} in version ${goQuote(reference.apiVersion)}`
  const of = { namespace: resource.namespaced ? namespace : undefined, name: reference.name }
  try {
    const scale = await client.get({ ...resource, version }, of, { subresource: 'scale' })
    if (scale.metadata.uid !== reference.uid) return undefined
    return { uid: reference.uid, replicas: (scale.spec as { replicas?: number } | undefined)?.replicas ?? 0 }
  } catch (error) {
    if (!isNotFound(error)) throw error
    return resource.subresources.includes('scale') ? undefined : `${groupResource(resource)} does not implement the scale subresource`
  }
}

const groupResource = ({ group, plural }: Resource): string => (group === '' ? plural : `${plural}.${group}`)
