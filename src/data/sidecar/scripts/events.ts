/** What is said about the scripts of sidecars. */
import type { KubeObject } from '../../../kube/meta.ts'
import type { KeyedEvent } from '../../../runtime/controller.ts'

export const notOurs = (of: KubeObject, configMap: string): KeyedEvent => ({
  key: `not ours: ${configMap}`,
  of,
  type: 'Warning',
  reason: 'ConfigMapNotOurs',
  message: `a ConfigMap ${configMap} exists that was not made for sidecars, so pods with a sidecar may not start: delete it`,
})
