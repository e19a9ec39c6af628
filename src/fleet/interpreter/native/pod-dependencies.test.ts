import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../../base/json.ts'
import { podDependencies } from './pod-dependencies.ts'

const names = (spec: object) => podDependencies({ spec }, 'shop').map(({ kind, name }) => `${kind}/${name}`)
const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] })

describe('what a pod depends on', () => {
  const cases: [string, object, string[]][] = [
    ['nothing', {}, []],
    ['a pull secret', { imagePullSecrets: [{ name: 'pull' }, {}] }, ['Secret/pull']],
    [
      'envFrom',
      { containers: [{ envFrom: [{ configMapRef: { name: 'c' } }, { secretRef: { name: 's' } }] }] },
      ['ConfigMap/c', 'Secret/s'],
    ],
    [
      'env of every kind of container',
      {
        initContainers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'i' } } }] }],
        containers: [{ env: [{ name: 'plain', value: '1' }, { valueFrom: { secretKeyRef: { name: 's' } } }] }],
        ephemeralContainers: [{ envFrom: [{ configMapRef: { name: 'e' } }] }],
      },
      ['ConfigMap/e', 'ConfigMap/i', 'Secret/s'],
    ],
    ['the account', { serviceAccountName: 'robot' }, ['ServiceAccount/robot']],
    ['not the account everybody has', { serviceAccountName: 'default' }, []],
    ['a volume of a ConfigMap', volume({ configMap: { name: 'c' } }), ['ConfigMap/c']],
    ['a volume of a Secret', volume({ secret: { secretName: 's' } }), ['Secret/s']],
    ['a claim', volume({ persistentVolumeClaim: { claimName: 'data' } }), ['PersistentVolumeClaim/data']],
    [
      'a projected volume',
      volume({ projected: { sources: [{ secret: { name: 's' } }, { configMap: { name: 'c' } }, { downwardAPI: {} }] } }),
      ['ConfigMap/c', 'Secret/s'],
    ],
    ['azureFile', volume({ azureFile: { secretName: 's' } }), ['Secret/s']],
    ['csi', volume({ csi: { nodePublishSecretRef: { name: 's' } } }), ['Secret/s']],
    ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map((source): [string, object, string[]] => [
      source,
      volume({ [source]: { secretRef: { name: 's' } } }),
      ['Secret/s'],
    ]),
    ['nothing of volumes without objects', volume({ emptyDir: {} }), []],
  ]
  for (const [name, spec, wanted] of cases) it(name, () => assert.deepEqual(names(spec), wanted))

  it('names the namespace, and leaves out what the owner makes itself', () => {
    const spec = { volumes: ['data', 'own'].map((claimName) => ({ persistentVolumeClaim: { claimName } })) }
    assert.deepEqual(podDependencies({ spec }, 'shop', { ownClaims: new Set(['own']) }), [
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'data' },
    ])
  })

  it('has each once, in an order that does not depend on the template', () => {
    const name = fc.constantFrom('a', 'b', 'c', '')
    const volumes = fc.array(
      fc.oneof(
        name.map((n) => ({ configMap: { name: n } })),
        name.map((n) => ({ secret: { secretName: n } })),
        name.map((n) => ({ persistentVolumeClaim: { claimName: n } })),
      ),
    )
    fc.assert(
      fc.property(volumes, (list) => {
        const found = names(deepFreeze({ volumes: list }))
        assert.deepEqual(names({ volumes: list.toReversed() }), found)
        assert.equal(new Set(found).size, found.length)
        assert.ok(found.every((reference) => !reference.endsWith('/')))
      }),
    )
  })
})
