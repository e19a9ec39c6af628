/** Requests, limits and claims: of a container, of a whole pod, and of the overhead around it. */
import { isHugePages, type ReadonlyAmounts } from '../../../../kube/amounts.ts'
import { duplicate, type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { checkDns1123Label, checkQualifiedName } from '../../../../kube/names.ts'
import { compareQuantities, formatQuantity, type Quantity } from '../../../../kube/quantity.ts'
import { isPodLevelResource } from '../../pod-amounts.ts'
import { isOvercommitAllowed, limitResourceNameErrors, resourceQuantityErrors } from '../core/resources.ts'
import { type Fields, isSet, maybeObject, objects, string } from '../fields.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'
import type { PodOptions } from './options.ts'
import { aggregateAmounts, isWholeHugePages, quantitiesAsSent } from './quantities.ts'
import { runsOnWindows } from './security-context.ts'

type NameRule = (path: string, name: string) => FieldError[]

interface RequirementContext {
  nameErrors: NameRule
  claimNames: ReadonlySet<string>
  options: PodOptions
}

const containerName: NameRule = (path, name) => limitResourceNameErrors(path, 'Container', name)

/** Only what the kubelet can meter for a whole pod. */
const podName: NameRule = (path, name) => {
  const errors =
    checkQualifiedName(name).length > 0 ? invalidEach(path, name, checkQualifiedName(name)) : limitResourceNameErrors(path, '', name)
  if (errors.length > 0 || isPodLevelResource(name)) return errors
  return [unsupported(path, name, ['cpu', 'hugepages-', 'memory'])]
}

export const claimNamesOf = (spec: Fields): ReadonlySet<string> =>
  new Set(
    objects(spec, 'resourceClaims')
      .map((claim) => string(claim, 'name'))
      .filter((name) => name !== ''),
  )

export const validateContainerResources = (
  path: string,
  resources: Fields | undefined,
  context: { claimNames: ReadonlySet<string>; options: PodOptions },
): FieldError[] => requirementErrors(path, resources ?? {}, { ...context, nameErrors: containerName })

export const validateOverhead = (path: string, spec: Fields, options: PodOptions): FieldError[] =>
  isSet(spec, 'overhead')
    ? requirementErrors(path, { limits: spec.overhead }, { nameErrors: containerName, claimNames: new Set(), options })
    : []

function requirementErrors(path: string, resources: Fields, context: RequirementContext): FieldError[] {
  const [limits, requests] = [quantitiesAsSent(resources, 'limits'), quantitiesAsSent(resources, 'requests')]
  const errors: FieldError[] = []
  for (const [name, amount] of limits) appendAll(errors, amountErrors(`${path}.limits[${name}]`, [name, amount], context))
  for (const [name, amount] of requests) {
    const at = `${path}.requests[${name}]`
    appendAll(errors, context.nameErrors(at, name), resourceQuantityErrors(at, name, formatQuantity(amount)))
    appendAll(errors, requestLimitErrors(path, [name, amount], limits.get(name)))
    appendAll(errors, hugePageErrors(at, [name, amount], context.options))
  }
  const all = [...limits.keys(), ...requests.keys()]
  if (all.some(isHugePages) && !all.some((name) => name === 'cpu' || name === 'memory')) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'))
  }
  return [...errors, ...claimErrors(`${path}.claims`, resources, context.claimNames)]
}

const amountErrors = (path: string, [name, amount]: [string, Quantity], context: RequirementContext): FieldError[] => [
  ...context.nameErrors(path, name),
  ...resourceQuantityErrors(path, name, formatQuantity(amount)),
  ...hugePageErrors(path, [name, amount], context.options),
]

function hugePageErrors(path: string, [name, amount]: [string, Quantity], options: PodOptions): FieldError[] {
  if (!isHugePages(name) || options.allowIndivisibleHugePages || isWholeHugePages(name, amount)) return []
  const value = formatQuantity(amount)
  return [invalid(path, value, `${value} is not positive integer multiple of ${name}`)]
}

