/** Binding a pod to a node: what the server answers when it cannot be done. */
import { aggregateMessage, fieldErrorMessage } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { conflictError, failure } from '../../../../kube/status.ts'
import { bindingErrors, bindPod } from '../workloads/index.ts'

/** Refuses a binding that makes no sense; the real server answers this without a reason. */
export function checkBinding(binding: KubeObject): void {
  const errors = bindingErrors(binding)
  if (errors.length > 0) throw failure(500, '', aggregateMessage(errors.map(fieldErrorMessage)))
}

/** Puts a private copy of the pod on the node, or throws the conflict. */
export function bindPodToNode(pod: KubeObject, binding: KubeObject, now: string): void {
  const problem = bindPod(pod, binding, now)
  if (problem !== undefined) throw conflictError({ group: '', resource: 'pods/binding' }, pod.metadata.name ?? '', problem)
}
