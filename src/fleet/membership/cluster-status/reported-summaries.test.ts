import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Cluster } from '../../../kinds/karmada/index.ts'
import { createReportedSummaries } from './reported-summaries.ts'

describe('what a cluster says it has', () => {
  const nodeSummary = { totalNum: 1, readyNum: 1 }
  const counted = (pods: string) => ({ allocatable: { pods: '10' }, allocated: { pods } })
  const saying = (pods: string): Cluster => ({
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'm1' },
    spec: { syncMode: 'Push' },
    status: { resourceSummary: counted(pods) },
  })
  const table: [string, Cluster, boolean][] = [
    ['is current when nothing else is known', saying('3'), true],
    ['is not while more is known', saying('2'), false],
    ['is not before it says anything', { ...saying('3'), status: undefined }, false],
    ['is current where nobody knows better', { ...saying('2'), metadata: { name: 'pull' } }, true],
  ]
  for (const [name, cluster, expected] of table)
    it(name, () => {
      const summaries = createReportedSummaries()
      summaries.knownBy((member) => (member === 'm1' ? { nodeSummary, resourceSummary: counted('3') } : undefined))
      assert.equal(summaries.isCurrent(cluster), expected)
    })

  it('is believed while nobody looks at members', () => assert.equal(createReportedSummaries().isCurrent(saying('2')), true))
})
