/** What is said about who may read a dataset. */
import type { KubeObject } from '../../kube/meta.ts'
import type { KeyedEvent } from '../../runtime/controller.ts'

export const notOurs = (of: KubeObject, configMap: string): KeyedEvent => ({
  key: `not ours: ${configMap}`,
  of,
  type: 'Warning',
  reason: 'ConfigMapNotOurs',
  message: `a ConfigMap ${configMap} exists that was not made for this dataset, so its references cannot read through sidecars: delete it`,
})

export const tooMany = (of: KubeObject, left: number): KeyedEvent => ({
  key: 'too many',
  of,
  type: 'Warning',
  reason: 'TooManyReferences',
  message: `${left} references do not fit into what the master of the cache reads, so they cannot read through sidecars: delete references that nobody needs`,
})
