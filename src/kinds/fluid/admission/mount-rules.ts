/** The mounts of a Dataset: where their data is, where it appears, and that no two of them collide. */
import { child, type FieldError, forbidden, index, invalid, keyed, omittedValue, required } from '../../../kube/field-error.ts'
import { quoted } from '../../volcano/annotations.ts'
import type { Mount } from '../index.ts'
import { parseMountPoint, pathOfMount } from '../mount-point.ts'
import { pathProblem } from '../paths.ts'
import { referenceProblem } from '../reference.ts'
import { HOST_VOLUME_OPTION } from '../well-known.ts'
import { type HostPathPrefixes, hostPathErrors } from './host-paths.ts'
import { ownOptionErrors } from './option-rules.ts'

export function mountErrors(path: string, mounts: readonly Mount[], prefixes: HostPathPrefixes): FieldError[] {
  return [
    ...mounts.flatMap((mount, i) => singleMountErrors(index(path, i), mount, prefixes)),
    ...referenceErrors(path, mounts),
    ...collisionErrors(path, mounts),
  ]
}

function singleMountErrors(path: string, mount: Mount, prefixes: HostPathPrefixes): FieldError[] {
  const { options, encryptOptions } = mount
  const { value: point, error } = parseMountPoint(mount.mountPoint)
  return [
    ...(error === undefined ? [] : [invalid(child(path, 'mountPoint'), omittedValue, error)]),
    ...(point?.kind === 'local' ? hostPathErrors(child(path, 'mountPoint'), point.path, prefixes) : []),
    ...pathErrors(child(path, 'path'), mount.path),
    ...pathErrors(child(path, 'name'), mount.name),
    ...ownOptionErrors({ path, options: 'options', encrypted: 'encryptOptions' }, options, encryptOptions),
    ...hostVolumeErrors(child(path, 'options'), options, prefixes),
  ]
}

function pathErrors(field: string, path = ''): FieldError[] {
  const problem = pathProblem(path)
  return problem === undefined ? [] : [invalid(field, omittedValue, problem)]
}

/** `/host/path[:/path/in/the/pod]`. */
export function hostVolumeErrors(path: string, options: Record<string, string> | undefined, prefixes: HostPathPrefixes): FieldError[] {
  if (options === undefined || !Object.hasOwn(options, HOST_VOLUME_OPTION)) return []
  const value = options[HOST_VOLUME_OPTION] ?? ''
  const field = keyed(path, HOST_VOLUME_OPTION)
  const parts = value.split(':', 3)
  if (parts.length > 2 || parts.some((part) => !part.startsWith('/')))
    return [invalid(field, omittedValue, `${quoted(value)} is not of the form /host/path or /host/path:/path/in/the/pod`)]
  const problems = parts.flatMap((part) => pathProblem(part) ?? [])
  return problems.length > 0
    ? problems.map((problem) => invalid(field, omittedValue, problem))
    : hostPathErrors(field, parts[0] ?? '', prefixes)
}

/** A dataset either has sources of its own or refers to one other dataset. A single one that cannot be read is refused as a mount. */
function referenceErrors(path: string, mounts: readonly Mount[]): FieldError[] {
  const problem = mounts.length > 1 ? referenceProblem(mounts) : undefined
  return problem === undefined ? [] : [forbidden(path, problem)]
}

function collisionErrors(path: string, mounts: readonly Mount[]): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  const places = new Set<string>()
  for (const [i, mount] of mounts.entries()) {
    const { name = '' } = mount
    const place = pathOfMount(mount)
    const at = index(path, i)
    if (mounts.length > 1 && name === '' && !mount.path?.startsWith('/'))
      errors.push(required(child(at, 'name'), 'nothing says where the data of this mount appears: give it a name, or an absolute path'))
    else if (name !== '' && names.has(name))
      errors.push(invalid(child(at, 'name'), omittedValue, `${quoted(name)} is the name of another mount: choose another one`))
    else if (places.has(place))
      errors.push(invalid(child(at, 'path'), omittedValue, `${quoted(place)} is the path of another mount: choose another one`))
    if (name !== '') names.add(name)
    places.add(place)
  }
  return errors
}
