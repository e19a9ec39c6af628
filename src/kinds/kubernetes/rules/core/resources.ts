/** Names and amounts of resources (cpu, memory, extended ones, counts) as allowed in quota, limits and nodes. */
import { type FieldError, invalid } from '../../../../kube/field-error.ts'
import { checkQualifiedName } from '../../../../kube/names.ts'
import { compareQuantities, formatQuantity, type Quantity, quantityOf, scaledValue, tryParseQuantity } from '../../../../kube/quantity.ts'
import { qualifiedNameErrors } from '../formats.ts'

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const COMPUTE_QUOTA = COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])
const STANDARD_QUOTA: ReadonlySet<string> = new Set([...COMPUTE_QUOTA, 'requests.storage', ...COUNTS])
const STANDARD: ReadonlySet<string> = new Set([...STANDARD_QUOTA, 'storage'])
const POD_COMPUTE: ReadonlySet<string> = new Set(['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'])

const isHugePages = (name: string): boolean => name.startsWith('hugepages-')
const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith('requests.hugepages-')

export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name)
export const isStandardQuotaResource = (name: string): boolean => STANDARD_QUOTA.has(name) || isQuotaHugePages(name)

function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return checkQualifiedName(`requests.${name}`).length === 0
}

const isInteger = (name: string): boolean => COUNTS.includes(name) || isExtendedResource(name)

function resourceNameErrors(path: string, name: string): FieldError[] {
  const errors = qualifiedNameErrors(path, name)
  if (errors.length > 0 || name.includes('/') || STANDARD.has(name) || isQuotaHugePages(name)) return errors
  return [invalid(path, name, 'must be a standard resource type or fully qualified')]
}

export function quotaResourceNameErrors(path: string, name: string): FieldError[] {
  const errors = resourceNameErrors(path, name)
  if (!name.includes('/') && !isStandardQuotaResource(name)) errors.push(invalid(path, name, 'must be a standard resource for quota'))
  return errors
}

/** Limits of pods and containers name what a container can request; others may name anything known. */
export function limitResourceNameErrors(path: string, limitType: string, name: string): FieldError[] {
  const errors = resourceNameErrors(path, name)
  if (limitType !== 'Pod' && limitType !== 'Container') return errors
  if (!name.includes('/')) {
    if (!COMPUTE.includes(name) && !isHugePages(name)) errors.push(invalid(path, name, 'must be a standard resource for containers'))
  } else if (!isNativeResource(name) && !isExtendedResource(name))
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"))
  return errors
}

export function scopeFitsResource(scope: string, name: string): boolean {
  switch (scope) {
    case 'Terminating':
    case 'NotTerminating':
    case 'NotBestEffort':
    case 'PriorityClass':
    case 'CrossNamespacePodAffinity':
      return name === 'pods' || POD_COMPUTE.has(name)
    case 'BestEffort':
      return name === 'pods'
    case 'VolumeAttributesClass':
      return name === 'persistentvolumeclaims' || name === 'requests.storage'
    default:
      return true
  }
}

const ZERO = quantityOf(0)

/** An amount is not negative, and whole for countable resources. */
export function resourceQuantityErrors(path: string, name: string, value: unknown): FieldError[] {
  if (typeof value !== 'string' && typeof value !== 'number') return []
  const amount: Quantity = tryParseQuantity(value).value ?? ZERO
  const errors: FieldError[] = []
  if (compareQuantities(amount, ZERO) < 0) errors.push(invalid(path, formatQuantity(amount), 'must be greater than or equal to 0'))
  if (isInteger(name) && scaledValue(amount, -3) % 1000n !== 0n) errors.push(invalid(path, formatQuantity(amount), 'must be an integer'))
  return errors
}
