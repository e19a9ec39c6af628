import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DataSource } from '../../kinds/volcano/index.ts'
import type { Clusters } from './places.ts'
import { explainSource } from './source.ts'
import { clusterOf, sourceOf } from './testing.ts'

const clusters = [clusterOf('east'), clusterOf('west', false)]
const texts = (source: DataSource): string[] =>
  explainSource(source, clusters).links.flatMap(({ what, state, says, more = [] }) => [
    `${state} ${what}: ${says}`,
    ...more.map((line) => `  ${line}`),
  ])
const withStatus = (source: DataSource, status: DataSource['status']): DataSource => ({ ...source, status })
const refs = (...names: string[]) => names.map((name) => ({ namespace: 'shop', name }))

describe('what is known about a source', () => {
  it('shows one that a person wrote', () => {
    const source = withStatus(sourceOf('ds-1', ['east', 'north', 'west']), { claimRefs: refs('a', 'b'), boundClaims: 2 })
    assert.deepEqual(texts(source), [
      'ok source: hive/table/sales',
      'ok made: no workload has made it',
      'ok clusters: the data is in east, north (not joined), west (not ready)',
      'ok claims: 2 claims are bound: shop/a, shop/b',
      'ok deletion: deleting it unbinds its 2 claims first: what runs stays, what is new waits for another source',
      '  reclaim policy Retain: it stays when its last claim is gone',
    ])
    const { trouble, says } = explainSource(source, clusters)
    assert.equal(trouble, undefined)
    assert.equal(says, 'its data is in east, north (not joined), west (not ready); 2 claims are bound')
  })

  it('shows one that a workload made', () => {
    const annotations = {
      'sluice.dev/provisioned-by': 'output/jobs.batch/daily',
      'sluice.dev/producer-namespace': 'data',
      'sluice.dev/version': 'v7',
      'sluice.dev/run': 'uid-1@2026-01-01T00:00:00Z',
    }
    const source = sourceOf('ds-1', ['east'], { annotations })
    source.spec.reclaimPolicy = 'Delete'
    source.spec.attributes = { region: 'eu' }
    assert.deepEqual(texts(source), [
      'ok source: hive/table/sales, with region=eu',
      'ok made: by jobs.batch/daily of namespace data: version v7, at 2026-01-01T00:00:00Z',
      '  sluice why jobs.batch/daily -n data',
      'ok clusters: the data is in east',
      'ok claims: no claim is bound',
      'ok deletion: deleting it concerns nobody',
      '  reclaim policy Delete: this object is deleted with its last bound claim; the data itself is never touched',
      '  it is made again while jobs.batch/daily of namespace data says that it makes it',
    ])
  })

  it('lists some claims and counts all', () => {
    const many = withStatus(sourceOf('ds-1', ['east']), { claimRef: refs(...'abcdefghijkl'), boundClaims: 5000 })
    assert.ok(
      texts(many).includes(`ok claims: 5000 claims are bound: ${[...'abcdefghij'].map((name) => `shop/${name}`).join(', ')} and 4990 more`),
    )
  })

  const going = (finalizers: string[], boundClaims: number): DataSource =>
    withStatus(sourceOf('ds-1', ['east'], { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers }), { boundClaims })
  const table: [string, DataSource, Clusters, RegExp, RegExp][] = [
    ['no joined cluster', sourceOf('ds-1', ['north']), clusters, /^NoLocality/, /join one of its clusters .* kubectl edit datasource ds-1/],
    ['no ready cluster', sourceOf('ds-1', ['west']), clusters, /^DataClusterUnavailable/, /kubectl get clusters\): west/],
    [
      'the same, from its status',
      withStatus(sourceOf('ds-1', ['west']), {
        conditions: [
          { type: 'Ready', status: 'False', reason: 'DataClusterUnavailable', message: 'no cluster of DataSource ds-1 is ready: west' },
        ],
      } as DataSource['status']),
      undefined,
      /^DataClusterUnavailable/,
      /west/,
    ],
    [
      'it goes, and claims are bound',
      going(['datadependency.volcano.sh/datasource-finalizer'], 1),
      clusters,
      /claims are still bound/,
      /the gate runs/,
    ],
    ['it goes, and nobody uses it', going([], 0), clusters, /being deleted/, /gone in a moment/],
    ['somebody else keeps it', going(['a/b'], 0), clusters, /being deleted/, /a\/b/],
  ]
  for (const [name, source, among, says, fix] of table)
    it(`has one next step: ${name}`, () => {
      const { trouble } = explainSource(source, among)
      assert.match(trouble?.says ?? '', says)
      assert.match(trouble?.fix ?? '', fix)
    })

  it('does without the clusters where they may not be read', () => {
    const selected = sourceOf('ds-1', [])
    selected.spec.locality = { clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } } } }
    assert.equal(explainSource(sourceOf('ds-1', ['north', 'east']), undefined).says, 'its data is in east, north; no claim is bound')
    assert.equal(explainSource(selected, undefined).says, 'its data is in clusters that a selector chooses; no claim is bound')
  })
})
