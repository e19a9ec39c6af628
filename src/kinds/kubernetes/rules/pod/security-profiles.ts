/** Seccomp and AppArmor: the fields, the annotations they replaced, and their consistency. */
import { type FieldError, forbidden, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { entries, type Fields, maybeObject, maybeString, string } from '../fields.ts'
import { allContainers } from './containers-walk.ts'
import { appendAll, unsupported } from './errors.ts'
import { internalValue } from './internal-json.ts'
import { descendingPathErrors } from './volume-paths.ts'

export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
export const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/'
const TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined']
const MAX_PROFILE_PATH = 4095

export function seccompErrors(path: string, profile: Fields | undefined): FieldError[] {
  if (profile === undefined) return []
  const type = string(profile, 'type')
  const localhost = maybeString(profile, 'localhostProfile')
  const errors: FieldError[] = []
  if (type === '') errors.push(required(`${path}.type`, 'type is required when seccompProfile is set'))
  else if (!TYPES.includes(type)) errors.push(unsupported(`${path}.type`, type, TYPES))
  if (type === 'Localhost') {
    if (localhost === undefined) errors.push(required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost'))
    else appendAll(errors, descendingPathErrors(`${path}.localhostProfile`, localhost))
  } else if (localhost !== undefined) {
    const value = internalValue('SeccompProfile', profile)
    errors.push(invalid(`${path}.localhostProfile`, value, 'can only be set when seccomp type is Localhost'))
  }
  return errors
}

export function appArmorErrors(path: string, profile: Fields | undefined): FieldError[] {
  if (profile === undefined) return []
  const type = string(profile, 'type')
  const localhost = maybeString(profile, 'localhostProfile')
  if (type === 'Localhost') return localhostErrors(`${path}.localhostProfile`, localhost)
  if (type === '') return [required(`${path}.type`, 'type is required when appArmorProfile is set')]
  if (!TYPES.includes(type)) return [unsupported(`${path}.type`, type, TYPES)]
  return localhost === undefined ? [] : [invalid(`${path}.localhostProfile`, localhost, 'can only be set when AppArmor type is Localhost')]
}

function localhostErrors(field: string, profile: string | undefined): FieldError[] {
  const missing = required(field, 'must be set when AppArmor type is Localhost')
  if (profile === undefined) return [missing]
  const errors: FieldError[] = []
  if (profile.trim() !== profile) errors.push(invalid(field, profile, 'must not be padded with whitespace'))
  else if (profile === '') errors.push(missing)
  if (Buffer.byteLength(profile) > MAX_PROFILE_PATH) errors.push(tooLong(field, MAX_PROFILE_PATH))
  return errors
}

/** The format of the old annotations, wherever they are set. */
export function profileAnnotationErrors(path: string, metadata: Fields, spec: Fields): FieldError[] {
  const annotations = entries(metadata, 'annotations')
  const names = new Set(allContainers(spec).map(({ container }) => string(container, 'name')))
  const errors: FieldError[] = []
  for (const [key, value] of annotations) if (key === SECCOMP_POD) appendAll(errors, seccompAnnotationErrors(`${path}.${key}`, value))
  for (const [key, value] of annotations) {
    if (key.startsWith(SECCOMP_CONTAINER)) appendAll(errors, seccompAnnotationErrors(`${path}.${key}`, value))
  }
  for (const [key, value] of annotations) {
    if (!key.startsWith(APPARMOR_CONTAINER)) continue
    const name = key.slice(APPARMOR_CONTAINER.length)
    if (!names.has(name)) errors.push(invalid(`${path}[${key}]`, name, 'container not found'))
    if (value !== '' && value !== 'runtime/default' && value !== 'unconfined' && !value.startsWith('localhost/')) {
      errors.push(invalid(`${path}[${key}]`, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`))
    }
  }
  return errors
}

function seccompAnnotationErrors(field: string, profile: string): FieldError[] {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return []
  if (profile.startsWith('localhost/')) return descendingPathErrors(field, profile.slice('localhost/'.length))
  return [invalid(field, profile, 'must be a valid seccomp profile')]
}

/** Where an annotation and a field are both set, they must agree. */
export function profileMatchErrors(path: string, metadata: Fields, spec: Fields): FieldError[] {
  const annotations = new Map(entries(metadata, 'annotations'))
  const podContext = maybeObject(spec, 'securityContext')
  const containers = allContainers(spec, path)
  const errors: FieldError[] = []
  const compare = (key: string, at: string, { profile, kind }: { profile: Fields | undefined; kind: 'seccomp' | 'apparmor' }): void => {
    const annotation = annotations.get(key)
    if (annotation !== undefined && profile !== undefined) appendAll(errors, mismatchErrors(at, annotation, { profile, kind }))
  }
  compare(SECCOMP_POD, `${path}.securityContext.seccompProfile`, { profile: maybeObject(podContext, 'seccompProfile'), kind: 'seccomp' })
  for (const { container, path: at } of containers) {
    const profile = maybeObject(maybeObject(container, 'securityContext'), 'seccompProfile')
    compare(`${SECCOMP_CONTAINER}${string(container, 'name')}`, `${at}.securityContext.seccompProfile`, { profile, kind: 'seccomp' })
  }
  if (string(maybeObject(spec, 'os'), 'name') === 'windows') return errors
  for (const { container, path: at } of containers) {
    const profile = maybeObject(maybeObject(container, 'securityContext'), 'appArmorProfile') ?? maybeObject(podContext, 'appArmorProfile')
    compare(`${APPARMOR_CONTAINER}${string(container, 'name')}`, `${at}.securityContext.appArmorProfile`, { profile, kind: 'apparmor' })
  }
  return errors
}

function mismatchErrors(
  at: string,
  annotation: string,
  { profile, kind }: { profile: Fields; kind: 'seccomp' | 'apparmor' },
): FieldError[] {
  const wrongType = [forbidden(`${at}.type`, `${kind} type in annotation and field must match`)]
  switch (string(profile, 'type')) {
    case 'Unconfined':
      return annotation === 'unconfined' ? [] : wrongType
    case 'RuntimeDefault':
      return annotation === 'runtime/default' || (kind === 'seccomp' && annotation === 'docker/default') ? [] : wrongType
    case 'Localhost':
      if (!annotation.startsWith('localhost/')) return wrongType
      return annotation.slice('localhost/'.length) === maybeString(profile, 'localhostProfile')
        ? []
        : [forbidden(`${at}.localhostProfile`, `${kind} profile in annotation and field must match`)]
    default:
      return []
  }
}

/** The field equivalent to an AppArmor annotation; undefined when the annotation is invalid. */
export function appArmorFromAnnotation(annotation: string): Fields | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const profile = annotation.startsWith('localhost/') ? annotation.slice('localhost/'.length) : ''
  return profile === '' ? undefined : { type: 'Localhost', localhostProfile: profile }
}
