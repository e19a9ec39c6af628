/** Sources: data that moves between clusters, disappears, is described twice, or is where no cluster is. */
import type { Random } from '../../../base/random.ts'
import type { DataSourceSpec } from '../../../kinds/volcano/index.ts'
import { DATA_SOURCES } from '../../../kinds/volcano/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Generator } from '../../../runtime/seams/seeded.ts'
import { API_VERSION, MADE, oneOf, SALES, SYSTEM, TYPE } from './drawing.ts'

const LOCALITIES: readonly DataSourceSpec['locality'][] = [
  { clusterNames: ['member1'] },
  { clusterNames: ['member2'] },
  { clusterNames: ['member1', 'member2'] },
  { clusterNames: ['member2', 'member3', 'elsewhere'] },
  { clusterNames: ['elsewhere'] },
  { clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } } } },
  { clusterAffinity: { exclude: ['member1'] } },
  { clusterAffinity: { labelSelector: { matchLabels: { tier: 'plain' } } }, clusterNames: ['member1', 'member3'] },
]

const drawSource = (random: Random): DataSourceSpec => ({
  system: SYSTEM,
  type: TYPE,
  name: random.next() < 0.85 ? SALES : MADE,
  locality: oneOf(random, LOCALITIES),
  attributes: random.next() < 0.8 ? {} : { grain: 'day' },
  reclaimPolicy: random.next() < 0.75 ? 'Retain' : 'Delete',
})

export const sources: Generator = {
  name: 'data source',
  resource: DATA_SOURCES,
  names: ['sales-1', 'sales-2'],
  draw: drawSource,
  object: (where, desired): KubeObject => ({
    apiVersion: API_VERSION,
    kind: 'DataSource',
    metadata: { name: where },
    spec: desired as Record<string, unknown>,
  }),
}
