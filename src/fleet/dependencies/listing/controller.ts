/**
 * Lists what the object of a binding depends on, where the policy asks for dependencies to follow. Sole writer of the
 * annotation `resourcebinding.karmada.io/dependencies` and of the dependencies finalizer. Runs again when the template, the
 * binding or a rule of the interpreter changes. A binding that is deleted, or no longer propagates dependencies, keeps the
 * finalizer until no attached binding mentions it.
 */
import { messageOf } from '../../../base/error-text.ts'
import type { Located } from '../../../client/cache/cluster-cache.ts'
import type { BindingSnapshot, ResourceBinding } from '../../../kinds/karmada/index.ts'
import { bindingName } from '../../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import { DEPENDENCIES_ANNOTATION, DEPENDENCIES_FINALIZER } from '../../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import {
  type Action,
  type Controller,
  defineController,
  type EventIntent,
  indexOf,
  NOTHING_TO_DO,
  type Plan,
  type Signal,
  via,
} from '../../../runtime/controller.ts'
import { hasFinalizer } from '../../../runtime/finalizer.ts'
import { templateWithin } from '../../binding/index.ts'
import { isSameContent } from '../../detector/content.ts'
import type { DependentReference } from '../../interpreter/interpreter.ts'
import type { DependenciesDeps } from '../deps.ts'
import { dependenciesText, takesDependencies } from '../references.ts'

const REQUIRED_BY = 'required-by'
/** Rules can be watched, webhooks cannot: they are called again after this long. */
const ASK_AGAIN_MS = 15_000
/** On a binding: why its dependencies are not known. */
const DEPENDENCIES_UNKNOWN = 'sluice.dev/dependencies-unknown'

export type Answer = { references: readonly DependentReference[] } | { failed: string }

export interface Observed {
  binding: ResourceBinding | undefined
  template: KubeObject | undefined
  /** Undefined when the interpreter was not asked. */
  answer: Answer | undefined
  /** Whether attached bindings still mention this one. */
  isMentioned: boolean
}

const textOf = ({ namespace = '', name }: BindingSnapshot): string => `${namespace}/${name}`

export const dependenciesListing = ({ templates, interpreter }: DependenciesDeps): Controller =>
  defineController<Observed, ResourceBinding>({
    name: 'fleet.dependencies.listing',
    component: 'dependencies-distributor',
    for: RESOURCE_BINDINGS,
    concurrency: 4,
    watches: [via(RESOURCE_BINDINGS, ({ spec }) => (spec?.requiredBy ?? []).map(({ namespace = '', name }) => ({ namespace, name })))],
    indexes: [indexOf(RESOURCE_BINDINGS, REQUIRED_BY, ({ spec }) => (spec?.requiredBy ?? []).map(textOf))],
    signals: [templateChanges(templates), ruleChanges({ templates, interpreter })],
    writes: [{ resource: RESOURCE_BINDINGS, verbs: ['patch'] }],
    isRelevant: (binding) =>
      takesDependencies(binding) ||
      hasFinalizer(binding, DEPENDENCIES_FINALIZER) ||
      binding.metadata.annotations?.[DEPENDENCIES_ANNOTATION] !== undefined,
    async observe({ namespace, name }, binding, read) {
      const isMentioned = read.byIndex(RESOURCE_BINDINGS, REQUIRED_BY, `${namespace}/${name}`).length > 0
      if (binding === undefined || !isDue(binding)) return { binding, template: undefined, answer: undefined, isMentioned }
      const template = templateWithin(templates, binding)
      if (template === undefined || template.metadata.uid !== binding.spec.resource.uid || !isAsked(interpreter, template, binding))
        return { binding, template: undefined, answer: undefined, isMentioned }
      return { binding, template, answer: await ask(interpreter, template), isMentioned }
    },
    plan,
  })

/** Without a rule for dependencies the interpreter is not asked: the binding lists none, unless it did before. */
const isAsked = (interpreter: DependenciesDeps['interpreter'], template: KubeObject, { metadata }: ResourceBinding): boolean =>
  interpreter.has(template, 'InterpretDependency') ||
  metadata.annotations?.[DEPENDENCIES_ANNOTATION] !== undefined ||
  metadata.annotations?.[DEPENDENCIES_UNKNOWN] !== undefined

/** Nothing follows a binding that has no clusters yet; one that had some before is kept up to date. */
const isDue = (binding: ResourceBinding): boolean =>
  takesDependencies(binding) &&
  ((binding.spec?.clusters ?? []).length > 0 || binding.metadata.annotations?.[DEPENDENCIES_ANNOTATION] !== undefined)

