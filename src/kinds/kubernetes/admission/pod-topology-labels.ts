/** Labels a pod with the zone and region of its node: when it is bound, and when it is created with one. */
import { setOwn } from '../../../base/json.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { defineAdmission } from '../../admission.ts'

const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export const podTopologyLabels = defineAdmission({
  name: 'PodTopologyLabels',
  about: 'Copies zone and region of its node to the labels of a pod.',
  resources: [{ group: '', resource: 'pods' }],
  operations: ['CREATE'],
  mutate({ object }, { read }) {
    const name = (object?.spec as { nodeName?: unknown } | undefined)?.nodeName
    if (object === undefined || typeof name !== 'string' || name === '') return
    labelByNode(object, read.get({ group: '', resource: 'nodes' }, '', name))
  },
})

/** Overwrites the pod's own labels; an unknown node changes nothing. */
export function labelByNode(pod: KubeObject, node: KubeObject | undefined): void {
  const held = node?.metadata.labels ?? {}
  const copied = TOPOLOGY_LABELS.filter((key) => Object.hasOwn(held, key))
  if (copied.length === 0) return
  const labels = { ...pod.metadata.labels }
  for (const key of copied) setOwn(labels, key, held[key])
  pod.metadata.labels = labels
}
