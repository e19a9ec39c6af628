/**
 * What to do about a binding and its templates: pure. The claim is written first and on its own; the binding is then made
 * from the claimed template. A claim that no longer holds is removed from the binding before it is removed from the
 * template. Nothing is written to templates that no policy matches.
 */
import type { Policy } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Action, EventIntent, Plan, WriteEvents } from '../../../runtime/controller.ts'
import { HELD_BECAUSE, isHeldByUs } from '../../../runtime/seams/narrowing.ts'
import { type Claim, claimChanges, claimOf, isSameClaim, type MetadataChanges, neededChanges } from '../claim.ts'
import { DEFERRED, WAITING_BECAUSE } from './annotations.ts'
import { bindingPatch, controllerUidOf, type DesiredBinding, newBinding, waitingPatch } from './desired.ts'
import { applied, applyFailed, held, preempted, released } from './events.ts'
import type { Observed, Subject } from './observe.ts'
import { waitOf } from './waits.ts'

/** Rules can be watched, webhooks cannot: they are called again after this long. */
const ASK_AGAIN_MS = 15_000

export function plan(observed: Observed): Plan {
  const release = releaseOfBinding(observed)
  const claims = observed.subjects.flatMap((subject) => claimActions(subject, observed))
  const isSettled = claims.length === 0 && release.length === 0
  return {
    actions: [...release, ...claims, ...(isSettled && !observed.isBehind ? bindingActions(observed) : [])],
    ...(isFailed(observed) ? { requeueAfterMs: ASK_AGAIN_MS } : {}),
  }
}

const isFailed = ({ interpretation }: Observed): boolean => interpretation !== undefined && 'failed' in interpretation

/**
 * The policy is gone, being deleted, or no longer selects the template. A binding without a template keeps its claim as
 * long as the policy exists: deleting it is up to the garbage collector.
 */
function releaseOfBinding({ bindings, binding, isBindingClaimValid, winner }: Observed): Action[] {
  if (binding === undefined || isBindingClaimValid) return []
  const metadata = neededChanges(binding, claimChanges(undefined))
  if (metadata === undefined || (winner !== undefined && isSameClaim(claimOf(binding), winner.wanted))) return []
  return [{ do: 'patch', resource: bindings, of: binding, patch: { metadata } }]
}

/** What we write on a template: the claim, that it is deferred, and what it waits for while it has no binding. */
function claimActions(subject: Subject, observed: Observed): Action[] {
  const { resource, template, wanted, decision } = subject
  const claim = nextClaim(subject)
  const hasBinding = observed.binding !== undefined && controllerUidOf(observed.binding) === template.metadata.uid
  const wait = hasBinding ? undefined : waitOf(subject, observed)
  const isPutOff = wanted !== undefined && isSameClaim(claim, wanted) && subject.isDeferred && !hasBinding
  const changes = claimChanges(claim)
  const metadata = neededChanges(template, {
    labels: changes.labels,
    annotations: { ...changes.annotations, [DEFERRED]: isPutOff ? subject.content.people : null, [WAITING_BECAUSE]: wait ?? null },
  })
  if (metadata === undefined) return []
  const isTaken = decision.preempts !== undefined && !isSameClaim(claim, subject.claim)
  const events = isTaken
    ? takenEvents(template, wanted as Claim, decision.preempts as Claim)
    : waitWriteEvents(template, decision.policy, metadata, observed)
  return [{ do: 'patch', resource, of: template, patch: { metadata }, ...events }]
}

/** A template that is being deleted keeps a valid claim and gets no other; a policy claims nothing before its overrides exist. */
function nextClaim({ template, claim, wanted, decision, missingOverrides }: Subject): Claim | undefined {
  if (wanted === undefined || isSameClaim(claim, wanted)) return wanted
  const cannotTake = template.metadata.deletionTimestamp !== undefined || missingOverrides.length > 0
  if (!cannotTake) return wanted
  return decision.preempts === undefined ? undefined : claim
}

function takenEvents(template: KubeObject, by: Claim, from: Claim): WriteEvents {
  return { events: preempted(template, by, from), eventOnFailure: (why) => preempted(template, by, from, why) }
}