function requestLimitErrors(path: string, [name, amount]: [string, Quantity], limit: Quantity | undefined): FieldError[] {
  if (limit === undefined) {
    return isOvercommitAllowed(name) ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
  }
  const order = compareQuantities(amount, limit)
  const of = `${name} limit of ${formatQuantity(limit)}`
  if (order !== 0 && !isOvercommitAllowed(name)) return [invalid(`${path}.requests`, formatQuantity(amount), `must be equal to ${of}`)]
  return order > 0 ? [invalid(`${path}.requests`, formatQuantity(amount), `must be less than or equal to ${of}`)] : []
}

/** A claim may be named once as a whole, or several times by request. */
function claimErrors(path: string, resources: Fields, known: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  const requests = new Map<string, number>()
  objects(resources, 'claims').forEach((claim, i) => {
    const at = `${path}[${i}]`
    const [name, request] = [string(claim, 'name'), string(claim, 'request')]
    if (name === '') {
      errors.push(required(at))
      return
    }
    if (names.has(name)) errors.push(duplicate(at, name))
    else {
      if (request !== '') appendAll(errors, invalidEach(`${at}.request`, request, checkDns1123Label(request)))
      const key = request === '' ? name : `${name}/${request}`
      if (names.has(key)) errors.push(duplicate(at, key))
      else if (request === '') for (let n = requests.get(name) ?? 0; n > 0; n--) errors.push(duplicate(at, name))
      if (request !== '' && !names.has(key)) requests.set(name, (requests.get(name) ?? 0) + 1)
      names.add(key)
    }
    if (!known.has(name)) {
      const list = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`
      errors.push({ type: 'NotFound', field: at, value: name, detail: `must be one of the names in pod.spec.resourceClaims${list}` })
    }
  })
  return errors
}

/** `spec.resources`: what the pod may use as a whole. */
export function validatePodResources(path: string, spec: Fields, options: PodOptions): FieldError[] {
  const resources = maybeObject(spec, 'resources')
  if (resources === undefined) return []
  if (runsOnWindows(spec)) return [forbidden(path, 'may not be set for a windows pod')]
  return [
    ...(isSet(resources, 'claims') ? [forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level')] : []),
    ...requirementErrors(path, resources, { nameErrors: podName, claimNames: claimNamesOf(spec), options }),
    ...consistencyErrors(path, spec, resources),
  ]
}

function consistencyErrors(path: string, spec: Fields, resources: Fields): FieldError[] {
  const [limits, requests] = [quantitiesAsSent(resources, 'limits'), quantitiesAsSent(resources, 'requests')]
  const errors = exceededErrors(`${path}.requests`, aggregateAmounts(spec, 'requests'), { granted: requests, kind: 'requests' })
  const hugePageLimits = new Map([...aggregateAmounts(spec, 'limits')].filter(([name]) => isHugePages(name)))
  appendAll(errors, exceededErrors(`${path}.limits`, hugePageLimits, { granted: limits, kind: 'limits' }))
  objects(spec, 'containers').forEach((container, i) => {
    for (const [name, amount] of quantitiesAsSent(maybeObject(container, 'resources'), 'limits')) {
      const limit = limits.get(name)
      if (limit === undefined || compareQuantities(amount, limit) <= 0) continue
      const detail = `must be less than or equal to pod limits of ${formatQuantity(limit)}`
      errors.push(invalid(`${path}.containers[${i}][${name}].limits`, formatQuantity(amount), detail))
    }
  })
  return errors
}

function exceededErrors(
  path: string,
  needed: ReadonlyAmounts<Quantity>,
  { granted, kind }: { granted: ReadonlyAmounts<Quantity>; kind: string },
): FieldError[] {
  const errors: FieldError[] = []
  for (const [name, amount] of needed) {
    const own = granted.get(name)
    if (own === undefined || compareQuantities(amount, own) <= 0) continue
    const detail = `must be greater than or equal to aggregate container ${kind} of ${formatQuantity(amount)}`
    errors.push(invalid(`${path}[${name}]`, formatQuantity(own), detail))
  }
  return errors
}
