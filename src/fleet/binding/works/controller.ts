/**
 * Keeps one Work per target of a binding: the template with the cluster's share, the overrides of that cluster, and the
 * marks by which it is found again. Sole writer of Works of bindings (their status aside); removes the binding's finalizer.
 * Runs again when the binding's spec, the template, an override policy, a rule of the interpreter, a Cluster's traits or
 * one of the Works changes; a Work that somebody deletes is created again. Deletion: the Works are deleted, then the
 * finalizer is removed; Works left over from a binding that no longer exists are deleted too.
 */

import type { Client } from '../../../client/client.ts'
import { ifFound } from '../../../client/errors.ts'
import { type BindingKind, permanentIdOf } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding, Work } from '../../../kinds/karmada/index.ts'
import { executionNamespace } from '../../../kinds/karmada/names.ts'
import { CLUSTERS, WORKS } from '../../../kinds/karmada/resources.ts'
import { NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Controller, defineController, type PassReader } from '../../../runtime/controller.ts'
import type { Templates } from '../../../runtime/templates.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import { overridesOf } from '../../override/index.ts'
import { createStillCurrent, type StillCurrent } from '../../still-current.ts'
import { createRetries } from '../retries.ts'
import { purgedFirst } from '../targets.ts'
import { createTemplateWatch } from '../template-watch.ts'
import { workNameOf } from '../work-for.ts'
import { worksNaming, worksWithIdOf } from '../works-index.ts'
import { neededTargets } from './cluster-scoped.ts'
import { isGoing, isHeld, type Observed, orphansOf, plan } from './plan.ts'
import { policiesFor } from './policies.ts'
import { indexesOf, isSpecChanged, watchesOf } from './triggers.ts'
import { isDue, otherOwner, wantedWorks } from './wanted.ts'

export interface BindingDeps {
  templates: Templates
  interpreter: Interpreter
  /** Whether preserved state is added to the copy in the cluster that takes over (default true). */
  takesState?: boolean
  /** How many bindings are processed at once (default 10). */
  concurrency?: number
}

export function bindingWorks(kind: BindingKind, deps: BindingDeps): Controller {
  const watch = createTemplateWatch(kind, deps)
  const retries = createRetries()
  const isCurrent = createStillCurrent(kind.resource)
  async function observe(ref: ObjectRef, binding: Binding | undefined, read: PassReader, client: Client): Promise<Observed> {
    const works = worksOf(kind, { ref, binding, read })
    const template = binding === undefined || isGoing(binding) ? undefined : watch.templateOf(binding)
    const isHeldBack = binding === undefined || permanentIdOf(kind, binding) === '' || isHeld(binding, works)
    const { wanted, hindrances } =
      template === undefined || isHeldBack ? { wanted: [], hindrances: [] } : await wantedOf(binding, template, read)
    const seen = { kind, binding, works, template, wanted, hindrances }
    const retryAfterMs = retries.afterMs(
      `${ref.namespace}/${ref.name}`,
      hindrances.some(({ mayPass }) => mayPass),
    )
    return { ...seen, retryAfterMs, isFresh: await isSure(seen, { ref, client, isCurrent }) }
  }

  async function wantedOf(binding: Binding, template: KubeObject, read: PassReader): Promise<Pick<Observed, 'wanted' | 'hindrances'>> {
    const { namespace = '' } = binding.metadata
    const bindingOf = (name: string): Binding | undefined => read.get(kind.resource, namespace, name)
    const needed = await neededTargets({ ...deps, binding, template, bindingOf })
    const { wanted, hindrances } = await wantedWorks({ kind, binding: needed.binding, template, ...given(read, template) })
    return { wanted, hindrances: [...needed.hindrances, ...hindrances] }
  }

  function given(read: PassReader, template: KubeObject) {
    return {
      interpreter: deps.interpreter,
      takesState: deps.takesState,
      placeOf: (name: string) => ({
        cluster: read.get(CLUSTERS, '', name),
        hasNamespace: read.get(NAMESPACES, '', executionNamespace(name)) !== undefined,
      }),
      liveOf: (namespace: string, name: string) => read.get(WORKS, namespace, name),
      override: overridesOf(policiesFor(kind, read, template)),
    }
  }

  return defineController<Observed, Binding>({
    name: kind.controllerName('fleet.binding.works'),
    component: kind.resource.namespaced ? 'binding-controller' : 'cluster-resource-binding-controller',
    for: kind.resource,
    watches: watchesOf(kind, deps.templates),
    signals: [watch.signal],
    indexes: indexesOf(kind),
    writes: [
      { resource: kind.resource, verbs: ['patch'] },
      { resource: WORKS, verbs: ['create', 'patch', 'delete'] },
    ],
    reads: [
      { resource: kind.resource, verbs: ['get'] },
      { resource: WORKS, verbs: ['get', 'list'] },
    ],
    isRelevantUpdate: isSpecChanged,
    concurrency: deps.concurrency ?? 10,
    observe,
    plan,
  })
}

/** Found by its permanent id, and by name: those of an earlier binding, or from before its label was changed. */
function worksOf(kind: BindingKind, { ref, binding, read }: { ref: ObjectRef; binding: Binding | undefined; read: PassReader }): Work[] {
  const found = [...worksNaming(read, ref), ...(binding === undefined ? [] : worksWithIdOf(read, kind, binding))]
  return [...new Set(found)]
}

interface Asking {
  ref: ObjectRef
  client: Client
  isCurrent: StillCurrent
}

/**
 * Asks the server before anything is written, unless the binding was written while this process runs: caches may be stale,
 * and of different age, and an old binding must neither remove a new Work nor bring one back. Also asks before a Work is
 * created while another must be gone first.
 */
async function isSure(seen: Pick<Observed, 'kind' | 'binding' | 'works' | 'wanted'>, { ref, client, isCurrent }: Asking): Promise<boolean> {
  const { kind, binding, wanted } = seen
  const removes = orphansOf(seen).length > 0
  if (binding === undefined) return !removes || (await ifFound(client.get(kind.resource, ref))) === undefined
  if ((removes || wanted.some(isDue)) && !(await isCurrent(binding, client))) return false
  return !wanted.some(({ live }) => live === undefined) || (await isPurged(client, kind, binding))
}

/** Whether the Works that must be gone first are gone, according to the server. */
async function isPurged(client: Client, kind: BindingKind, binding: Binding): Promise<boolean> {
  for (const cluster of purgedFirst(binding.spec)) {
    const work = await ifFound(client.get(WORKS, { namespace: executionNamespace(cluster), name: workNameOf(binding) }))
    if (work !== undefined && otherOwner(kind, binding, work) === undefined) return false
  }
  return true
}