/** The event of a wait is recorded with the annotation that begins it. */
function waitWriteEvents(template: KubeObject, policy: Policy | undefined, metadata: MetadataChanges, observed: Observed): WriteEvents {
  if (policy === undefined) return {}
  const wait = metadata.annotations?.[WAITING_BECAUSE]
  return {
    ...(wait === undefined || wait === null ? {} : { events: waitEvents(template, policy, wait, observed) }),
    eventOnFailure: (why) => applyFailed(template, policy, why),
  }
}

function waitEvents(template: KubeObject, policy: Policy, wait: string, { interpretation }: Observed): EventIntent[] {
  const failed: EventIntent[] =
    interpretation !== undefined && 'failed' in interpretation
      ? [{ of: template, type: 'Warning', reason: interpretation.reason, message: interpretation.failed }]
      : []
  return [...failed, applyFailed(template, policy, wait)]
}

function bindingActions(observed: Observed): Action[] {
  const { bindings, binding, winner, narrowing, interpretation } = observed
  const owner = binding === undefined ? undefined : controllerUidOf(binding)
  if (winner === undefined || (owner !== undefined && owner !== winner.template.metadata.uid)) return []
  if (binding?.metadata.deletionTimestamp !== undefined || winner.template.metadata.deletionTimestamp !== undefined) return []
  const policy = winner.decision.policy as Policy
  const wait = waitOf(winner, observed)
  if (wait !== undefined || winner.isDeferred) {
    const patch = binding === undefined ? undefined : waitingPatch(binding, narrowing, wait)
    if (binding === undefined || patch === undefined) return []
    const { events = [], ...onFailure } = waitWriteEvents(winner.template, policy, (patch.metadata ?? {}) as MetadataChanges, observed)
    const all = [...(events as readonly EventIntent[]), ...narrowingEvents(observed, winner.template, patch)]
    return [{ do: 'patch', resource: bindings, of: binding, patch, events: all, ...onFailure }]
  }
  if (interpretation === undefined || 'failed' in interpretation) return []
  const desired = desiredOf(observed, winner, interpretation.needs)
  if (binding === undefined)
    return [{ do: 'create', resource: bindings, object: newBinding(desired), ...appliedEvents(observed, winner, undefined) }]
  const patch = bindingPatch(desired, binding)
  return patch === undefined ? [] : [{ do: 'patch', resource: bindings, of: binding, patch, ...appliedEvents(observed, winner, patch) }]
}

const desiredOf = (
  { bindings, narrowing, priority, hasAffinityGroups }: Observed,
  winner: Subject,
  needs: DesiredBinding['needs'],
): DesiredBinding => ({
  bindings,
  template: winner.template,
  content: winner.content,
  policy: winner.decision.policy as Policy,
  claim: winner.wanted as Claim,
  needs,
  priority,
  narrowing,
  hasAffinityGroups,
})

/** Recorded with the write, so once per change; that replicas were read is an event only when they changed. */
function appliedEvents(observed: Observed, { template, decision }: Subject, patch: Record<string, unknown> | undefined): WriteEvents {
  const { interpretation } = observed
  const policy = decision.policy as Policy
  const spec = (patch?.spec ?? {}) as Record<string, unknown>
  const hasChanged = patch === undefined || ['replicas', 'replicaRequirements', 'components'].some((key) => key in spec)
  const read: EventIntent[] =
    hasChanged && interpretation !== undefined && 'needs' in interpretation && interpretation.event !== undefined
      ? [{ of: template, type: 'Normal', ...interpretation.event }]
      : []
  const events = [...read, applied(template, policy), ...narrowingEvents(observed, template, patch)]
  return { events, eventOnFailure: (why) => applyFailed(template, policy, why) }
}

/** That it is held, released, or narrowed, with the write that makes it so; `patch` is undefined for a new binding. */
function narrowingEvents(
  { narrowing, binding }: Observed,
  template: KubeObject,
  patch: Record<string, unknown> | undefined,
): EventIntent[] {
  const { annotations = {} } = (patch?.metadata ?? {}) as MetadataChanges
  const because = patch === undefined ? narrowing.hold?.message : annotations[HELD_BECAUSE]
  const own = narrowing.events.map(({ reason, message }): EventIntent => ({ of: template, type: 'Normal', reason, message }))
  if (typeof because === 'string') return [held(template, because), ...own]
  return because === null && binding !== undefined && isHeldByUs(binding) ? [released(template), ...own] : own
}
