/** Binding a pod to a node, the scheduler's one write: what it changes, and the error when it is impossible. */
import { setOwn } from '../../../../base/json.ts'
import { aggregateMessage, type FieldError, fieldErrorMessage, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { conflictError, failure } from '../../../../kube/status.ts'
import { ensureObject, object, objects, string, stringEntries } from '../fields.ts'
import { unsupported } from '../pod/errors.ts'

/** Refuses an invalid binding; the real server answers this without a reason. */
export function checkBinding(binding: KubeObject): void {
  const target = object(binding, 'target')
  const kind = string(target, 'kind')
  const errors: FieldError[] = []
  if (kind !== '' && kind !== 'Node') errors.push(unsupported('target.kind', kind, ['Node', '<empty>']))
  if (string(target, 'name') === '') errors.push(required('target.name'))
  if (errors.length > 0) throw failure(500, '', aggregateMessage(errors.map(fieldErrorMessage)))
}

/** Puts a private copy of the pod on the node, or throws the conflict. */
export function bindPodToNode(pod: KubeObject, binding: KubeObject, now: string): void {
  const problem = bindingProblem(pod)
  if (problem !== undefined) throw conflictError({ group: '', resource: 'pods/binding' }, pod.metadata.name ?? '', problem)
  ensureObject(pod, 'spec').nodeName = string(object(binding, 'target'), 'name')
  for (const key of ['annotations', 'labels'] as const) {
    const added = stringEntries(binding.metadata, key)
    if (added.length === 0) continue
    const entries = { ...pod.metadata[key] }
    for (const [name, value] of added) setOwn(entries, name, value)
    pod.metadata[key] = entries
  }
  const status = ensureObject(pod, 'status')
  delete status.nominatedNodeName
  const conditions = objects(status, 'conditions')
  const before = conditions.find((condition) => string(condition, 'type') === 'PodScheduled')
  const since = string(before, 'status') === 'True' ? (before?.lastTransitionTime ?? now) : now
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: since }
  status.conditions = before === undefined ? [...conditions, scheduled] : conditions.map((one) => (one === before ? scheduled : one))
}

function bindingProblem(pod: KubeObject): string | undefined {
  const name = pod.metadata.name ?? ''
  const spec = object(pod, 'spec')
  const node = string(spec, 'nodeName')
  if (pod.metadata.deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`
  if (node !== '') return `pod ${name} is already assigned to node ${JSON.stringify(node)}`
  return objects(spec, 'schedulingGates').length > 0 ? `pod ${name} has non-empty .spec.schedulingGates` : undefined
}
