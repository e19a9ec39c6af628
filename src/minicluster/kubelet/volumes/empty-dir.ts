/** emptyDir: a directory that lives as long as the pod. Size limits and media are ignored on this machine. */
import type { VolumeDriver } from '../../../runtime/seams/volume-driver.ts'

export const emptyDir: VolumeDriver = { field: 'emptyDir', plan: () => ({ kind: 'directory' }) }
