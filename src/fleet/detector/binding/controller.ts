/**
 * The detector: every template that a policy selects gets the policy's claim, and a binding made from both. One pass per
 * binding decides all three. Sole writer of the claim on templates and bindings, and of every field of a binding except its
 * clusters, eviction tasks, requiredBy and rescheduleTriggeredAt. Runs again when the template, a policy that selects or
 * has claimed it, an override policy or PriorityClass the policy waits for, a rule of the interpreter, or a narrowing
 * changes. When a template is deleted, its binding follows through its owner reference; when a policy is deleted, only the
 * claims are removed.
 */

import { deepEqual } from '../../../base/json.ts'
import type { Located } from '../../../client/cache/cluster-cache.ts'
import type { Binding, Policy } from '../../../kinds/karmada/index.ts'
import { bindingName } from '../../../kinds/karmada/names.ts'
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
} from '../../../kinds/karmada/resources.ts'
import { EVERY_RESOURCE, PRIORITY_CLASSES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController, type PassReader, type Signal, via, type Watch } from '../../../runtime/controller.ts'
import { claimOf, permanentIdOf } from '../claim.ts'
import { isSameContent, rememberedContent } from '../content.ts'
import { POLICY_INDEXES, policiesOfClass, policiesWaitingFor, selectorsOf } from '../policy-index.ts'
import { type DetectorDeps, type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'

const CONCURRENCY = 8

/** For the bindings of namespaced templates. */
export const detectedBindings = (deps: DetectorDeps): Controller => detector(RESOURCE_BINDINGS, deps, 'fleet.detector.binding')

/** For the bindings of cluster-scoped templates. */
export const detectedClusterBindings = (deps: DetectorDeps): Controller =>
  detector(CLUSTER_RESOURCE_BINDINGS, deps, 'fleet.detector.binding.cluster-scoped')

function detector(bindings: Resource<Binding>, deps: DetectorDeps, name: string): Controller {
  const { templates, narrowings = [] } = deps
  const observer = { deps, bindings, contentOf: rememberedContent() }
  const isOfScope = ({ resource, object }: Located): boolean =>
    resource.namespaced === bindings.namespaced && (!templates.isSkipped(object) || claimOf(object) !== undefined)
  const refsOf = (located: Iterable<Located>): ObjectRef[] => [...located].filter(isOfScope).map(({ object }) => bindingOf(object))
  const ofPolicies = (policies: readonly Policy[]): ObjectRef[] => policies.flatMap((policy) => refsOf(concernedBy(policy, deps)))

  return defineController<Observed, Binding>({
    name,
    component: 'resource-detector',
    for: bindings,
    concurrency: CONCURRENCY,
    watches: [
      via(PROPAGATION_POLICIES, (policy) => ofPolicies([policy])),
      via(CLUSTER_PROPAGATION_POLICIES, (policy) => ofPolicies([policy])),
      via(OVERRIDE_POLICIES, (override, read) => ofPolicies(policiesWaitingFor(override, read)), onlyComingAndGoing),
      via(CLUSTER_OVERRIDE_POLICIES, (override, read) => ofPolicies(policiesWaitingFor(override, read)), onlyComingAndGoing),
      via(PRIORITY_CLASSES, ({ metadata }, read) => ofPolicies(policiesOfClass(metadata.name ?? '', read))),
      ...narrowings.flatMap(({ watches }) => watches.map((watch) => watchWithin(watch, bindings))),
    ],
    signals: [
      templateChanges(deps, isOfScope),
      ruleChanges(deps, refsOf),
      ...narrowings.flatMap(({ changes }) => (changes ? [within(changes, bindings)] : [])),
    ],
    indexes: [...POLICY_INDEXES, ...narrowings.flatMap(({ indexes = [] }) => indexes)],
    writes: [
      { resource: bindings, verbs: ['create', 'patch'] },
      { resource: EVERY_RESOURCE, verbs: ['patch'] },
    ],
    isRelevantUpdate: isOurBusiness,
    observe: (ref: ObjectRef, binding: Binding | undefined, read: PassReader) => observe(observer, ref, binding, read),
    plan,
  })
}

const bindingOf = ({ kind, metadata }: KubeObject): ObjectRef => ({
  namespace: metadata.namespace ?? '',
  name: bindingName(kind, metadata.name ?? ''),
})

const onlyComingAndGoing = { isRelevantUpdate: () => false }

/** The templates that a policy has claimed, and those it could claim: unclaimed, or preempted by name. */
function* concernedBy(policy: Policy, { templates }: DetectorDeps): Iterable<Located> {
  const id = permanentIdOf(policy)
  yield* templates.claimedBy(id)
  const mayPreempt = policy.spec?.preemption === 'Always'
  for (const selector of selectorsOf(policy))
    for (const located of templates.selectedBy(selector, policy.metadata.namespace)) {
      const claim = claimOf(located.object)
      if (claim === undefined || (mayPreempt && claim.id !== id)) yield located
    }
}

/** Status and other controllers' bookkeeping do not matter here. */
function isOurBusiness(old: Binding, binding: Binding): boolean {
  const { metadata: before } = old
  const { metadata: after } = binding
  return (
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    !deepEqual(before.labels, after.labels) ||
    !deepEqual(before.annotations, after.annotations) ||
    !deepEqual(before.ownerReferences, after.ownerReferences) ||
    !deepEqual(before.finalizers, after.finalizers)
  )
}

const templateChanges = ({ templates }: DetectorDeps, isOfScope: (located: Located) => boolean): Signal => ({
  subscribe: (enqueue) =>
    templates.subscribe((located, { type, old }) => {
      if (!isOfScope(located) && (old === undefined || !isOfScope({ ...located, object: old }))) return
      if (type === 'updated' && old !== undefined && isSameContent(old, located.object)) return
      enqueue(bindingOf(located.object), templates.isComplete() ? 'normal' : 'low')
    }),
})

/** When rules change, every binding of that kind may need something else. */
const ruleChanges = ({ templates, interpreter }: DetectorDeps, refsOf: (located: Iterable<Located>) => ObjectRef[]): Signal => ({
  subscribe: (enqueue) =>
    interpreter.onChange((kinds) => {
      const found = kinds === undefined ? [templates.all()] : kinds.map((kind) => templates.selectedBy(kind))
      for (const located of found)
        for (const ref of refsOf([...located].filter(({ object }) => claimOf(object) !== undefined))) enqueue(ref, 'low')
    }),
})

/** What a narrowing watches, and its signal, cover bindings of both scopes. */
const watchWithin = (watch: Watch, { namespaced }: Resource): Watch => ({
  ...watch,
  keysFor: (object, read, other) => watch.keysFor(object, read, other).filter(({ namespace }) => (namespace !== '') === namespaced),
})

const within = (signal: Signal, { namespaced }: Resource): Signal => ({
  subscribe: (enqueue) =>
    signal.subscribe((ref, priority) => {
      if ((ref.namespace !== '') === namespaced) enqueue(ref, priority)
    }),
})