async function ask(interpreter: DependenciesDeps['interpreter'], template: KubeObject): Promise<Answer> {
  if (!interpreter.has(template, 'InterpretDependency')) return { references: [] }
  try {
    return { references: await interpreter.dependencies(template) }
  } catch (error) {
    // Users' rules and webhooks may throw anything; it is reported to the users.
    return { failed: messageOf(error) }
  }
}

export function plan({ binding, template, answer, isMentioned }: Observed): Plan {
  if (binding === undefined) return NOTHING_TO_DO
  if (!takesDependencies(binding)) return { actions: release(binding, isMentioned) }
  if (template === undefined || answer === undefined) return NOTHING_TO_DO
  if ('failed' in answer) return { actions: noteFailure(binding, template, answer.failed), requeueAfterMs: ASK_AGAIN_MS }
  const text = dependenciesText(answer.references)
  const finalizers = binding.metadata.finalizers ?? []
  const isListed = binding.metadata.annotations?.[DEPENDENCIES_ANNOTATION] === text
  const annotations = {
    ...(isListed ? {} : { [DEPENDENCIES_ANNOTATION]: text }),
    ...(binding.metadata.annotations?.[DEPENDENCIES_UNKNOWN] === undefined ? {} : { [DEPENDENCIES_UNKNOWN]: null }),
  }
  const hasOurs = finalizers.includes(DEPENDENCIES_FINALIZER)
  if (hasOurs && Object.keys(annotations).length === 0) return NOTHING_TO_DO
  const metadata = { annotations, ...(hasOurs ? {} : { finalizers: [...finalizers, DEPENDENCIES_FINALIZER] }) }
  const reported: EventIntent = {
    of: template,
    type: 'Normal',
    reason: 'GetDependenciesSucceed',
    message: `Get dependencies(${text}) succeed.`,
  }
  return {
    actions: [{ do: 'patch', resource: RESOURCE_BINDINGS, of: binding, patch: { metadata }, ...(isListed ? {} : { events: reported }) }],
  }
}

/** The list is removed first, whereupon attached bindings drop this one; the finalizer is removed when they have. */
function release(binding: ResourceBinding, isMentioned: boolean): Action[] {
  const { annotations = {}, finalizers = [], deletionTimestamp } = binding.metadata
  const isListed = annotations[DEPENDENCIES_ANNOTATION] !== undefined && deletionTimestamp === undefined
  const mayGo = hasFinalizer(binding, DEPENDENCIES_FINALIZER) && !isMentioned
  if (!isListed && !mayGo) return []
  const metadata = {
    ...(isListed ? { annotations: { [DEPENDENCIES_ANNOTATION]: null, [DEPENDENCIES_UNKNOWN]: null } } : {}),
    ...(mayGo ? { finalizers: finalizers.filter((one) => one !== DEPENDENCIES_FINALIZER) } : {}),
  }
  return [{ do: 'patch', resource: RESOURCE_BINDINGS, of: binding, patch: { metadata } }]
}

/** What is attached stays as it is until the dependencies are known again. */
function noteFailure(binding: ResourceBinding, template: KubeObject, failed: string): Action[] {
  if (binding.metadata.annotations?.[DEPENDENCIES_UNKNOWN] === failed) return []
  return [
    {
      do: 'patch',
      resource: RESOURCE_BINDINGS,
      of: binding,
      patch: { metadata: { annotations: { [DEPENDENCIES_UNKNOWN]: failed } } },
      events: { of: template, type: 'Warning', reason: 'GetDependenciesFailed', message: failed },
    },
  ]
}

const bindingOf = ({ object }: Located): ObjectRef => ({
  namespace: object.metadata.namespace ?? '',
  name: bindingName(object.kind, object.metadata.name ?? ''),
})

const templateChanges = (templates: DependenciesDeps['templates']): Signal => ({
  subscribe: (enqueue) =>
    templates.subscribe((located, { type, old }) => {
      if (!located.resource.namespaced || (type === 'updated' && old !== undefined && isSameContent(old, located.object))) return
      enqueue(bindingOf(located), templates.isComplete() ? 'normal' : 'low')
    }),
})

const ruleChanges = ({ templates, interpreter }: DependenciesDeps): Signal => ({
  subscribe: (enqueue) =>
    interpreter.onChange((kinds) => {
      for (const located of kinds === undefined ? [templates.all()] : kinds.map((kind) => templates.selectedBy(kind)))
        for (const one of located) if (one.resource.namespaced) enqueue(bindingOf(one), 'low')
    }),
})
