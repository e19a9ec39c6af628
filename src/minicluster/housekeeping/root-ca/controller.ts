/**
 * Keeps the ConfigMap `kube-root-ca.crt` with this API server's CA certificate in every namespace, where pods and people
 * look for it. Sole writer of: that ConfigMap. Runs again when a namespace or the ConfigMap changes.
 */
import { CONFIG_MAPS, NAMESPACES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan, via } from '../../../runtime/controller.ts'

const NAME = 'kube-root-ca.crt'
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

export interface Observed {
  namespace: KubeObject | undefined
  configMap: KubeObject | undefined
  authority: string
}

/** `authority` is read each time, because certificates rotate. */
export function rootCa(authority: () => string): Controller {
  return defineController<Observed>({
    name: 'minicluster.housekeeping.root-ca',
    for: NAMESPACES,
    watches: [via(CONFIG_MAPS, (map) => (map.metadata.name === NAME ? [{ namespace: '', name: map.metadata.namespace ?? '' }] : []))],
    writes: [{ resource: CONFIG_MAPS, verbs: ['create', 'update'] }],
    observe: (ref, namespace, read) => ({ namespace, configMap: read.get(CONFIG_MAPS, ref.name, NAME), authority: authority() }),
    plan,
  })
}

export function plan({ namespace, configMap, authority }: Observed): Plan {
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const data = { 'ca.crt': authority }
  if (configMap === undefined) {
    const metadata = { name: NAME, namespace: namespace.metadata.name, annotations: { 'kubernetes.io/description': DESCRIPTION } }
    return { actions: [{ do: 'create', resource: CONFIG_MAPS, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } }] }
  }
  const held = configMap.data as Record<string, string> | undefined
  if (held !== undefined && Object.keys(held).length === 1 && held['ca.crt'] === authority) return NOTHING_TO_DO
  return { actions: [{ do: 'update', resource: CONFIG_MAPS, object: { ...configMap, data } }] }
}
