/** What the detector needs to decide about one binding: its templates, their policies, and the needs of the template that gets it. */

import { messageOf } from '../../../base/error-text.ts'
import type { Located } from '../../../client/cache/cluster-cache.ts'
import type { Binding, Policy } from '../../../kinds/karmada/index.ts'
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_PROPAGATION_POLICIES,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
} from '../../../kinds/karmada/resources.ts'
import { PRIORITY_CLASSES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { PassReader, Reader } from '../../../runtime/controller.ts'
import type { Needs } from '../../../runtime/needs.ts'
import {
  isHeldByUs,
  type Narrowed,
  type Narrowing,
  NOT_NARROWED,
  narrowed,
  RELEASED,
  releasedAllow,
} from '../../../runtime/seams/narrowing.ts'
import type { Templates } from '../../../runtime/templates.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import { type FleetMeasures, untimed } from '../../metrics/measures.ts'
import { type Decision, decide, isValidClaim } from '../choice.ts'
import { type Claim, claimBy, claimOf, isOfCluster, isSameClaim } from '../claim.ts'
import { CONTENT_ANNOTATION, type Content, type ContentOf, contentText, userPart } from '../content.ts'
import { candidatesFor } from '../policy-index.ts'
import { DEFERRED } from './annotations.ts'
import { controllerUidOf } from './desired.ts'

/** Karmada's feature gates that concern the detector; on unless switched off. */
export interface DetectorGates {
  preemption?: boolean
  multiplePodTemplates?: boolean
  quotaEstimate?: boolean
  workloadAffinity?: boolean
}

export interface DetectorDeps {
  templates: Templates
  interpreter: Interpreter
  narrowings?: readonly Narrowing[]
  gates?: DetectorGates
  measures?: Pick<FleetMeasures, 'timed'>
}

/** A template and what was decided about it. */
export interface Subject {
  resource: Resource
  template: KubeObject
  content: Content
  claim: Claim | undefined
  decision: Decision
  /** The claim it should carry. */
  wanted: Claim | undefined
  /** Override policies that its policy waits for. */
  missingOverrides: readonly string[]
  /** Its lazy policy waits until users change the template. */
  isDeferred: boolean
}

/** What the interpreter answered, or why it could not. */
export type Interpretation = { needs: Needs; event?: { reason: string; message: string } } | { failed: string; reason: string }

export interface Observed {
  bindings: Resource<Binding>
  binding: Binding | undefined
  subjects: readonly Subject[]
  /** The one of them that the binding belongs to; undefined when none has a policy. */
  winner: Subject | undefined
  /** Whether the claim on the binding still holds. */
  isBindingClaimValid: boolean
  narrowing: Narrowed
  /** What narrowings read may be older than the template: it must not be let through before that has caught up. */
  isBehind: boolean
  /** Only where the binding is to be written. */
  interpretation: Interpretation | undefined
  missingClass: string | undefined
  priority: number | undefined
  hasAffinityGroups: boolean
}

export interface Observer {
  deps: DetectorDeps
  bindings: Resource<Binding>
  contentOf: ContentOf
}

export async function observe(observer: Observer, ref: ObjectRef, binding: Binding | undefined, read: PassReader): Promise<Observed> {
  const { deps, bindings } = observer
  const { templates, gates = {}, narrowings = [] } = deps
  const subjects = templates.ofBinding(ref.namespace, ref.name).flatMap((one) => subjectOf(observer, one, binding, read) ?? [])
  const winner = winnerOf(subjects, binding)
  const policy = winner?.decision.policy
  const isDue = winner !== undefined && isSameClaim(winner.claim, winner.wanted) && isBindingDue(winner, binding)
  const className = bindings.namespaced ? policy?.spec?.schedulePriority?.priorityClassName : undefined
  const found = className === undefined ? undefined : read.get(PRIORITY_CLASSES, '', className)
  const interpretation = isDue ? await interpret(deps, winner.template) : undefined
  const needs = interpretation !== undefined && 'needs' in interpretation ? interpretation.needs : undefined
  const narrowing =
    winner === undefined || policy === undefined
      ? NOT_NARROWED
      : narrowed(narrowings, { template: winner.template, policy, binding, needs }, read)
  return {
    bindings,
    binding,
    subjects,
    winner,
    isBindingClaimValid: binding !== undefined && isClaimOfBindingValid(binding, (ownerAmong(subjects, binding) ?? winner)?.template, read),
    narrowing,
    isBehind: winner !== undefined && isLetThrough(narrowing, winner, binding, isDue) && !isUpToDate(winner, narrowing, narrowings, read),
    interpretation,
    missingClass: className !== undefined && found === undefined ? className : undefined,
    priority: typeof found?.value === 'number' ? found.value : undefined,
    hasAffinityGroups: gates.workloadAffinity !== false,
  }
}

/**
 * Whether this pass would let something go where it may not go yet: something that runs nowhere, that is held or restricted,
 * or that users have changed, so that other claims may concern it.
 */
function isLetThrough({ hold, allow }: Narrowed, { content }: Subject, binding: Binding | undefined, isDue: boolean): boolean {
  if (hold !== undefined) return false
  if (binding === undefined) return isDue
  if (isHeldByUs(binding)) return true
  const { annotations = {} } = binding.metadata
  const isPlaced = (binding.spec?.clusters?.length ?? 0) > 0
  return isDue && (!isPlaced || annotations[CONTENT_ANNOTATION] !== contentText(content) || isWider(allow, annotations[RELEASED]))
}

/** Whether what is allowed now goes beyond what was released. */
function isWider(allow: readonly string[] | undefined, record: string | undefined): boolean {
  if (record === undefined) return false
  const released = new Set(releasedAllow(record))
  return allow === undefined || allow.some((name) => !released.has(name))
}

/**
 * Up to the newer one of template and policy: a policy that has changed opens just as well. Every resource is asked about, so that
 * they catch up together.
 */
function isUpToDate(
  { template, decision: { policy } }: Subject,
  { allow }: Narrowed,
  narrowings: readonly Narrowing[],
  read: PassReader,
): boolean {
  const { namespace } = template.metadata
  if (namespace === undefined) return true
  const revision = Math.max(...[template, policy].map((object) => Number(object?.metadata.resourceVersion ?? 0)))
  const resources = narrowings.flatMap(({ olderThanTemplate = [], olderThanAllowed = [] }) => [
    ...olderThanTemplate,
    ...(allow === undefined ? [] : olderThanAllowed),
  ])
  return resources.map((resource) => read.reflects(resource, resource.namespaced ? namespace : '', revision)).every(Boolean)
}

/** Whether anything beyond its claim is to be written to the binding. */
const isBindingDue = ({ template, isDeferred, missingOverrides }: Subject, binding: Binding | undefined): boolean =>
  !isDeferred &&
  missingOverrides.length === 0 &&
  template.metadata.deletionTimestamp === undefined &&
  binding?.metadata.deletionTimestamp === undefined

function subjectOf(
  { deps, contentOf }: Observer,
  { resource, object }: Located,
  binding: Binding | undefined,
  read: Reader,
): Subject | undefined {
  const claim = claimOf(object)
  const claimed = claim === undefined ? undefined : policyOf(claim, read)
  const isSkipped = deps.templates.isSkipped(object)
  // Templates that policies ignore are ignored, unless they carry a stale claim that would otherwise never be removed.
  if (isSkipped && (claim === undefined || isValidClaim(object, claim, claimed))) return undefined
  const preemption = deps.gates?.preemption !== false
  const decision = isSkipped
    ? { policy: undefined }
    : (deps.measures?.timed ?? untimed)('MatchPolicy', () =>
        decide({ template: object, claim, claimed, preemption, ...candidatesFor(object, read) }),
      )
  const content = contentOf(object)
  const { policy } = decision
  const wanted = policy === undefined ? undefined : claimBy(policy)
  return {
    resource,
    template: object,
    content,
    claim,
    decision,
    wanted,
    missingOverrides: policy === undefined ? [] : missingOverridesOf(policy, read),
    isDeferred: policy !== undefined && isDeferred({ template: object, content, policy, isClaimed: isSameClaim(claim, wanted), binding }),
  }
}

const policyOf = (claim: Claim, read: Reader): Policy | undefined =>
  isOfCluster(claim) ? read.get(CLUSTER_PROPAGATION_POLICIES, '', claim.name) : read.get(PROPAGATION_POLICIES, claim.namespace, claim.name)

function missingOverridesOf({ metadata, spec }: Policy, read: Reader): string[] {
  const { namespace = '' } = metadata
  const exists = (name: string): boolean =>
    (namespace === '' ? read.get(CLUSTER_OVERRIDE_POLICIES, '', name) : read.get(OVERRIDE_POLICIES, namespace, name)) !== undefined
  return (spec?.dependentOverrides ?? []).filter((name) => !exists(name))
}

interface Lazy {
  template: KubeObject
  content: Content
  policy: Policy
  isClaimed: boolean
  binding: Binding | undefined
}

/**
 * A lazy policy acts when users have changed the template since the binding was made or, without a binding, since the
 * policy was last changed. Which of the two came first follows from the resource versions; the content at the time of the
 * claim is recorded on the template.
 */
function isDeferred({ template, content, policy, isClaimed, binding }: Lazy): boolean {
  if (policy.spec?.activationPreference !== 'Lazy') return false
  const remembered = binding?.metadata.annotations?.[CONTENT_ANNOTATION]
  if (binding !== undefined && remembered !== undefined && controllerUidOf(binding) === template.metadata.uid)
    return userPart(remembered) === content.people
  if (isClaimed) return template.metadata.annotations?.[DEFERRED] === content.people
  return Number(template.metadata.resourceVersion) < Number(policy.metadata.resourceVersion)
}

/** Names can collide: then the binding stays with its owner, or goes to the oldest template. */
function winnerOf(subjects: readonly Subject[], binding: Binding | undefined): Subject | undefined {
  const owned = binding === undefined ? undefined : ownerAmong(subjects, binding)
  if (owned !== undefined) return owned.decision.policy === undefined ? undefined : owned
  const able = subjects.filter(({ decision }) => decision.policy !== undefined)
  return able.toSorted((a, b) => compareTexts(ageOf(a), ageOf(b)))[0]
}

const ownerAmong = (subjects: readonly Subject[], binding: Binding): Subject | undefined =>
  subjects.find(({ template }) => template.metadata.uid === controllerUidOf(binding))

const ageOf = ({ template }: Subject): string => {
  const { creationTimestamp, name } = template.metadata
  return `${creationTimestamp ?? ''} ${template.apiVersion} ${name}`
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Without a template, the policy alone decides. */
function isClaimOfBindingValid(binding: Binding, template: KubeObject | undefined, read: Reader): boolean {
  const claim = claimOf(binding)
  if (claim === undefined) return false
  const policy = policyOf(claim, read)
  if (template !== undefined) return isValidClaim(template, claim, policy)
  return policy !== undefined && policy.metadata.deletionTimestamp === undefined && isSameClaim(claim, claimBy(policy))
}

async function interpret({ interpreter, gates = {} }: DetectorDeps, template: KubeObject): Promise<Interpretation> {
  const hasComponents = gates.multiplePodTemplates !== false && interpreter.has(template, 'InterpretComponent')
  try {
    if (hasComponents)
      return {
        needs: { components: await interpreter.components(template) },
        event: { reason: 'GetComponentsSucceed', message: 'Get components of resource template successfully.' },
      }
    if (!interpreter.has(template, 'InterpretReplica')) return { needs: {} }
    const { replicas, requirements } = await interpreter.replicas(template)
    const { namespace } = template.metadata
    const needsNamespace = gates.quotaEstimate !== false && requirements !== undefined && (requirements.namespace ?? '') === ''
    const replicaRequirements = needsNamespace && namespace !== undefined ? { ...requirements, namespace } : requirements
    return {
      needs: { replicas, ...(replicaRequirements === undefined ? {} : { replicaRequirements }) },
      event: { reason: 'GetReplicasSucceed', message: 'Get replicas of resource template successfully.' },
    }
  } catch (error) {
    // Users' rules and webhooks may throw anything; it is reported to the users.
    const failed = messageOf(error)
    return { failed, reason: hasComponents ? 'GetComponentsFailed' : 'GetReplicasFailed' }
  }
}
