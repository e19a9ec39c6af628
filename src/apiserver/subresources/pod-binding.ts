/** POST pods/binding: the scheduler's decision. The pod must be unassigned; uid and resourceVersion of the binding are preconditions. */

import { labelByNode } from '../../kinds/kubernetes/admission/pod-topology-labels.ts'
import { bindPodToNode, checkBinding } from '../../kinds/kubernetes/rules/core/binding.ts'
import { header } from '../../kube/http.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { conflictError, notFoundError, staleConflictError } from '../../kube/status.ts'
import type { Served } from '../catalog.ts'
import { mutableCopy } from '../objects.ts'
import { parseWriteOptions } from '../options.ts'
import { nowOf, type Scope } from '../scope.ts'

const PODS = { group: '', resource: 'pods' }

/** Pods are bound through `pods/NAME/binding` and through the legacy `bindings`. */
function podsOf(scope: Scope): Served {
  const served = scope.server.catalog.findStored('', 'pods')
  if (served === undefined) throw notFoundError(PODS, scope.info.name)
  return served
}

export async function bindPod(scope: Scope, name: string, binding: KubeObject): Promise<void> {
  checkBinding(binding)
  const { objects } = scope.server
  const served = podsOf(scope)
  const { dryRun } = parseWriteOptions('CreateOptions', scope.info.query, { userAgent: header(scope.request, 'user-agent') ?? '' })
  await objects.exclusively(served, scope.info.namespace, name, async () => {
    const stored = objects.get(served, scope.info.namespace, name)
    if (stored === undefined) throw notFoundError(PODS, name)
    checkPreconditions(stored.object, binding)
    const pod = mutableCopy(stored.object)
    bindPodToNode(pod, binding, nowOf(scope))
    labelByNode(pod, nodeOf(scope, pod))
    if (dryRun) return
    const result = await objects.put(served, pod, stored.version)
    if (!result.ok) throw staleConflictError(PODS, name)
  })
}

function nodeOf(scope: Scope, pod: KubeObject): KubeObject | undefined {
  const nodes = scope.server.catalog.findStored('', 'nodes')
  const { nodeName } = pod.spec as { nodeName: string }
  return nodes === undefined ? undefined : scope.server.objects.get(nodes, '', nodeName)?.object
}

function checkPreconditions(pod: KubeObject, binding: KubeObject): void {
  const { uid = '', resourceVersion = '' } = binding.metadata
  const name = pod.metadata.name ?? ''
  if (uid !== '' && uid !== pod.metadata.uid)
    throw conflictError(PODS, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`)
  if (resourceVersion !== '' && resourceVersion !== pod.metadata.resourceVersion)
    throw conflictError(
      PODS,
      name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`,
    )
}
