/**
 * An object without a namespace goes where a binding with one says only as a dependency, and only to the clusters of what
 * depends on it according to the interpreter. What bindings say about dependencies is not believed: whoever may write them
 * in one namespace would otherwise send any cluster-scoped object of the hub to clusters, permissions among them.
 */
import { messageOf } from '../../../base/error-text.ts'
import type { Binding, BindingSnapshot, ResourceBinding } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Templates } from '../../../runtime/templates.ts'
import { means, takesDependencies } from '../../dependencies/references.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import { targetsOf } from '../targets.ts'
import { templateWithin } from '../template-watch.ts'
import type { Hindrance } from './wanted.ts'

export interface NeedInput {
  binding: Binding
  template: KubeObject
  templates: Templates
  interpreter: Interpreter
  bindingOf(name: string): Binding | undefined
}

/** The binding with the targets that are needed, and why not for each of the others. Any other object has all its targets. */
export async function neededTargets(input: NeedInput): Promise<{ binding: Binding; hindrances: Hindrance[] }> {
  const { binding, template } = input
  const { namespace } = binding.metadata
  if (namespace === undefined || template.metadata.namespace !== undefined) return { binding, hindrances: [] }
  const outcomes = await Promise.all((binding.spec.requiredBy ?? []).map((referrer) => needOf(referrer, input)))
  const requiredBy = outcomes.flatMap(({ needed }) => needed ?? [])
  const needed = new Set(requiredBy.flatMap(({ clusters = [] }) => clusters.map(({ name }) => name)))
  const failure = outcomes.find((one) => one.failure !== undefined)?.failure
  const hindrances = targetsOf(binding.spec)
    .filter(({ name }) => !needed.has(name))
    .map(({ name }) => ({
      cluster: name,
      message: failure ?? `nothing that namespace ${namespace} has there depends on ${template.kind} ${template.metadata.name}`,
      mayPass: failure !== undefined,
    }))
  return { binding: { ...binding, spec: { ...binding.spec, clusters: undefined, requiredBy } }, hindrances }
}

interface Need {
  needed?: BindingSnapshot
  /** The interpreter did not answer. */
  failure?: string
}

async function needOf({ namespace, name, clusters = [] }: BindingSnapshot, input: NeedInput): Promise<Need> {
  const { binding, template, templates, interpreter, bindingOf } = input
  const referrer = namespace === binding.metadata.namespace ? bindingOf(name) : undefined
  if (referrer === undefined || !takesDependencies(referrer as ResourceBinding)) return {}
  const dependent = templateWithin(templates, referrer)
  if (dependent === undefined || dependent.metadata.namespace !== namespace || !interpreter.has(dependent, 'InterpretDependency')) return {}
  try {
    const references = await interpreter.dependencies(dependent)
    if (!references.some((reference) => means(reference, template))) return {}
  } catch (error) {
    return { failure: messageOf(error) }
  }
  const own = new Set((referrer.spec.clusters ?? []).map((cluster) => cluster.name))
  return { needed: { namespace, name, clusters: clusters.filter((cluster) => own.has(cluster.name)) } }
}
