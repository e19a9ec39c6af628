import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { pruneForMember } from './prune.ts'

const object = (kind: string, fields: object, metadata: object = {}): KubeObject =>
  deepFreeze({ apiVersion: 'v1', kind, metadata: { name: 'x', ...metadata }, ...fields })

/** What is left besides apiVersion, kind and name. */
function left(given: KubeObject): object {
  const { apiVersion, kind, metadata, ...fields } = pruneForMember(given)
  assert.deepEqual([apiVersion, kind, metadata.name], [given.apiVersion, given.kind, 'x'])
  const { name: _, ...rest } = metadata
  return Object.keys(rest).length === 0 ? fields : { ...fields, metadata: rest }
}

describe('what reaches a member', () => {
  it('is nothing that the server of the hub wrote', () => {
    const written = {
      creationTimestamp: '2024-01-01T00:00:00Z',
      deletionTimestamp: '2024-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 30,
      generation: 3,
      managedFields: [{ manager: 'kubectl' }],
      resourceVersion: '7',
      selfLink: '/x',
      uid: 'u',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'o' }],
      finalizers: ['example.com/hold'],
    }
    const kept = { namespace: 'shop', labels: { a: 'b' }, annotations: { c: 'd' } }
    assert.deepEqual(left(object('ConfigMap', { data: { k: 'v' }, status: { x: 1 } }, { ...written, ...kept })), {
      data: { k: 'v' },
      metadata: kept,
    })
  })

  const generated = { 'controller-uid': 'u', 'batch.kubernetes.io/controller-uid': 'u' }
  const named = { 'job-name': 'x', 'batch.kubernetes.io/job-name': 'x' }
  const job = (spec: object) => ({
    selector: { matchLabels: { ...generated, mine: 'yes' } },
    template: { metadata: { labels: { ...generated, ...named, mine: 'yes' } } },
    ...spec,
  })
  const cases: [string, KubeObject, object][] = [
    [
      'Deployment: no revisions',
      object(
        'Deployment',
        {},
        {
          annotations: { 'deployment.kubernetes.io/revision': '1', 'deployment.kubernetes.io/revision-history': '0', mine: 'yes' },
        },
      ),
      { metadata: { annotations: { mine: 'yes' } } },
    ],
    [
      'Job: no generated selector, no time to live',
      object('Job', { spec: job({ ttlSecondsAfterFinished: 10, parallelism: 2 }) }),
      { spec: { selector: { matchLabels: { mine: 'yes' } }, template: { metadata: { labels: { mine: 'yes' } } }, parallelism: 2 } },
    ],
    [
      'Job: a selector by hand stays',
      object('Job', { spec: job({ manualSelector: true, ttlSecondsAfterFinished: 10 }) }),
      { spec: job({ manualSelector: true }) },
    ],
    ['Job: without selector and labels', object('Job', { spec: { template: { spec: {} } } }), { spec: { template: { spec: {} } } }],
    [
      'Secret: no token',
      object(
        'Secret',
        { type: 'kubernetes.io/service-account-token', data: { token: 'eA==' } },
        {
          annotations: { 'kubernetes.io/service-account.uid': 'u', 'kubernetes.io/service-account.name': 'robot' },
        },
      ),
      {
        type: 'kubernetes.io/service-account-token',
        data: null,
        metadata: { annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      },
    ],
    ['Secret: any other stays', object('Secret', { type: 'Opaque', data: { k: 'eA==' } }), { type: 'Opaque', data: { k: 'eA==' } }],
    [
      'ServiceAccount: no generated tokens, also beside each other',
      object('ServiceAccount', { secrets: [{ name: 'x-token-a' }, { name: 'x-token-b' }, { name: 'mine' }] }),
      { secrets: [{ name: 'mine' }] },
    ],
    [
      'Service: no addresses',
      object('Service', { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [] } }),
      { spec: { ports: [] } },
    ],
    [
      'Service: without an address of its own it stays as it is',
      object('Service', { spec: { clusterIPs: ['10.0.0.1'] } }),
      { spec: { clusterIPs: ['10.0.0.1'] } },
    ],
    [
      'Service: headless stays headless',
      object('Service', { spec: { clusterIP: 'None', clusterIPs: ['None'] } }),
      { spec: { clusterIP: 'None', clusterIPs: ['None'] } },
    ],
    [
      'PersistentVolumeClaim: no node of the hub',
      object('PersistentVolumeClaim', { spec: {} }, { annotations: { 'volume.kubernetes.io/selected-node': 'n', mine: 'yes' } }),
      { spec: {}, metadata: { annotations: { mine: 'yes' } } },
    ],
  ]
  for (const [name, given, wanted] of cases) it(name, () => assert.deepEqual(left(given), wanted))

  it('is the same after pruning again, whatever the object holds', () => {
    const kinds = fc.constantFrom('Deployment', 'Job', 'Secret', 'ServiceAccount', 'Service', 'PersistentVolumeClaim', 'Any')
    const key = fc.constantFrom('spec', 'status', 'secrets', 'data', 'type')
    const metadata = fc.record({ uid: fc.string(), annotations: fc.dictionary(fc.string(), fc.string()) }, { requiredKeys: [] })
    fc.assert(
      fc.property(kinds, fc.dictionary(key, fc.jsonValue()), metadata, (kind, fields, given) => {
        const once = pruneForMember(object(kind, fields, given))
        assert.deepEqual(pruneForMember(deepFreeze(once)), once)
        assert.ok(!('status' in once) && !('uid' in once.metadata))
      }),
    )
  })
})
