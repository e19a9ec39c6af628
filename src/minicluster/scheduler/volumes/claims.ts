/** What a pod's claims allow: bound ones restrict its node, unbound ones wait for it to be placed, others block it. */
import type { PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import type { Snapshot } from '../snapshot.ts'
import type { PodInfo } from '../state/pod-info.ts'

export const SELECTED_NODE = 'volume.kubernetes.io/selected-node'
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed'
const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class'

export interface PodClaims {
  bound: readonly PersistentVolumeClaim[]
  /** Of classes with WaitForFirstConsumer: the pod's node determines their volume. */
  waiting: readonly PersistentVolumeClaim[]
}

export function annotation(object: { metadata: { annotations?: Record<string, string> } }, name: string): string | undefined {
  const annotations = object.metadata.annotations
  return annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined
}

export const classOf = (object: { metadata: { annotations?: Record<string, string> }; spec?: { storageClassName?: string } }): string =>
  annotation(object, OLD_CLASS) ?? object.spec?.storageClassName ?? ''

const isFullyBound = (claim: PersistentVolumeClaim): boolean =>
  (claim.spec?.volumeName ?? '') !== '' && annotation(claim, BIND_COMPLETED) !== undefined

/** Or the message that says why the pod cannot be placed anywhere. */
export function claimsOf(pod: PodInfo, { objects }: Snapshot): PodClaims | { problem: string } {
  const bound: PersistentVolumeClaim[] = []
  const waiting: PersistentVolumeClaim[] = []
  let hasImmediate = false
  for (const { name, isEphemeral } of pod.claims) {
    const claim = objects.claim(pod.namespace, name)
    const problem = problemOf(claim, { name, isEphemeral, pod })
    if (problem !== undefined || claim === undefined) return { problem: problem ?? '' }
    if (isFullyBound(claim)) bound.push(claim)
    else if (isDelayed(claim, objects) && (claim.spec?.volumeName ?? '') === '') waiting.push(claim)
    else hasImmediate = true
  }
  return hasImmediate ? { problem: 'pod has unbound immediate PersistentVolumeClaims' } : { bound, waiting }
}

interface Use {
  name: string
  isEphemeral: boolean
  pod: PodInfo
}

function problemOf(claim: PersistentVolumeClaim | undefined, { name, isEphemeral, pod }: Use): string | undefined {
  if (claim === undefined)
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : `persistentvolumeclaim "${name}" not found`
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`
  const isOwned = claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.uid) === true
  if (isEphemeral && !isOwned) return `PVC ${pod.namespace}/${name} was not created for pod ${pod.key} (pod is not owner)`
  return undefined
}

function isDelayed(claim: PersistentVolumeClaim, objects: Snapshot['objects']): boolean {
  const name = classOf(claim)
  return name !== '' && objects.storageClass(name)?.volumeBindingMode === 'WaitForFirstConsumer'
}
