import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { APPLIED_PLACEMENT } from '../../kinds/karmada/well-known.ts'
import { demandOf } from './demand.ts'
import { isOurs, isPlacementChanged, mustDecide } from './necessity.ts'
import { aBindingOf, type BindingOptions, DUPLICATED, DYNAMIC } from './testing.ts'

const SCHEDULED = { type: 'Scheduled', status: 'True', reason: 'Success', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
const placement = { replicaScheduling: DYNAMIC }
const running = (more: BindingOptions = {}): BindingOptions => ({
  replicas: 4,
  on: { m1: 4 },
  placement,
  annotations: { [APPLIED_PLACEMENT]: JSON.stringify(placement) },
  status: { conditions: [SCHEDULED], lastScheduledTime: '2026-01-01T00:00:10Z' },
  ...more,
})

describe('a binding is decided about', () => {
  const component = { name: 'a', replicas: 1 }
  const table: [string, BindingOptions, boolean][] = [
    ['not when nothing changed', running(), false],
    ['when it never was', running({ annotations: {} }), true],
    [
      'when its placement changed',
      running({ placement: { replicaScheduling: DYNAMIC, clusterTolerations: [{ operator: 'Exists' }] } }),
      true,
    ],
    ['when it has more replicas', running({ replicas: 5 }), true],
    ['when it has fewer', running({ replicas: 3 }), true],
    ['when a copy has other replicas', running({ placement: { replicaScheduling: DUPLICATED } }), true],
    ['always when it is the same everywhere', { ...running({ placement: {} }), annotations: { [APPLIED_PLACEMENT]: '{}' } }, true],
    ['always when it has no pods', running({ replicas: 0, on: { m1: 0 } }), true],
    ['when somebody asks for it', running({ rescheduleTriggeredAt: '2026-01-01T00:00:11Z' }), true],
    ['not when that was before', running({ rescheduleTriggeredAt: '2026-01-01T00:00:10Z' }), false],
    ['when a cluster of it is going', running({ on: { gone: 4 } }), true],
    ['when it waits', running({ status: { conditions: [{ ...SCHEDULED, status: 'False' }] } }), true],
    ['when it has components and no cluster', running({ replicas: 0, components: [component], on: {} }), true],
  ]
  for (const [name, options, expected] of table)
    it(name, () => {
      const binding = aBindingOf(options)
      assert.equal(
        mustDecide(binding, demandOf(binding, binding.spec.placement ?? {}), (cluster) => cluster === 'gone'),
        expected,
      )
    })

  it('when its components changed since they were sent', () => {
    const options = running({ replicas: 0, components: [component] })
    const binding = aBindingOf(options)
    const reported = (replicas: number) => ({
      ...binding,
      spec: { ...binding.spec, clusters: [{ name: 'm1', components: [{ name: 'a', replicas }] }] },
    })
    assert.deepEqual(
      [1, 2].map((replicas) => mustDecide(reported(replicas), demandOf(reported(replicas), placement), () => false)),
      [false, true],
    )
  })
})

describe('a placement', () => {
  const term = (affinityName: string, clusterNames: string[]) => ({ affinityName, clusterNames })
  const two = { clusterAffinities: [term('a', ['m1']), term('b', ['m2'])] }
  const table: [string, object, object | string | undefined, string | undefined, boolean][] = [
    ['was never applied', {}, undefined, undefined, true],
    ['cannot be read: no change', {}, '{', undefined, false],
    [
      'has its fields in another order',
      { clusterAffinity: {}, spreadConstraints: [] },
      { spreadConstraints: [], clusterAffinity: {} },
      undefined,
      false,
    ],
    ['has another affinity', { clusterAffinity: { clusterNames: ['a'] } }, { clusterAffinity: {} }, undefined, true],
    ['has another term that is not in use', two, { clusterAffinities: [term('a', ['m1']), term('b', ['m3'])] }, 'a', false],
    ['has another term in use', two, { clusterAffinities: [term('a', ['m3']), term('b', ['m2'])] }, 'a', true],
    ['no longer has the term in use', two, { clusterAffinities: [term('c', ['m1'])] }, 'c', true],
  ]
  for (const [name, now, before, observedTerm, expected] of table)
    it(name, () => {
      const applied = typeof before === 'object' ? JSON.stringify(before) : before
      assert.equal(isPlacementChanged({ placement: now, observedTerm }, applied), expected)
    })
})

describe('a binding is ours', () => {
  const labelled = (labels: Record<string, string>) => {
    const binding = aBindingOf()
    return isOurs({ ...binding, metadata: { ...binding.metadata, labels } })
  }
  const table: [string, Record<string, string>, boolean][] = [
    ['by the id of a policy', { 'propagationpolicy.karmada.io/permanent-id': 'p' }, true],
    ['by the id of a cluster policy', { 'clusterpropagationpolicy.karmada.io/permanent-id': 'p' }, true],
    ['by whoever manages it', { 'binding.karmada.io/managed-by': 'somebody' }, true],
    ['not by an empty id', { 'propagationpolicy.karmada.io/permanent-id': '' }, false],
    ['not without any', {}, false],
  ]
  for (const [name, labels, expected] of table) it(name, () => assert.equal(labelled(labels), expected))
})
