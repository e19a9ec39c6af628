/** hostPath: what is on this machine at that path, if it has the requested type. */
import { type VolumeDriver, waiting } from '../../../runtime/seams/volume-driver.ts'

export const hostPath: VolumeDriver = {
  field: 'hostPath',
  plan({ hostPath: source }) {
    const path = source?.path ?? ''
    if (!path.startsWith('/') || path.split('/').includes('..')) return waiting(`hostPath "${path}" is not an absolute path without ".."`)
    return { kind: 'path', path, type: source?.type ?? '', readOnly: false }
  },
}
