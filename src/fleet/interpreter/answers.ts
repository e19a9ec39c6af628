/**
 * Answers of scripts and webhooks, converted to their API types, as written to bindings. Unknown fields are dropped,
 * quantities are in canonical form, and an invalid answer is an error that names the field.
 */
import { isJsonObject, type JsonObject, setOwn } from '../../base/json.ts'
import type { BindingComponent, ReplicaRequirements } from '../../kinds/karmada/index.ts'
import { plainQuantity } from '../../kube/amounts.ts'
import { aggregateMessage, type FieldError, fieldErrorMessage, invalid } from '../../kube/field-error.ts'
import { canonicalQuantity } from '../../kube/quantity.ts'
import { type LabelSelectorObject, validateLabelSelector } from '../../kube/selector.ts'
import type { DependentReference } from './interpreter.ts'

/** An answer that is invalid. */
export class AnswerError extends Error {}

const wrong = (path: string, wanted: string): never => {
  throw new AnswerError(`${path} is not ${wanted}`)
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

function structAt(path: string, value: unknown): JsonObject {
  return isJsonObject(value) ? value : wrong(path, 'a struct')
}

/** Strings that are present and not empty: Go omits empty ones. */
function textField(path: string, value: unknown): string | undefined {
  if (isAbsent(value) || value === '') return undefined
  return typeof value === 'string' ? value : wrong(path, 'a text')
}

function listField(path: string, value: unknown): unknown[] | undefined {
  if (isAbsent(value)) return undefined
  if (!Array.isArray(value)) return wrong(path, 'a list')
  return value.length === 0 ? undefined : value
}

type NodeClaim = NonNullable<ReplicaRequirements['nodeClaim']>

function nodeClaimOf(path: string, value: unknown): NodeClaim | undefined {
  if (isAbsent(value)) return undefined
  const given = structAt(path, value)
  const claim: NodeClaim = {}
  const tolerations = listField(`${path}.tolerations`, given.tolerations)
  if (!isAbsent(given.hardNodeAffinity)) {
    claim.hardNodeAffinity = structAt(`${path}.hardNodeAffinity`, given.hardNodeAffinity) as NonNullable<NodeClaim['hardNodeAffinity']>
  }
  const nodeSelector = isAbsent(given.nodeSelector) ? {} : structAt(`${path}.nodeSelector`, given.nodeSelector)
  if (Object.keys(nodeSelector).length > 0) claim.nodeSelector = nodeSelector as Record<string, string>
  if (tolerations !== undefined) claim.tolerations = tolerations as NonNullable<NodeClaim['tolerations']>
  return claim
}

function resourcesOf(path: string, value: unknown): Record<string, string> | undefined {
  if (isAbsent(value)) return undefined
  const given = structAt(path, value)
  const names = Object.keys(given)
  if (names.length === 0) return undefined
  const resources: Record<string, string> = {}
  for (const name of names) setOwn(resources, name, quantityOf(`${path}.${name}`, given[name]))
  return resources
}

/** Numbers are quantities too; null is zero. */
function quantityOf(path: string, value: unknown): string {
  if (isAbsent(value)) return '0'
  if (typeof value !== 'string' && typeof value !== 'number') return wrong(path, 'a quantity')
  const plain = typeof value === 'string' ? plainQuantity(value) : undefined
  if (plain !== undefined) return plain
  const canonical = canonicalQuantity(value)
  return canonical.error === undefined ? canonical.value : wrong(path, `a quantity: ${canonical.error}`)
}

export function requirementsOf(value: unknown, path = 'replicaRequirements'): ReplicaRequirements {
  const given = structAt(path, value)
  const requirements: ReplicaRequirements = {}
  const nodeClaim = nodeClaimOf(`${path}.nodeClaim`, given.nodeClaim)
  const resourceRequest = resourcesOf(`${path}.resourceRequest`, given.resourceRequest)
  const namespace = textField(`${path}.namespace`, given.namespace)
  const priorityClassName = textField(`${path}.priorityClassName`, given.priorityClassName)
  if (nodeClaim !== undefined) requirements.nodeClaim = nodeClaim
  if (resourceRequest !== undefined) requirements.resourceRequest = resourceRequest
  if (namespace !== undefined) requirements.namespace = namespace
  if (priorityClassName !== undefined) requirements.priorityClassName = priorityClassName
  return requirements
}

const MAX_INT32 = 2 ** 31 - 1

function countAt(path: string, value: unknown): number {
  if (isAbsent(value)) return 0
  const isCount = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_INT32
  return isCount ? value : wrong(path, 'a whole number of 32 bits')
}

export function componentsOf(list: readonly unknown[]): BindingComponent[] {
  return list.map((value, i) => {
    const path = `components[${i}]`
    const given = structAt(path, value)
    const component: BindingComponent = {
      name: textField(`${path}.name`, given.name) ?? '',
      replicas: countAt(`${path}.replicas`, given.replicas),
    }
    if (!isAbsent(given.replicaRequirements)) {
      // A component counts against the namespace of its template, and names none itself.
      const { namespace: _, ...requirements } = requirementsOf(given.replicaRequirements, `${path}.replicaRequirements`)
      component.replicaRequirements = requirements
    }
    return component
  })
}

/** Each reference names a kind, and a name or a selector. */
export function referencesOf(list: readonly unknown[]): DependentReference[] {
  const errors: FieldError[] = []
  const references = list.map((value, i) => {
    const path = `dependencies[${i}]`
    const given = structAt(path, value)
    const reference: DependentReference = {
      apiVersion: textField(`${path}.apiVersion`, given.apiVersion) ?? '',
      kind: textField(`${path}.kind`, given.kind) ?? '',
    }
    const namespace = textField(`${path}.namespace`, given.namespace)
    const name = textField(`${path}.name`, given.name)
    if (namespace !== undefined) reference.namespace = namespace
    if (name !== undefined) reference.name = name
    if (!isAbsent(given.labelSelector)) {
      reference.labelSelector = structAt(`${path}.labelSelector`, given.labelSelector) as LabelSelectorObject
    }
    errors.push(...problemsOf(reference, path))
    return reference
  })
  if (errors.length > 0) throw new AnswerError(aggregateMessage(errors.map(fieldErrorMessage)))
  return references
}

function problemsOf(reference: DependentReference, path: string): FieldError[] {
  const { apiVersion, kind, name, labelSelector } = reference
  const problems = labelSelector === undefined ? [] : validateLabelSelector(labelSelector, `${path}.labelSelector`)
  if (name === undefined && labelSelector === undefined) {
    problems.unshift(invalid(path, reference, 'dependency can not leave name and labelSelector all empty'))
  }
  if (kind === '') problems.unshift(invalid(`${path}.kind`, kind, 'missing required kind'))
  if (apiVersion === '') problems.unshift(invalid(`${path}.apiVersion`, apiVersion, 'missing required apiVersion'))
  return problems
}
