/** What joins a member by hand: its credentials and the Cluster that names them. */
import type { KubeObject } from '../../src/kube/meta.ts'

export interface MemberAccess {
  name: string
  server: string
  token: string
  /** PEM; empty where no certificate is checked. */
  authority: string
}

const REGIONS = ['east', 'west', 'north'] as const

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** The i-th member, in its region. */
export function joinedCluster(i: number, { name, server, token, authority }: MemberAccess): KubeObject[] {
  const region = REGIONS[i % REGIONS.length] as string
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'karmada-cluster', name },
    data: { token: base64(token), caBundle: base64(authority) },
  }
  const cluster = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels: { location: 'somewhere' } },
    spec: {
      syncMode: 'Push',
      apiEndpoint: server,
      secretRef: { namespace: 'karmada-cluster', name },
      provider: 'somebody',
      region,
      zones: [`${region}-a`],
    },
  }
  return [secret, cluster]
}
