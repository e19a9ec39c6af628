/** csi: inline volumes of drivers, none of which is registered on a process node. */
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'

export const csi: VolumeDriver = {
  field: 'csi',
  plan: ({ csi: source }) => waiting(`driver name ${source?.driver ?? ''} not found in the list of registered CSI drivers`),
}
