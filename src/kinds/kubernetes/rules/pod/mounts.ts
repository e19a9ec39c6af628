/** Where a container sees the pod's volumes: as directories and files, or as raw block devices. */
import { type FieldError, forbidden, invalid, notFound, required } from '../../../../kube/field-error.ts'
import { boolean, type Fields, isSet, maybeObject, maybeString, objects, string } from '../fields.ts'
import { appendAll, unsupported } from './errors.ts'
import { backstepErrors, descendingPathErrors } from './volume-paths.ts'
import type { Volumes } from './volumes.ts'

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None']

/** Errors of subPath, mountPropagation and recursiveReadOnly name the list, without an index: a bug of the real server. */
export function validateVolumeMounts(path: string, container: Fields, volumes: Volumes): FieldError[] {
  const errors: FieldError[] = []
  const mountPaths = new Set<string>()
  const devices = new Map(objects(container, 'volumeDevices').map((d) => [string(d, 'name'), string(d, 'devicePath')]))
  const devicePaths = new Set(devices.values())
  objects(container, 'volumeMounts').forEach((mount, i) => {
    const at = `${path}[${i}]`
    const [name, mountPath] = [string(mount, 'name'), string(mount, 'mountPath')]
    if (name === '') errors.push(required(`${at}.name`))
    if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name))
    if (mountPath === '') errors.push(required(`${at}.mountPath`))
    if (mountPaths.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'))
    mountPaths.add(mountPath)
    if (devices.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'))
    if (devicePaths.has(mountPath)) {
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'))
    }
    appendAll(errors, subPathErrors(path, at, mount), propagationErrors(`${path}.mountPropagation`, mount, container))
    appendAll(errors, recursiveReadOnlyErrors(`${path}.recursiveReadOnly`, mount))
  })
  return errors
}

function subPathErrors(path: string, at: string, mount: Fields): FieldError[] {
  const [subPath, expression] = [string(mount, 'subPath'), string(mount, 'subPathExpr')]
  const errors = subPath === '' ? [] : descendingPathErrors(`${path}.subPath`, subPath)
  if (expression === '') return errors
  if (subPath !== '') errors.push(invalid(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'))
  return [...errors, ...descendingPathErrors(`${path}.subPathExpr`, expression)]
}

function propagationErrors(path: string, mount: Fields, container: Fields): FieldError[] {
  const mode = maybeString(mount, 'mountPropagation')
  if (mode === undefined) return []
  const errors = PROPAGATIONS.includes(mode) ? [] : [unsupported(path, mode, PROPAGATIONS)]
  if (mode === 'Bidirectional' && !boolean(maybeObject(container, 'securityContext'), 'privileged')) {
    errors.push(forbidden(path, 'Bidirectional mount propagation is available only to privileged containers'))
  }
  return errors
}

function recursiveReadOnlyErrors(path: string, mount: Fields): FieldError[] {
  const mode = maybeString(mount, 'recursiveReadOnly')
  if (mode === undefined || mode === 'Disabled') return []
  if (mode !== 'Enabled' && mode !== 'IfPossible') return [unsupported(path, mode, ['Disabled', 'Enabled', 'IfPossible'])]
  const errors: FieldError[] = []
  const propagation = maybeString(mount, 'mountPropagation')
  if (!boolean(mount, 'readOnly')) errors.push(forbidden(path, 'may only be specified when readOnly is true'))
  if (propagation !== undefined && propagation !== 'None') {
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'))
  }
  return errors
}

export function validateVolumeDevices(path: string, container: Fields, volumes: Volumes): FieldError[] {
  const errors: FieldError[] = []
  const mounts = new Map(objects(container, 'volumeMounts').map((m) => [string(m, 'name'), string(m, 'mountPath')]))
  const mountPaths = new Set(mounts.values())
  const names = new Set<string>()
  const paths = new Set<string>()
  objects(container, 'volumeDevices').forEach((device, i) => {
    const at = `${path}[${i}]`
    const [name, devicePath] = [string(device, 'name'), string(device, 'devicePath')]
    const volume = volumes.get(name)
    if (name === '') errors.push(required(`${at}.name`))
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'))
    if (volume === undefined) errors.push(notFound(`${at}.name`, name))
    else if (!isSet(volume, 'persistentVolumeClaim') && !isSet(volume, 'ephemeral')) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      errors.push(invalid(`${at}.name`, name, detail))
    }
    if (devicePath === '') errors.push(required(`${at}.devicePath`))
    if (paths.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must be unique'))
    if (devicePath !== '' && backstepErrors('', devicePath).length > 0) {
      errors.push(invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"))
    } else paths.add(devicePath)
    if (mounts.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeMounts'))
    if (mountPaths.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'))
    if (name !== '') names.add(name)
  })
  return errors
}
