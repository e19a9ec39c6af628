import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import { fieldAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { nativeLayer, pruneForMember } from './index.ts'
import { anObject, ruleOf } from './testing.ts'

const retainLabel = { labels: { 'resourcetemplate.karmada.io/retain-replicas': 'true' } }
const token = { type: 'kubernetes.io/service-account-token' }

describe('what a member keeps', () => {
  const cases: [string, string, object, object, object][] = [
    ['Deployment', 'not its replicas', { spec: { replicas: 2 } }, { spec: { replicas: 5 } }, { spec: { replicas: 2 } }],
    [
      'Pod',
      'node, account, volumes and mounts of containers it has, too',
      {
        spec: {
          containers: [
            { name: 'a', image: 'new' },
            { name: 'b', volumeMounts: [{ name: 'mine' }] },
          ],
          initContainers: [{ name: 'i' }],
          volumes: [],
        },
      },
      {
        spec: {
          nodeName: 'n1',
          serviceAccountName: 'default',
          volumes: [{ name: 'token' }],
          containers: [{ name: 'a', image: 'old', volumeMounts: [{ name: 'token' }] }],
          initContainers: [{ name: 'i', volumeMounts: [{ name: 'token' }] }],
        },
      },
      {
        spec: {
          nodeName: 'n1',
          serviceAccountName: 'default',
          volumes: [{ name: 'token' }],
          containers: [
            { name: 'a', image: 'new', volumeMounts: [{ name: 'token' }] },
            { name: 'b', volumeMounts: [{ name: 'mine' }] },
          ],
          initContainers: [{ name: 'i', volumeMounts: [{ name: 'token' }] }],
        },
      },
    ],
    [
      'Pod',
      'and not what it does not have',
      { spec: { nodeName: 'hub', volumes: [{ name: 'v' }], containers: [{ name: 'a', volumeMounts: [{ name: 'v' }] }] } },
      { spec: { containers: [{ name: 'a' }] } },
      { spec: { containers: [{ name: 'a' }] } },
    ],
    [
      'Pod',
      'tolerations that were added, with seconds as the template has them',
      { spec: { tolerations: [{ key: 'new' }, { key: 'a', tolerationSeconds: 5 }], containers: [] } },
      { spec: { tolerations: [{ key: 'added' }, { key: 'a', tolerationSeconds: 300 }], containers: [] } },
      { spec: { tolerations: [{ key: 'added' }, { key: 'a', tolerationSeconds: 5 }, { key: 'new' }], containers: [] } },
    ],
    [
      'Service',
      'what was allocated',
      { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
      { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.7', healthCheckNodePort: 31000, ports: [] } },
      { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.7', healthCheckNodePort: 31000, ports: [{ port: 80 }] } },
    ],
    ['Service', 'not what is empty', { spec: {} }, { spec: { clusterIP: '', healthCheckNodePort: 0 } }, { spec: {} }],
    [
      'ServiceAccount',
      'secrets of other names',
      { secrets: [{ name: 'a', extra: 1 }] },
      { secrets: [{ name: 'a' }, { name: 'x-token-1' }], imagePullSecrets: [{ name: 'pull' }] },
      { secrets: [{ name: 'a', extra: 1 }, { name: 'x-token-1' }], imagePullSecrets: [{ name: 'pull' }] },
    ],
    ['ServiceAccount', 'nothing where there is nothing', {}, { secrets: [] }, {}],
    [
      'PersistentVolumeClaim',
      'its volume',
      { spec: { resources: {} } },
      { spec: { volumeName: 'pv-1', resources: { x: 1 } } },
      { spec: { resources: {}, volumeName: 'pv-1' } },
    ],
    [
      'PersistentVolumeClaim',
      'the class it was given',
      { spec: { resources: {} } },
      { spec: { storageClassName: 'local' } },
      { spec: { resources: {}, storageClassName: 'local' } },
    ],
    [
      'PersistentVolumeClaim',
      'no class where the template names one',
      { spec: { storageClassName: 'mine' } },
      { spec: { storageClassName: 'local' } },
      { spec: { storageClassName: 'mine' } },
    ],
    ['PersistentVolumeClaim', 'no empty volume', { spec: {} }, { spec: { volumeName: '' } }, { spec: {} }],
    [
      'PersistentVolume',
      'its claim',
      { spec: { capacity: {} } },
      { spec: { claimRef: { name: 'c' } } },
      { spec: { capacity: {}, claimRef: { name: 'c' } } },
    ],
    ['PersistentVolume', 'nothing unclaimed', { spec: {} }, { spec: {} }, { spec: {} }],
    [
      'Job',
      'selector and labels, whole',
      { spec: { parallelism: 2, selector: { matchLabels: { old: '1' } }, template: { metadata: { labels: { mine: '1' } }, spec: {} } } },
      { spec: { selector: { matchLabels: { uid: 'u' } }, template: { metadata: { labels: { uid: 'u' } } } } },
      { spec: { parallelism: 2, selector: { matchLabels: { uid: 'u' } }, template: { metadata: { labels: { uid: 'u' } }, spec: {} } } },
    ],
    [
      'Secret',
      'the token of an account',
      { ...token, data: null },
      { ...token, data: { token: 'eA==' } },
      { ...token, data: { token: 'eA==' } },
    ],
    [
      'Secret',
      'no other data',
      { type: 'Opaque', data: { a: 'eA==' } },
      { type: 'Opaque', data: { b: 'eA==' } },
      { type: 'Opaque', data: { a: 'eA==' } },
    ],
  ]
  for (const [kind, name, desired, observed, wanted] of cases) {
    it(`${kind}: ${name}`, () => {
      assert.deepEqual(ruleOf(kind, 'retain')(anObject(kind, desired), anObject(kind, observed)), anObject(kind, wanted))
    })
  }

  it('Deployment: its replicas, when a label gives them away', () => {
    const retain = ruleOf('Deployment', 'retain')
    const desired = anObject('Deployment', { spec: { replicas: 2 } }, retainLabel)
    assert.deepEqual(retain(desired, anObject('Deployment', { spec: { replicas: 5 } })).spec, { replicas: 5 })
    assert.equal(retain(desired, anObject('Deployment', { spec: {} })), desired)
  })
})

/** Where the member's value wins, by kind; everywhere else the template's does. */
const ALLOCATED: Readonly<Record<string, string[][]>> = {
  Service: [
    ['spec', 'clusterIP'],
    ['spec', 'healthCheckNodePort'],
  ],
  PersistentVolumeClaim: [['spec', 'volumeName']],
  PersistentVolume: [['spec', 'claimRef']],
  Job: [
    ['spec', 'selector', 'matchLabels'],
    ['spec', 'template', 'metadata', 'labels'],
  ],
  Pod: [
    ['spec', 'nodeName'],
    ['spec', 'serviceAccountName'],
    ['spec', 'volumes'],
  ],
}

describe('pruned, sent, retained', () => {
  const layer = nativeLayer()
  const kinds = fc.constantFrom(
    'Deployment',
    'Job',
    'Pod',
    'Service',
    'ServiceAccount',
    'Secret',
    'PersistentVolume',
    'PersistentVolumeClaim',
  )
  const text = fc.constantFrom('', 'a', 'b')
  const labels = fc.dictionary(text, text, { noNullPrototype: true })
  const spec = fc.record(
    {
      replicas: fc.nat(5),
      clusterIP: fc.constantFrom('', 'None', '10.0.0.1', '10.0.0.2'),
      healthCheckNodePort: fc.nat(2),
      volumeName: text,
      claimRef: fc.record({ name: text }, { noNullPrototype: true }),
      nodeName: text,
      serviceAccountName: text,
      volumes: fc.array(fc.record({ name: text }, { noNullPrototype: true }), { maxLength: 2 }),
      selector: fc.record({ matchLabels: labels }, { noNullPrototype: true }),
      template: labels.map((given) => ({ metadata: { labels: given }, spec: {} })),
      other: text,
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  const pair = fc.record({ kind: kinds, template: spec, member: spec })
  const retained = (kind: string, template: object, member: object): { result: KubeObject; observed: KubeObject; desired: KubeObject } => {
    const desired = deepFreeze(pruneForMember(anObject(kind, { spec: template, status: { hub: true } }, { uid: 'hub' })))
    const observed = anObject(kind, { spec: member, status: { phase: 'x' } }, { uid: 'member' })
    return { desired, observed, result: layer.rulesOf(desired.apiVersion, kind)?.retain?.(desired, observed) ?? desired }
  }

  it('what the member allocated survives, and everything else is as the template says', () => {
    fc.assert(
      fc.property(pair, ({ kind, template, member }) => {
        const { desired, observed, result } = retained(kind, template, member)
        for (const path of ALLOCATED[kind] ?? []) {
          const value = fieldAt(observed, ...path)
          if (value !== undefined && value !== '' && value !== 0) assert.deepEqual(fieldAt(result, ...path), value)
        }
        const owned = new Set((ALLOCATED[kind] ?? []).map(([, field]) => field))
        const rest = (object: KubeObject) => Object.entries(object.spec ?? {}).filter(([field]) => !owned.has(field))
        assert.deepEqual(Object.fromEntries(rest(result)), Object.fromEntries(rest(desired)))
        assert.deepEqual([result.metadata, result.status], [desired.metadata, undefined])
      }),
    )
  })

  it('a second round changes nothing', () => {
    fc.assert(
      fc.property(pair, ({ kind, template, member }) => {
        const { desired, result } = retained(kind, template, member)
        const stored = deepFreeze({ ...result, metadata: { ...result.metadata, uid: 'member' } })
        const again = layer.rulesOf(desired.apiVersion, kind)?.retain?.(desired, stored)
        assert.deepEqual(again, result)
      }),
    )
  })

  it('what the template drops goes', () => {
    fc.assert(
      fc.property(pair, ({ kind, template, member }) => {
        const { other: _, ...dropped } = template
        const { result } = retained(kind, dropped, { ...member, other: 'kept by nobody' })
        assert.equal(fieldAt(result, 'spec', 'other'), undefined)
      }),
    )
  })
})
