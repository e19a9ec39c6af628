/** emptyDir: a directory that lives as long as the pod. Sizes and media are not kept apart on this machine. */
import type { VolumeDriver } from '../../../runtime/seams/volume-driver.ts'

export const emptyDir: VolumeDriver = { field: 'emptyDir', plan: () => ({ kind: 'directory' }) }
