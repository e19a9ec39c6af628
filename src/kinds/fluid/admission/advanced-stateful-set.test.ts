import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../kube/meta.ts'
import { AdvancedStatefulSet } from '../index.ts'
import { admit, anObject, type Coming } from './testing.ts'

const SPEC = {
  selector: { matchLabels: { app: 'a' } },
  template: { metadata: { labels: { app: 'a', more: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
}
const set = (spec: object): KubeObject => anObject(AdvancedStatefulSet, { spec: { ...SPEC, ...spec } })
const refused = async (object: KubeObject, coming: Coming = {}) => {
  const { schema, refused: errors } = await admit(object, coming)
  assert.deepEqual(schema, [])
  return errors
}

const NOT_LESS = 'must be greater than or equal to 0'
const REFUSED: [object, string][] = [
  [
    { template: { metadata: { labels: { app: 'b' } }, spec: SPEC.template.spec } },
    'spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`: give the template these labels',
  ],
  [{ selector: {} }, 'spec.selector: Invalid value: it selects every pod: name labels that only the pods of this set have'],
  [
    { selector: { matchExpressions: [{ key: 'app', operator: 'Like', values: ['a'] }] } },
    'spec.selector: Invalid value: "Like" is not a valid label selector operator',
  ],
  [{ replicas: 2 ** 31 - 1 }, 'spec.replicas: Invalid value: 2147483647: must be at most 10000: make several datasets of it'],
  [{ revisionHistoryLimit: -1 }, `spec.revisionHistoryLimit: Invalid value: -1: ${NOT_LESS}`],
  [{ ordinals: { start: -1 } }, `spec.ordinals.start: Invalid value: -1: ${NOT_LESS}`],
  [
    { reserveOrdinals: [1, -1] },
    'spec.reserveOrdinals: Invalid value: "-1" is no ordinal: write a number that is not negative, or a range like "2-5"',
  ],
  [{ reserveOrdinals: [1, '1'] }, 'spec.reserveOrdinals: Invalid value: 1 is reserved twice: remove one'],
  [{ reserveOrdinals: ['0-99999'] }, 'spec.reserveOrdinals: Invalid value: it has more than 10000 ordinals: remove some'],
  [
    { podManagementPolicy: 'Random' },
    'spec.podManagementPolicy: Unsupported value: "Random": supported values: "OrderedReady", "Parallel"',
  ],
  [
    { updateStrategy: { type: 'Never' } },
    'spec.updateStrategy.type: Unsupported value: "Never": supported values: "OnDelete", "RollingUpdate"',
  ],
  [
    { updateStrategy: { rollingUpdate: { podUpdatePolicy: 'InPlace' } } },
    'spec.updateStrategy.rollingUpdate.podUpdatePolicy: Unsupported value: "InPlace": supported values: "InPlaceIfPossible", "InPlaceOnly", "ReCreate"',
  ],
  [
    { updateStrategy: { rollingUpdate: { maxUnavailable: 'some' } } },
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: is neither a number of pods nor a percentage: write for example 1 or "10%"',
  ],
  [{ updateStrategy: { rollingUpdate: { partition: -1 } } }, `spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: ${NOT_LESS}`],
  [
    { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Keep' } },
    'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Delete", "Retain"',
  ],
  [
    { template: { ...SPEC.template, spec: { ...SPEC.template.spec, restartPolicy: 'Never' } } },
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
]

describe('admission of an AdvancedStatefulSet', () => {
  for (const [spec, error] of REFUSED)
    it(`refuses ${JSON.stringify(spec).slice(0, 60)}`, async () => assert.deepEqual(await refused(set(spec)), [error]))

  it('sees no negative number of replicas, because every server refuses it', async () => {
    assert.deepEqual((await admit(set({ replicas: -1 }))).schema, ['.spec.replicas: Invalid value: -1: should be a non-negative integer'])
  })

  it('takes the least and the most', async () => {
    assert.deepEqual(await refused(set({})), [])
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '20%', podUpdatePolicy: 'InPlaceIfPossible', partition: 2 } }
    assert.deepEqual(await refused(set({ replicas: 0, reserveOrdinals: [0, '2-4'], updateStrategy: strategy, ordinals: { start: 3 } })), [])
  })
})

describe('an update of an AdvancedStatefulSet', () => {
  const CONSTANT = 'cannot change, because the pods that exist depend on it: delete the set and make it again'
  const CHANGES: [object, string][] = [
    [{ selector: { matchLabels: { more: 'b' } } }, 'selector'],
    [{ serviceName: 'other' }, 'serviceName'],
    [{ podManagementPolicy: 'Parallel' }, 'podManagementPolicy'],
    [{ volumeClaimTemplates: [{ metadata: { name: 'c' }, spec: {} }] }, 'volumeClaimTemplates'],
  ]
  for (const [change, field] of CHANGES)
    it(`cannot change ${field}`, async () => {
      assert.deepEqual(await refused(set(change), { old: set({}) }), [`spec.${field}: Forbidden: ${CONSTANT}`])
      assert.deepEqual(await refused(set(change), { old: set(change) }), [])
    })

  it('can change who is wanted, and what they are made of', async () => {
    const template = { metadata: SPEC.template.metadata, spec: { containers: [{ name: 'c', image: 'j' }] } }
    assert.deepEqual(await refused(set({ replicas: 2, reserveOrdinals: [0], template }), { old: set({ replicas: 3 }) }), [])
  })
  it('is not refused for what was there before', async () => {
    const old = set({ reserveOrdinals: [-1] })
    assert.deepEqual(await refused(set({ reserveOrdinals: [-1], replicas: 2 }), { old }), [])
    assert.equal((await refused(set({ reserveOrdinals: [-2], replicas: 2 }), { old })).length, 1)
  })
})
