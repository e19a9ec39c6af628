/**
 * Volumes for a pod on a node: bound ones must be reachable from there; for claims that wait, the smallest volume that
 * fits is matched, or their class may provision one. Volumes and nodes promised by decisions in flight count as taken.
 */

import type { PersistentVolume, PersistentVolumeClaim, StorageClass, TopologySelectorTerm } from '../../../kinds/kubernetes/types.ts'
import { amountOf } from '../../../kube/amounts.ts'
import { keyOfObject } from '../../../kube/object-reference.ts'
import { matchesLabels } from '../../../kube/selector.ts'
import type { Snapshot } from '../snapshot.ts'
import { readSelector } from '../state/affinity-term.ts'
import { selectorMatcher } from '../state/node-selector.ts'
import type { NodeState } from '../state/node-state.ts'
import { annotation, classOf, type PodClaims, SELECTED_NODE } from './claims.ts'

export interface FoundVolumes {
  /** Claims and the volumes they are to be bound to. */
  matched: readonly { claim: PersistentVolumeClaim; volume: PersistentVolume }[]
  /** Claims whose volume is to be provisioned for this node. */
  provisioned: readonly PersistentVolumeClaim[]
}

const NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
const NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
const NO_SUCH_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'
const NO_PROVISIONER = 'kubernetes.io/no-provisioner'

/** Or the reasons why this node will not do. */
export function findVolumes(claims: PodClaims, node: NodeState, snapshot: Snapshot): FoundVolumes | { reasons: string[] } {
  const reasons: string[] = []
  const held = heldByNode(claims.bound, node, snapshot)
  if (held === 'elsewhere') reasons.push(NODE_CONFLICT)
  const found = forWaiting(claims.waiting, node, snapshot)
  if (found === undefined) reasons.push(NO_VOLUME)
  if (held === 'missing') reasons.push(NO_SUCH_VOLUME)
  return reasons.length > 0 || found === undefined ? { reasons } : found
}

function heldByNode(bound: readonly PersistentVolumeClaim[], node: NodeState, { objects }: Snapshot): 'here' | 'elsewhere' | 'missing' {
  for (const claim of bound) {
    const volume = objects.volume(claim.spec?.volumeName ?? '')
    if (volume === undefined) return 'missing'
    if (!isReachable(volume, node)) return 'elsewhere'
  }
  return 'here'
}

function isReachable(volume: PersistentVolume, { labels }: NodeState): boolean {
  const required = volume.spec?.nodeAffinity?.required
  return required === undefined || selectorMatcher(required)({ name: '', labels })
}

function forWaiting(waiting: readonly PersistentVolumeClaim[], node: NodeState, snapshot: Snapshot): FoundVolumes | undefined {
  const provisioned: PersistentVolumeClaim[] = []
  const unselected: PersistentVolumeClaim[] = []
  for (const claim of waiting) {
    const selected = snapshot.cluster.promisedNode(keyOfObject(claim)) ?? annotation(claim, SELECTED_NODE)
    if (selected === undefined) unselected.push(claim)
    else if (selected !== node.name) return undefined
    else provisioned.push(claim)
  }
  const matched: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = []
  const chosen = new Set<string>()
  for (const claim of unselected.sort((a, b) => sizeOf(a) - sizeOf(b))) {
    const volume = matchingVolume(claim, node, { snapshot, chosen })
    if (volume === undefined) provisioned.push(claim)
    else {
      matched.push({ claim, volume })
      chosen.add(volume.metadata.name ?? '')
    }
  }
  return provisioned.every((claim) => canProvision(claim, node, snapshot)) ? { matched, provisioned } : undefined
}

const sizeOf = (claim: PersistentVolumeClaim): number => amountOf('storage', claim.spec?.resources?.requests?.storage)

export function isVolumeOf({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const ref = spec?.claimRef
  if (ref === undefined || ref.name !== metadata.name || ref.namespace !== metadata.namespace) return false
  return (ref.uid ?? '') === '' || ref.uid === metadata.uid
}

interface Matching {
  snapshot: Snapshot
  chosen: ReadonlySet<string>
}

/** A volume already reserved for the claim, or else the smallest that satisfies it; of equals the first by name. */
function matchingVolume(claim: PersistentVolumeClaim, node: NodeState, { snapshot, chosen }: Matching): PersistentVolume | undefined {
  const storageClass = classOf(claim)
  let best: PersistentVolume | undefined
  let bestSize = Number.POSITIVE_INFINITY
  for (const volume of snapshot.objects.volumesOfClass(storageClass)) {
    const name = volume.metadata.name ?? ''
    const promised = snapshot.cluster.promisedTo(name)
    if (chosen.has(name) || (promised !== undefined && promised !== keyOfObject(claim))) continue
    const isOwn = isVolumeOf(volume, claim)
    if ((volume.spec?.claimRef !== undefined && !isOwn) || volume.metadata.deletionTimestamp !== undefined) continue
    const size = amountOf('storage', volume.spec?.capacity?.storage)
    if (size < sizeOf(claim) || !isSameKind(claim, volume)) continue
    if (isOwn) return isReachable(volume, node) ? volume : undefined
    if (size >= bestSize || !isOnOffer(claim, volume) || !isReachable(volume, node)) continue
    best = volume
    bestSize = size
  }
  return best
}

const isSameKind = ({ spec: asked }: PersistentVolumeClaim, { spec: has }: PersistentVolume): boolean =>
  (asked?.volumeMode ?? 'Filesystem') === (has?.volumeMode ?? 'Filesystem') &&
  (asked?.volumeAttributesClassName ?? '') === (has?.volumeAttributesClassName ?? '')

function isOnOffer(claim: PersistentVolumeClaim, volume: PersistentVolume): boolean {
  if (volume.status?.phase !== 'Available') return false
  const modes = volume.spec?.accessModes ?? []
  if (!(claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode))) return false
  if (claim.spec?.selector === undefined) return true
  const selector = readSelector(claim.spec.selector)
  return selector !== undefined && matchesLabels(selector, volume.metadata.labels)
}

function canProvision(claim: PersistentVolumeClaim, node: NodeState, { objects }: Snapshot): boolean {
  const storageClass = objects.storageClass(classOf(claim))
  const provisioner = storageClass?.provisioner ?? ''
  return storageClass !== undefined && provisioner !== '' && provisioner !== NO_PROVISIONER && isAllowedOn(storageClass, node)
}

function isAllowedOn({ allowedTopologies }: StorageClass, node: NodeState): boolean {
  if (allowedTopologies === undefined || allowedTopologies.length === 0) return true
  const holds = ({ matchLabelExpressions }: TopologySelectorTerm): boolean =>
    (matchLabelExpressions ?? []).length > 0 &&
    (matchLabelExpressions ?? []).every(({ key, values }) => values?.includes(node.label(key ?? '') ?? '') === true)
  return allowedTopologies.some(holds)
}
