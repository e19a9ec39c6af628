/** VolumeZone: a bound volume with zone or region labels is used only on nodes that carry the same. */
import { deepEqual } from '../../../base/json.ts'
import type { PersistentVolume } from '../../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { NodeState } from '../state/node-state.ts'
import { type Filter, rejection } from './filter.ts'
import { usesClaim } from './volume-restrictions.ts'

const NAME = 'VolumeZone'
const REJECTION = rejection(NAME, 'node(s) had no available volume zone', true)
const OLD_ZONE = 'failure-domain.beta.kubernetes.io/zone'
const OLD_REGION = 'failure-domain.beta.kubernetes.io/region'
const ZONE = 'topology.kubernetes.io/zone'
const REGION = 'topology.kubernetes.io/region'
const LABELS = [OLD_ZONE, OLD_REGION, ZONE, REGION]
const TODAY: ReadonlyMap<string, string> = new Map([
  [OLD_ZONE, ZONE],
  [OLD_REGION, REGION],
])

interface Topology {
  key: string
  values: readonly string[]
}

export const volumeZone: Filter = {
  name: NAME,
  prepare(pod, { objects }) {
    const topologies: Topology[] = []
    for (const { name, isEphemeral } of pod.claims) {
      const volumeName = isEphemeral ? '' : (objects.claim(pod.namespace, name)?.spec?.volumeName ?? '')
      if (volumeName === '') continue
      const volume = objects.volume(volumeName)
      if (volume === undefined) return { refused: rejection(NAME, `persistentvolume "${volumeName}" not found`, true) }
      topologies.push(...topologiesOf(volume))
    }
    if (topologies.length === 0) return undefined
    return { isWide: true, check: (node) => (isInZone(node, topologies) ? undefined : REJECTION) }
  },
  listens: ['node', 'claim', 'volume', 'storage-class'],
  isHelpedBy(change, pod) {
    if (change.kind === 'node') return change.now !== undefined && !deepEqual(change.old?.metadata.labels, change.now.metadata.labels)
    if (change.kind === 'claim') return usesClaim(pod, change.now?.metadata)
    if (change.kind === 'volume') return change.old === undefined || !deepEqual(labelsOf(change.old), labelsOf(change.now))
    return change.kind === 'storage-class' && change.old === undefined
  },
}

const labelsOf = (object: KubeObject | undefined): Topology[] => (object === undefined ? [] : topologiesOf(object as PersistentVolume))

function topologiesOf(volume: PersistentVolume): Topology[] {
  const labels = volume.metadata.labels ?? {}
  return LABELS.flatMap((key) => (Object.hasOwn(labels, key) ? [{ key, values: (labels[key] ?? '').split('__') }] : []))
}

function isInZone(node: NodeState, topologies: readonly Topology[]): boolean {
  // A node without zone and region labels can be anywhere.
  if (!LABELS.some((label) => node.label(label) !== undefined)) return true
  return topologies.every(({ key, values }) => {
    const value = node.label(key) ?? node.label(TODAY.get(key) ?? key)
    return value !== undefined && values.includes(value)
  })
}
