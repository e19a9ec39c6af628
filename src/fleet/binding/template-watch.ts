/**
 * The templates of bindings, as a signal for controllers of bindings: a change of a template enqueues its binding when the
 * change reaches members, or when the binding waits for a version that the cache did not have. A status change, which is
 * our own write, enqueues nothing unless `watchesStatus` is set.
 */
import { deepEqual } from '../../base/json.ts'
import type { CacheEvent } from '../../client/cache/object-cache.ts'
import type { BindingKind } from '../../kinds/karmada/binding-kinds.ts'
import { overreachOf } from '../../kinds/karmada/binding-reach.ts'
import type { Binding } from '../../kinds/karmada/index.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type GroupVersionKind, keyOfObject, keyOfRef, type ObjectRef } from '../../kube/object-reference.ts'
import type { Priority, Signal } from '../../runtime/controller.ts'
import type { Templates } from '../../runtime/templates.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'

export interface TemplateWatch {
  readonly signal: Signal
  /**
   * The template that a binding refers to, in the version it names or a newer one; undefined while there is none, and for a
   * binding that reaches too far.
   */
  templateOf(binding: Binding): KubeObject | undefined
}

export interface TemplateWatchOptions {
  templates: Templates
  interpreter: Interpreter
  /** Whether a change of the status alone counts (default no). */
  watchesStatus?: boolean
}

export function createTemplateWatch(
  kind: BindingKind,
  { templates, interpreter, watchesStatus = false }: TemplateWatchOptions,
): TemplateWatch {
  const waiting = new Set<string>()
  const bindingOf = ({ kind: of, metadata }: KubeObject): ObjectRef => ({
    namespace: metadata.namespace ?? '',
    name: bindingName(of, metadata.name ?? ''),
  })
  const isMine = (template: KubeObject): boolean => (template.metadata.namespace !== undefined) === kind.resource.namespaced
  const isRelevant = (event: CacheEvent): boolean =>
    event.type !== 'updated' || event.old === undefined || watchesStatus || reachesMembers(event.old, event.object)

  function follow(enqueue: (ref: ObjectRef, priority?: Priority) => void): () => void {
    // Objects that exist already are reported at once, and have waited already.
    let priority: Priority = 'low'
    const stop = templates.subscribe(({ object }, event) => {
      if (!isMine(object)) return
      const ref = bindingOf(object)
      if (isRelevant(event) || waiting.has(keyOfRef(ref))) enqueue(ref, priority)
    })
    priority = 'normal'
    return stop
  }

  /** A changed rule may produce another Work, or another status, from the same template. */
  function followRules(enqueue: (ref: ObjectRef) => void): () => void {
    return interpreter.onChange((kinds) => {
      for (const object of templatesOf(templates, kinds)) if (isMine(object)) enqueue(bindingOf(object))
    })
  }

  return {
    signal: {
      subscribe(enqueue) {
        const stops = [follow(enqueue), followRules((ref) => enqueue(ref, 'low'))]
        return () => {
          for (const stop of stops) stop()
        }
      },
    },
    templateOf(binding) {
      const found = templateWithin(templates, binding)
      const { uid, resourceVersion } = binding.spec.resource
      // A new object of the same name gets a binding of its own; this one is deleted with its owner.
      const isMeant = found !== undefined && (uid === undefined || uid === '' || uid === found.metadata.uid)
      const isBehind = isMeant && Number(found.metadata.resourceVersion) < Number(resourceVersion ?? 0)
      if (isBehind) waiting.add(keyOfObject(binding))
      else waiting.delete(keyOfObject(binding))
      return isMeant && !isBehind ? found : undefined
    },
  }
}

/** What a binding refers to, if it is within its reach: admission may not have seen the binding. */
export function templateWithin(templates: Pick<Templates, 'get'>, binding: Binding): KubeObject | undefined {
  const found = overreachOf(binding) === undefined ? templates.get(binding.spec.resource) : undefined
  // A reference without a namespace is for an object that has none.
  return (found?.metadata.namespace ?? '') === (binding.spec.resource.namespace ?? '') ? found : undefined
}

/** Whether anything changed apart from the status and the server's bookkeeping. */
function reachesMembers(old: KubeObject, object: KubeObject): boolean {
  return !deepEqual(withoutStatus(old), withoutStatus(object))
}

function withoutStatus({ status: _status, metadata, ...rest }: KubeObject): Record<string, unknown> {
  const { resourceVersion: _version, managedFields: _fields, ...own } = metadata
  return { ...rest, metadata: own }
}

function templatesOf(templates: Templates, kinds: readonly GroupVersionKind[] | undefined): KubeObject[] {
  if (kinds !== undefined) return kinds.flatMap((kind) => [...templates.selectedBy(kind)].map(({ object }) => object))
  const all: KubeObject[] = []
  templates.subscribe(({ object }) => void all.push(object))()
  return all
}
