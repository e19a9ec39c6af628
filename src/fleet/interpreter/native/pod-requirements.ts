/**
 * What one replica needs from a cluster: the resources of its pod, and the constraints on nodes. Shared by native rules and
 * the Lua function `kube.accuratePodRequirements`.
 */
import { isJsonObject } from '../../../base/json.ts'
import type { ReplicaRequirements } from '../../../kinds/karmada/index.ts'
import { type Amount, type Amounts, addAmount, printAmount, readAmount } from '../../../kube/amounts.ts'
import { type Fields, fieldAt } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { checkQualifiedName } from '../../../kube/names.ts'

export interface RequirementOptions {
  /** Includes the priority class, which quota estimates need. Default true. */
  priorityClassName?: boolean
}

/** Undefined when the template requests nothing. Throws when a quantity is invalid. */
export function podRequirements(template: unknown, options: RequirementOptions = {}): ReplicaRequirements | undefined {
  const spec = isJsonObject(template) ? template.spec : undefined
  const pod = isJsonObject(spec) ? spec : NO_FIELDS
  const nodeClaim = nodeClaimOf(pod)
  const resourceRequest = requestsOf(pod)
  if (nodeClaim === undefined && resourceRequest === undefined) return undefined
  const { priorityClassName } = pod
  const requirements: ReplicaRequirements = {}
  if (nodeClaim !== undefined) requirements.nodeClaim = nodeClaim
  if (resourceRequest !== undefined) requirements.resourceRequest = resourceRequest
  if (options.priorityClassName !== false && typeof priorityClassName === 'string' && priorityClassName !== '') {
    requirements.priorityClassName = priorityClassName
  }
  return requirements
}

type NodeClaim = NonNullable<ReplicaRequirements['nodeClaim']>

function nodeClaimOf(pod: Fields): NodeClaim | undefined {
  const { nodeSelector, tolerations, affinity } = pod
  const claim: NodeClaim = {}
  const hard = affinity === undefined ? undefined : fieldAt(affinity, 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution')
  if (isJsonObject(hard)) claim.hardNodeAffinity = hard as NonNullable<NodeClaim['hardNodeAffinity']>
  if (isJsonObject(nodeSelector) && Object.keys(nodeSelector).length > 0) claim.nodeSelector = nodeSelector as Record<string, string>
  if (Array.isArray(tolerations) && tolerations.length > 0) claim.tolerations = tolerations
  const isEmpty = claim.hardNodeAffinity === undefined && claim.nodeSelector === undefined && claim.tolerations === undefined
  return isEmpty ? undefined : claim
}

/** A template names a handful. */
type Totals = Amounts<Amount>

/**
 * Unlike `totalOfContainers`, this counts as Karmada's interpreter does: it knows no sidecars, so the largest init
 * container counts, and limits replace missing requests.
 */
function requestsOf(pod: Fields): Record<string, string> | undefined {
  const total: Totals = new Map()
  for (const container of list(pod.containers)) forEachRequest(container, total, addTo)
  for (const container of list(pod.initContainers)) forEachRequest(container, total, raiseTo)
  if (isJsonObject(pod.overhead)) forEachAmount(pod.overhead, NO_FIELDS, total, addTo)
  return printed(total)
}

type Change = (total: Totals, name: string, amount: Amount) => void

const addTo: Change = (total, name, amount) => {
  const known = total.get(name)
  total.set(name, known === undefined ? amount : addAmount(known, amount))
}

const raiseTo: Change = (total, name, amount) => {
  if (amount > (total.get(name) ?? 0)) total.set(name, amount)
}

const NO_FIELDS: Fields = Object.freeze({})
const NO_ITEMS: readonly unknown[] = []
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NO_ITEMS)

/** A limit without a request is the request, as the API server defaults it in a pod (but not in a template). */
function forEachRequest(container: unknown, total: Totals, change: Change): void {
  const resources = isJsonObject(container) ? container.resources : undefined
  if (!isJsonObject(resources)) return
  const requests = isJsonObject(resources.requests) ? resources.requests : NO_FIELDS
  forEachAmount(requests, NO_FIELDS, total, change)
  if (isJsonObject(resources.limits)) forEachAmount(resources.limits, requests, total, change)
}

function forEachAmount(amounts: Fields, except: Fields, total: Totals, change: Change): void {
  for (const name of Object.keys(amounts)) {
    const value = amounts[name]
    if (value === undefined || value === null || (except !== NO_FIELDS && Object.hasOwn(except, name)) || !isCounted(name)) continue
    change(total, name, readAmount(name, value))
  }
}

function printed(total: Totals): Record<string, string> | undefined {
  if (total.size === 0) return undefined
  const names = total.size === 1 ? total.keys() : [...total.keys()].sort(compareStrings)
  let request: Record<string, string> | undefined
  for (const name of names) {
    const amount = total.get(name) as Amount
    if (amount <= 0) continue
    request ??= {}
    request[name] = printAmount(name, amount)
  }
  return request
}

const NATIVE = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods'])

/** Resource names already checked: a fleet has few, and the check is slow. */
const extended = new Map<string, boolean>()
const MANY_NAMES = 1000

/** Whether schedulers count this resource; a name they do not know does not hold a replica back. */
function isCounted(name: string): boolean {
  if (NATIVE.has(name) || name.startsWith('hugepages-') || name.startsWith('attachable-volumes-')) return true
  if (name.includes('kubernetes.io/')) return true
  if (!name.includes('/')) return false
  const known = extended.get(name)
  if (known !== undefined) return known
  const isExtended = !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0
  if (extended.size >= MANY_NAMES) extended.clear()
  extended.set(name, isExtended)
  return isExtended
}
