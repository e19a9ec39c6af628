/**
 * Equality as the real server's apiequality.Semantic sees it: unset and empty lists and maps are the same, and
 * quantities are compared as numbers. Pointers to empty structs (`emptyDir: {}`) still differ from unset ones, which
 * only the name of a field tells apart in decoded JSON.
 */
import { compareQuantities, tryParseQuantity } from '../../../../kube/quantity.ts'

/** Fields that hold a map or a struct by value: there, `{}` equals unset. */
const EMPTY_IS_UNSET: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'nodeSelector',
  'matchLabels',
  'limits',
  'requests',
  'overhead',
  'options',
  'volumeAttributes',
  'userAnnotations',
  'resources',
  'metadata',
  'strategy',
  'updateStrategy',
  'template',
  'jobTemplate',
  'spec',
  'status',
])

const QUANTITY_MAPS: ReadonlySet<string> = new Set(['limits', 'requests', 'overhead'])
const QUANTITIES: ReadonlySet<string> = new Set(['sizeLimit', 'divisor'])

/** `key` is the name of the field that holds the two values, when there is one. */
export function semanticEqual(a: unknown, b: unknown, key = ''): boolean {
  const left = unset(a, key) ? undefined : a
  const right = unset(b, key) ? undefined : b
  if (left === right) return true
  if (left === undefined || right === undefined) return false
  if (typeof left === 'string' && typeof right === 'string') return QUANTITIES.has(key) && sameQuantity(left, right)
  if (typeof left !== 'object' || typeof right !== 'object') return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, i) => semanticEqual(item, right[i]))
  }
  return sameFields(left as Record<string, unknown>, right as Record<string, unknown>, key)
}

function sameFields(left: Record<string, unknown>, right: Record<string, unknown>, key: string): boolean {
  const isQuantityMap = QUANTITY_MAPS.has(key)
  const own = (from: Record<string, unknown>, name: string) => (Object.hasOwn(from, name) ? from[name] : undefined)
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const [l, r] = [own(left, name), own(right, name)]
    if (isQuantityMap && typeof l === 'string' && typeof r === 'string' ? !sameQuantity(l, r) : !semanticEqual(l, r, name)) return false
  }
  return true
}

function unset(value: unknown, key: string): boolean {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  if (typeof value !== 'object' || !EMPTY_IS_UNSET.has(key)) return false
  // A struct whose every field is unset is the zero struct too: `resources: { limits: {} }`.
  return Object.entries(value).every(([name, item]) => unset(item, name))
}

function sameQuantity(a: string, b: string): boolean {
  if (a === b) return true
  const [left, right] = [tryParseQuantity(a), tryParseQuantity(b)]
  return left.value !== undefined && right.value !== undefined && compareQuantities(left.value, right.value) === 0
}
