import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { anObject, ruleOf } from './testing.ts'

const podSpec = {
  serviceAccountName: 'robot',
  volumes: [{ configMap: { name: 'settings' } }, { persistentVolumeClaim: { claimName: 'data' } }],
}
const template = { spec: podSpec }
const reference = (kind: string, name: string) => ({ apiVersion: 'v1', kind, namespace: 'shop', name })
const ALL = [reference('ConfigMap', 'settings'), reference('ServiceAccount', 'robot'), reference('PersistentVolumeClaim', 'data')]

describe('what an object depends on', () => {
  const specs: [string, object][] = [
    ['Deployment', { template }],
    ['ReplicaSet', { template }],
    ['StatefulSet', { template }],
    ['DaemonSet', { template }],
    ['Job', { template }],
    ['CronJob', { jobTemplate: { spec: { template } } }],
    ['Pod', podSpec],
  ]
  for (const [kind, spec] of specs) {
    it(`${kind}: what its pods refer to`, () => assert.deepEqual(ruleOf(kind, 'dependencies')(anObject(kind, { spec })), ALL))
    it(`${kind}: nothing without a template`, () => assert.deepEqual(ruleOf(kind, 'dependencies')(anObject(kind, {})), []))
  }

  it('StatefulSet: not the claims it makes itself', () => {
    const spec = { template, volumeClaimTemplates: [{ metadata: { name: 'data' } }] }
    assert.deepEqual(ruleOf('StatefulSet', 'dependencies')(anObject('StatefulSet', { spec })), ALL.slice(0, 2))
  })

  it('Ingress: certificates, each once; TLS without one depends on nothing', () => {
    const tls = [{ secretName: 'b' }, { hosts: ['x'] }, { secretName: 'a' }, { secretName: 'b' }]
    assert.deepEqual(ruleOf('Ingress', 'dependencies')(anObject('Ingress', { spec: { tls } })), [
      reference('Secret', 'a'),
      reference('Secret', 'b'),
    ])
  })

  it('ServiceImport: the derived Service and its EndpointSlices', () => {
    assert.deepEqual(ruleOf('ServiceImport', 'dependencies')(anObject('ServiceImport', {})), [
      reference('Service', 'derived-x'),
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        namespace: 'shop',
        labelSelector: { matchLabels: { 'kubernetes.io/service-name': 'derived-x' } },
      },
    ])
  })
})
