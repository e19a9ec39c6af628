/** Manifests as people write them, small and valid; what is given later wins. */
import type { KubeObject } from '../../src/kube/meta.ts'

type Fields = Record<string, unknown>

export interface DeploymentOptions {
  replicas?: number
  image?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  /** Laid over the spec of its pods. */
  pod?: Fields
}

export function aDeployment(
  name: string,
  { replicas = 2, image = 'nginx:1.19.0', pod = {}, ...metadata }: DeploymentOptions = {},
): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...metadata },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image }], ...pod } },
    },
  }
}

/** What a policy selects: by name, or by what is given. */
export const deploymentsNamed = (name: string): Fields => ({ apiVersion: 'apps/v1', kind: 'Deployment', name })

export const selectorOf = ({ apiVersion, kind, metadata: { name } }: KubeObject): Fields => ({ apiVersion, kind, name })

/** A placement on clusters by name. */
export const on = (...places: readonly { name: string }[]): Fields => ({
  clusterAffinity: { clusterNames: places.map(({ name }) => name) },
})

export const aPropagationPolicy = (
  name: string,
  resourceSelectors: readonly unknown[],
  placement: Fields,
  more: Fields = {},
): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name },
  spec: { resourceSelectors, placement, ...more },
})

export const aClusterPropagationPolicy = (
  name: string,
  resourceSelectors: readonly unknown[],
  placement: Fields,
  more: Fields = {},
): KubeObject => ({ ...aPropagationPolicy(name, resourceSelectors, placement, more), kind: 'ClusterPropagationPolicy' })
