/** References from a pod to its own fields and to the resources of its containers: the downward API. */
import { type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import { checkQualifiedName } from '../../../../kube/names.ts'
import { formatQuantity, isZeroQuantity } from '../../../../kube/quantity.ts'
import { type Fields, string } from '../fields.ts'
import { invalidEach, unsupported } from './errors.ts'
import { toQuantity } from './quantities.ts'

/** Fields a file of a volume may hold, sorted. */
export const VOLUME_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]
/** Fields an environment variable may hold, sorted. */
export const ENV_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...VOLUME_FIELDS,
  ...ENV_FIELDS,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])

const RESOURCES: readonly string[] = ['cpu', 'ephemeral-storage', 'memory']
const RESOURCE_FIELDS: readonly string[] = [...RESOURCES.map((name) => `limits.${name}`), ...RESOURCES.map((name) => `requests.${name}`)]

/** `metadata.labels['app']` as its path and subscript. */
function subscripted(path: string): { path: string; subscript: string } | undefined {
  const match = /^([\s\S]+?)\['([\s\S]*)'\]$/.exec(path)
  return match === null ? undefined : { path: match[1] ?? '', subscript: match[2] ?? '' }
}

export function fieldRefErrors(field: string, ref: Fields, allowed: readonly string[]): FieldError[] {
  const [version, path] = [string(ref, 'apiVersion'), string(ref, 'fieldPath')]
  if (version === '') return [required(`${field}.apiVersion`)]
  if (path === '') return [required(`${field}.fieldPath`)]
  const problem = conversionProblem(version, path)
  if (problem !== undefined) return [invalid(`${field}.fieldPath`, path, `error converting fieldPath: ${problem}`)]
  const parts = subscripted(path)
  if (parts !== undefined) {
    const key = parts.path === 'metadata.annotations' ? parts.subscript.toLowerCase() : parts.subscript
    return invalidEach(field, key, checkQualifiedName(key))
  }
  // `spec.host` is the name that spec.nodeName had before v1.
  const name = path === 'spec.host' ? 'spec.nodeName' : path
  return allowed.includes(name) ? [] : [unsupported(`${field}.fieldPath`, name, allowed)]
}

function conversionProblem(version: string, path: string): string | undefined {
  if (version !== 'v1') return `unsupported pod version: ${version}`
  const parts = subscripted(path)
  if (parts !== undefined) {
    const isMap = parts.path === 'metadata.annotations' || parts.path === 'metadata.labels'
    return isMap ? undefined : `field label does not support subscript: ${path}`
  }
  return KNOWN_FIELDS.has(path) || path === 'spec.host' ? undefined : `field label not supported: ${path}`
}

export function resourceFieldRefErrors(field: string, ref: Fields, isVolume: boolean): FieldError[] {
  const resource = string(ref, 'resource')
  const errors: FieldError[] = []
  if (isVolume && string(ref, 'containerName') === '') errors.push(required(`${field}.containerName`))
  else if (resource === '') errors.push(required(`${field}.resource`))
  else if (!RESOURCE_FIELDS.includes(resource) && !isHugePagesField(resource)) {
    errors.push(unsupported(`${field}.resource`, resource, RESOURCE_FIELDS))
  }
  return [...errors, ...divisorErrors(`${field}.divisor`, resource, string(ref, 'divisor'))]
}

const isHugePagesField = (resource: string): boolean =>
  resource.startsWith('requests.hugepages-') || resource.startsWith('limits.hugepages-')

const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']
const DIVISOR_NAMES: ReadonlyMap<string, string> = new Map([
  ['memory', 'memory'],
  ['ephemeral-storage', 'local ephemeral storage'],
])

function divisorErrors(field: string, resource: string, divisor: string): FieldError[] {
  const quantity = toQuantity(divisor)
  if (divisor === '' || isZeroQuantity(quantity)) return []
  const unit = formatQuantity(quantity)
  const name = resource.replace(/^(limits|requests)\./, '')
  if (!RESOURCE_FIELDS.includes(resource) && !isHugePagesField(resource)) return []
  if (name === 'cpu') {
    return unit === '1m' || unit === '1'
      ? []
      : [invalid(field, resource, "only divisor's values 1m and 1 are supported with the cpu resource")]
  }
  if (BYTE_DIVISORS.includes(unit)) return []
  const what = isHugePagesField(resource) ? 'hugepages' : (DIVISOR_NAMES.get(name) ?? name)
  return [invalid(field, resource, `only divisor's values ${BYTE_DIVISORS.join(', ')} are supported with the ${what} resource`)]
}
