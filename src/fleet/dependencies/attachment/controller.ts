/**
 * Attached bindings: what an object depends on goes where the object goes. One pass per attached binding collects all
 * bindings that need it. Sole writer of `requiredBy`, of the `depended-by` labels, and of bindings that no policy made.
 * Runs again when a binding that needs it, the binding itself, or the needed object changes or appears. When nothing needs
 * it any more, the binding stays, empty; when the object is deleted, the binding follows through its owner reference.
 */
import type { ResourceBinding } from '../../../kinds/karmada/index.ts'
import { bindingName } from '../../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../../kinds/karmada/resources.ts'
import type { ObjectRef } from '../../../kube/object-reference.ts'
import { type Controller, defineController, type Signal, via } from '../../../runtime/controller.ts'
import type { Templates } from '../../../runtime/templates.ts'
import { isSameContent, rememberedContent } from '../../detector/content.ts'
import type { DependenciesDeps } from '../deps.ts'
import { type Observed, plan } from './plan.ts'
import { dependencyOf, type NamedReference, neededBy, REFERRER_INDEXES } from './referrers.ts'

export const attachment = ({ templates }: Pick<DependenciesDeps, 'templates'>): Controller => {
  const contentOf = rememberedContent()
  const awaited = createAwaited()
  return defineController<Observed, ResourceBinding>({
    name: 'fleet.dependencies.attachment',
    component: 'dependencies-distributor',
    for: RESOURCE_BINDINGS,
    concurrency: 4,
    watches: [via(RESOURCE_BINDINGS, (binding) => neededBy(binding, templates), { isRelevantUpdate: isRelevant })],
    indexes: REFERRER_INDEXES,
    signals: [templateChanges(templates, awaited)],
    writes: [{ resource: RESOURCE_BINDINGS, verbs: ['create', 'patch'] }],
    isRelevantUpdate: isRelevant,
    observe(ref, binding, read) {
      const { object, referrers, isTaken, ofCluster } = dependencyOf(ref, binding, read, templates)
      awaited.note(ref, ofCluster)
      return { ref, binding, object, content: object === undefined ? undefined : contentOf(object), referrers, isTaken }
    },
    plan,
  })
}

/** Status does not matter to dependencies. */
const isRelevant = (old: ResourceBinding, binding: ResourceBinding): boolean =>
  old.metadata.generation !== binding.metadata.generation ||
  old.metadata.deletionTimestamp !== binding.metadata.deletionTimestamp ||
  JSON.stringify([old.metadata.annotations, old.metadata.labels, old.metadata.finalizers]) !==
    JSON.stringify([binding.metadata.annotations, binding.metadata.labels, binding.metadata.finalizers])

type Named = Pick<NamedReference, 'apiVersion' | 'kind' | 'name'>

interface Awaited {
  note(ref: ObjectRef, references: readonly Named[]): void
  of(reference: Named): Iterable<ObjectRef>
}

/** Which bindings a cluster-scoped object concerns: its name does not tell their namespaces. One entry per such dependency. */
function createAwaited(): Awaited {
  const byObject = new Map<string, Map<string, ObjectRef>>()
  const byBinding = new Map<string, string>()
  const textOf = ({ apiVersion, kind, name }: Named): string => `${apiVersion} ${kind} ${name}`
  return {
    note(ref, [reference]) {
      const key = `${ref.namespace}/${ref.name}`
      const before = byBinding.get(key)
      if (before !== undefined) byObject.get(before)?.delete(key)
      if (before !== undefined && byObject.get(before)?.size === 0) byObject.delete(before)
      byBinding.delete(key)
      if (reference === undefined) return
      const text = textOf(reference)
      byBinding.set(key, text)
      byObject.set(text, (byObject.get(text) ?? new Map<string, ObjectRef>()).set(key, ref))
    },
    of: (reference) => byObject.get(textOf(reference))?.values() ?? [],
  }
}

const templateChanges = (templates: Templates, awaited: Awaited): Signal => ({
  subscribe: (enqueue) =>
    templates.subscribe(({ resource, object }, { type, old }) => {
      if (type === 'updated' && old !== undefined && isSameContent(old, object)) return
      const { namespace = '', name = '' } = object.metadata
      const priority = templates.isComplete() ? 'normal' : 'low'
      if (resource.namespaced) enqueue({ namespace, name: bindingName(object.kind, name) }, priority)
      else for (const ref of [...awaited.of({ ...object, name })]) enqueue(ref, priority)
    }),
})
