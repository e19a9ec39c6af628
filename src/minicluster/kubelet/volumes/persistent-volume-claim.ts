/** persistentVolumeClaim and ephemeral: the claim's volume, where it is a directory of this machine. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kinds/kubernetes/types.ts'
import { isAbsoluteClean } from '../../../kube/node-path.ts'
import { csiVolumeOf } from '../../../runtime/seams/csi-driver.ts'
import { type VolumeContext, type VolumeDriver, type VolumePlan, waiting } from '../../../runtime/seams/volume-driver.ts'
import { hostPathPlan } from './host-path.ts'

/** Directories of this provisioner are in the data directory, and are created by whichever side comes first. */
const OWN_PROVISIONER = 'sluice.dev/local'

export const persistentVolumeClaim: VolumeDriver = {
  field: 'persistentVolumeClaim',
  sources: ({ persistentVolumeClaim: source }) => [{ kind: 'PersistentVolumeClaim', name: source?.claimName ?? '' }],
  plan: ({ persistentVolumeClaim: source }, context) => claimPlan(source?.claimName ?? '', source?.readOnly === true, context),
}

/** As much of the context as a claim needs. */
export type ClaimContext = Pick<VolumeContext, 'pod' | 'claim' | 'persistentVolume' | 'volumesRoot' | 'nodeDirectory' | 'hasCsiDriver'>

export function claimPlan(name: string, isReadOnly: boolean, context: ClaimContext): VolumePlan {
  const claim = context.claim(name)
  if (claim === undefined) return waiting(`persistentvolumeclaim "${name}" not found`)
  const where = `${context.pod.metadata.namespace ?? ''}/${name}`
  if (claim.metadata.deletionTimestamp !== undefined && (claim.metadata.finalizers ?? []).length === 0)
    return waiting(`error processing PVC ${where}: PVC is being deleted`)
  const volumeName = claim.spec?.volumeName ?? ''
  if (claim.status?.phase !== 'Bound' || volumeName === '') return waiting(`error processing PVC ${where}: PVC is not bound`)
  const volume = context.persistentVolume(volumeName)
  if (volume === undefined) return waiting(`error processing PVC ${where}: failed to fetch PV ${volumeName}: not found`)
  if (!isGivenTo(volume, claim)) return waiting(`error processing PVC ${where}: PV ${volumeName} is bound to another claim`)
  if (volume.spec?.volumeMode === 'Block') return waiting(`PV ${volumeName} is a block device, which process nodes do not offer`)
  const csi = csiVolumeOf(volume)
  if (csi !== undefined && context.hasCsiDriver(csi.driver))
    return { kind: 'csi', volume: csi, readOnly: isReadOnly || volume.spec?.csi?.readOnly === true || mayOnlyRead(volume, claim) }
  return pathOf(volume, isReadOnly, context)
}

/** A volume that is reserved by name only is nobody else's either: whoever may write a claim may name any volume in it. */
function isGivenTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  if (spec?.claimRef === undefined) return true
  const { namespace = metadata.namespace, name = metadata.name, uid = metadata.uid } = spec.claimRef
  return namespace === metadata.namespace && name === metadata.name && uid === metadata.uid
}

/** Nobody who uses this claim may write. */
function mayOnlyRead(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const isReading = (modes: readonly string[] = []): boolean => modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany')
  return isReading(volume.spec?.accessModes) || isReading(claim.spec?.accessModes)
}

function pathOf({ spec, metadata }: PersistentVolume, readOnly: boolean, context: ClaimContext): VolumePlan {
  const root = context.volumesRoot
  const isOwn = metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === OWN_PROVISIONER
  const named = spec?.local?.path ?? spec?.hostPath?.path
  // A data directory that was moved or restored must not write into the one its volumes were created in.
  const path = isOwn && root !== undefined && named !== undefined ? `${root}/${metadata.name}` : named
  if (path !== undefined) {
    if (!isAbsoluteClean(path)) return waiting(`the path of PV ${metadata.name ?? ''} is not absolute and clean`)
    const type = isOwn ? 'DirectoryOrCreate' : (spec?.hostPath?.type ?? (spec?.local === undefined ? '' : 'Directory'))
    return isOwn ? { kind: 'path', path, type, readOnly } : hostPathPlan({ path, type, readOnly }, context)
  }
  if (spec?.csi !== undefined) return waiting(`driver name ${spec.csi.driver ?? ''} not found in the list of registered CSI drivers`)
  return waiting(`PV ${metadata.name ?? ''} is of a type that process nodes cannot mount: only local and hostPath are`)
}
