/** Validation of a Dataset: what Fluid would report in an event, or not at all. */
import { child, type FieldError, index, notSupported } from '../../../kube/field-error.ts'
import type { DatasetSpec } from '../index.ts'
import { parseMountPoint } from '../mount-point.ts'
import { type HostPathPrefixes, hostPathErrors } from './host-paths.ts'
import { hostVolumeErrors, mountErrors } from './mount-rules.ts'
import { ownOptionErrors } from './option-rules.ts'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

export function datasetErrors(spec: DatasetSpec = {}, prefixes: HostPathPrefixes): FieldError[] {
  const { mounts = [], accessModes = [], sharedOptions, sharedEncryptOptions } = spec
  return [
    ...mountErrors('spec.mounts', mounts, prefixes),
    ...ownOptionErrors({ path: 'spec', options: 'sharedOptions', encrypted: 'sharedEncryptOptions' }, sharedOptions, sharedEncryptOptions),
    ...hostVolumeErrors('spec.sharedOptions', sharedOptions, prefixes),
    ...accessModes.flatMap((mode, i) =>
      ACCESS_MODES.includes(mode) ? [] : [notSupported(index('spec.accessModes', i), mode, ACCESS_MODES)],
    ),
    ...restoreErrors('spec.dataRestoreLocation', spec.dataRestoreLocation?.path, prefixes),
  ]
}

/** A backup on a node is a directory of that node as well. */
function restoreErrors(path: string, location: string | undefined, prefixes: HostPathPrefixes): FieldError[] {
  const { value: point } = parseMountPoint(location ?? '')
  return point?.kind === 'local' ? hostPathErrors(child(path, 'path'), point.path, prefixes) : []
}
