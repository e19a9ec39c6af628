/**
 * csi: a volume whose attributes the author of the pod writes. Refused: they would reach what any namespace has, without
 * anybody's consent. The attributes of a PersistentVolume are written by whoever may create one.
 */
import { inlineRefusal } from '../../../runtime/seams/csi-driver.ts'
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'

export const csi: VolumeDriver = {
  field: 'csi',
  plan({ csi: source }, context) {
    const driver = source?.driver ?? ''
    if (!context.hasCsiDriver(driver)) return waiting(`driver name ${driver} not found in the list of registered CSI drivers`)
    return waiting(inlineRefusal(driver))
  },
}
