/** multicluster.x-k8s.io/v1alpha1 ServiceImport: depends on the Service derived from it, and on the endpoints of that Service. */
import type { KindRules } from '../interpreter.ts'

export const serviceImportRules: KindRules = {
  dependencies: ({ metadata }) => {
    const name = `derived-${metadata.name ?? ''}`
    const namespace = metadata.namespace === undefined ? {} : { namespace: metadata.namespace }
    const labelSelector = { matchLabels: { 'kubernetes.io/service-name': name } }
    return [
      { apiVersion: 'v1', kind: 'Service', ...namespace, name },
      { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...namespace, labelSelector },
    ]
  },
}
