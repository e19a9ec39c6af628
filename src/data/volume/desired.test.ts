/** What a tenant's annotations make of the volume and the claim. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { claimOf, mountInfo, volumeOf } from './desired.ts'

const metadata = { namespace: 'tenant', name: 'demo', uid: 'u' }

function made(annotations: Record<string, string>, ofDataset: Record<string, string> = {}) {
  const dataset: Dataset = {
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'Dataset',
    metadata: { ...metadata, annotations: ofDataset },
    spec: {},
  }
  const runtime: KubeObject = { apiVersion: 'data.fluid.io/v1alpha1', kind: 'CacheRuntime', metadata: { ...metadata, annotations } }
  const source = { dataset, runtime, mount: mountInfo('cache', metadata) }
  return { volume: volumeOf(source), claim: claimOf(source) }
}

const wished = (labels: unknown, annotations: unknown = {}) =>
  made({ 'data.fluid.io/metadataList': JSON.stringify([{ selector: { kind: 'PersistentVolume' }, labels, annotations }]) }).volume.metadata

const OWN = { labels: { 'fluid.io/s-tenant-demo': 'true', 'fluid.io/dataset-id': 'tenant-demo' }, annotations: { CreatedBy: 'fluid' } }

describe('metadata that a runtime wishes for its volume', () => {
  it('is there beside ours', () => {
    const { labels, annotations } = wished({ 'example.com/team': 'a' }, { note: 'any text\u0007' })
    assert.deepEqual(labels, { ...OWN.labels, 'example.com/team': 'a' })
    assert.deepEqual(annotations, { ...OWN.annotations, note: 'any text\u0007' })
  })

  const attempts: [string, unknown, unknown][] = [
    ['who provisioned it', {}, { 'pv.kubernetes.io/provisioned-by': 'sluice.dev/local' }],
    ['who bound it', {}, { 'pv.kubernetes.io/bound-by-controller': 'yes' }],
    ['where it is', { 'topology.kubernetes.io/zone': 'a', 'kubernetes.io/hostname': 'n' }, {}],
    ['what this control plane says', { 'sluice.dev/x': 'y' }, { 'sluice.dev/simulated-because': 'x', 'x.sluice.dev/a': 'b' }],
    ['whose it is', { 'fluid.io/dataset-id': 'other' }, { CreatedBy: 'me' }],
    ['what no server takes', { 'a b': 'c', a: 'b c', 'a/b/c': 'd', ['x'.repeat(64)]: 'y', b: 'x'.repeat(64) }, { 'a b': 'c' }],
    ['what is no text', { a: 1, b: null, c: {} }, [1, 2]],
  ]
  for (const [what, labels, annotations] of attempts)
    it(`does not say ${what}`, () => {
      const found = wished(labels, annotations)
      assert.deepEqual({ labels: found.labels, annotations: found.annotations }, OWN)
    })

  for (const list of [
    '',
    'x',
    '{}',
    'null',
    '[null,1,"x",[]]',
    '{"__proto__":[]}',
    '[{"selector":{"kind":"PersistentVolume"},"labels":{"__proto__":"x"}}]',
  ])
    it(`changes nothing when it is ${JSON.stringify(list)}`, () => {
      const { labels, annotations } = made({ 'data.fluid.io/metadataList': list }).volume.metadata
      assert.deepEqual({ labels: { ...labels }, annotations: { ...annotations } }, OWN)
    })
})

describe('the size of a claim', () => {
  const sizeFor = (text: string) => made({}, { 'pvc.fluid.io/resources.requests.storage': text }).claim.spec?.resources?.requests?.storage
  it('is what the dataset says', () => assert.equal(sizeFor('10Gi'), '10Gi'))
  for (const text of ['', 'lots', '0', '-5Gi', 'NaN', '1e99999', '10 Gi', '\u0000'])
    it(`is the usual one for ${JSON.stringify(text)}`, () => assert.equal(sizeFor(text), '100Pi'))
})
