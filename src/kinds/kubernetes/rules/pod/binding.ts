/** Binding a pod to a node: the scheduler's one write. */
import { setOwn } from '../../../../base/json.ts'
import { type FieldError, required } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { ensureFields } from './defaults.ts'
import { unsupported } from './errors.ts'
import { entries, type Fields, fieldsOf, isSet, items, raw, text } from './read.ts'

export function bindingErrors(binding: KubeObject): FieldError[] {
  const target = fieldsOf(raw(binding, 'target'))
  const kind = text(target, 'kind')
  return [
    ...(kind === '' || kind === 'Node' ? [] : [unsupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(text(target, 'name') === '' ? [required('target.name')] : []),
  ]
}

/** Puts the pod on the node, or says why it cannot be (the text of a conflict on `pods/binding`). */
export function bindPod(pod: KubeObject, binding: KubeObject, now: string): string | undefined {
  const metadata = ensureFields(pod, 'metadata')
  const spec = ensureFields(pod, 'spec')
  const name = text(metadata, 'name')
  if (isSet(metadata, 'deletionTimestamp')) return `pod ${name} is being deleted, cannot be assigned to a host`
  if (text(spec, 'nodeName') !== '') return `pod ${name} is already assigned to node ${JSON.stringify(text(spec, 'nodeName'))}`
  if (items(spec, 'schedulingGates').length > 0) return `pod ${name} has non-empty .spec.schedulingGates`
  spec.nodeName = text(fieldsOf(raw(binding, 'target')), 'name')
  for (const key of ['annotations', 'labels']) {
    const added = entries(fieldsOf(raw(binding, 'metadata')), key)
    if (added.length > 0) for (const [label, value] of added) setOwn(ensureFields(metadata, key), label, value)
  }
  const status = ensureFields(pod, 'status')
  delete status.nominatedNodeName
  setScheduled(status, now)
  return undefined
}

function setScheduled(status: Fields, now: string): void {
  const conditions = items(status, 'conditions')
  const known = conditions.findIndex((condition) => text(condition, 'type') === 'PodScheduled')
  const before = conditions[known]
  const since = before !== undefined && text(before, 'status') === 'True' ? (raw(before, 'lastTransitionTime') ?? now) : now
  const condition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: since }
  if (known < 0) conditions.push(condition)
  else conditions[known] = condition
  status.conditions = conditions
}
