import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { Action, Batch } from '../../runtime/controller.ts'
import { plan } from './plan.ts'
import type { Outcome } from './scheduling.ts'
import { aPod, NOW_MS } from './testing.ts'

const NOW = '2026-01-01T00:00:00Z'
const pod = (status: Pod['status'] = {}): Pod => ({
  ...aPod('p', { uid: 'u' }),
  status,
  metadata: { namespace: 'default', name: 'p', uid: 'u', generation: 2 },
})
const unschedulable = (message: string): object => ({
  lastProbeTime: null,
  observedGeneration: 2,
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message,
})
const statusWith = (message: string): Pod['status'] => ({
  conditions: [{ ...unschedulable(message), lastTransitionTime: '2025-01-01T00:00:00Z' }],
})
const actions = (outcome: Outcome): readonly (Action | Batch)[] => plan({ outcome, nowMs: NOW_MS }).actions
const statuses = (outcome: Outcome): unknown[] =>
  actions(outcome).map((action) => (action.do === 'patch' ? action.patch.status : action.do))
const events = (outcome: Outcome): unknown[] =>
  actions(outcome).flatMap((action) =>
    action.do !== 'batch' && typeof action.events === 'object' && 'reason' in action.events
      ? [`${action.events.reason}: ${action.events.message}`]
      : [],
  )

describe('what is written for a decision', () => {
  it('a binding, for exactly the pod that was looked at', () => {
    const [action] = actions({ kind: 'bind', pod: pod(), node: 'a' })
    assert.ok(action?.do === 'post')
    assert.deepEqual(
      [action.subresource, action.body],
      ['binding', { apiVersion: 'v1', kind: 'Binding', metadata: { uid: 'u' }, target: { kind: 'Node', name: 'a' } }],
    )
    assert.deepEqual(events({ kind: 'bind', pod: pod(), node: 'a' }), ['Scheduled: Successfully assigned default/p to a'])
  })

  it('nothing for pods that are no longer to be placed', () => assert.deepEqual(actions({ kind: 'idle' }), []))

  it('the reason to wait, once, and without touching the time it began', () => {
    const of = (status: Pod['status'], message: string): Outcome => ({
      kind: 'unschedulable',
      pod: pod(status),
      message,
      nomination: 'kept',
    })
    assert.deepEqual(statuses(of({}, 'm')), [{ conditions: [{ ...unschedulable('m'), lastTransitionTime: NOW }] }])
    assert.deepEqual(events(of({}, 'm')), ['FailedScheduling: m'])
    assert.deepEqual(statuses(of(statusWith('m'), 'm')), [])
    assert.deepEqual(statuses(of(statusWith('m'), 'n')), [
      { conditions: [{ ...unschedulable('n'), lastTransitionTime: '2025-01-01T00:00:00Z' }] },
    ])
  })

  it('a promise that is void is taken back, others stand', () => {
    const of = (nomination: 'void' | 'kept' | 'awaited', message = 'm'): Outcome => ({
      kind: 'unschedulable',
      pod: pod({ ...statusWith('m'), nominatedNodeName: 'a' }),
      message,
      nomination,
    })
    assert.deepEqual(statuses(of('void')), [{ nominatedNodeName: null }])
    assert.deepEqual(statuses(of('kept')), [])
    assert.deepEqual(statuses(of('awaited', 'other words')), [])
  })

  it('the promise before the victims go, each marked before it is deleted', () => {
    const victim = aPod('v', { uid: 'v' })
    const outcome: Outcome = { kind: 'preempt', pod: pod(statusWith('m')), node: 'a', victims: [victim], message: 'm' }
    const target = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }
    const message = 'default-scheduler: preempting to accommodate a higher priority pod'
    assert.deepEqual(statuses(outcome), [
      { nominatedNodeName: 'a' },
      { conditions: [{ lastProbeTime: null, observedGeneration: undefined, ...target, message, lastTransitionTime: NOW }] },
      'delete',
    ])
    assert.deepEqual(events(outcome), ['Preempted: Preempted by pod u on node a'])
    const marked = { ...victim, status: { conditions: [{ ...target, message }] } }
    assert.deepEqual(statuses({ ...outcome, victims: [marked] }), [{ nominatedNodeName: 'a' }, 'delete'])
  })

  it('volumes are promised and nodes selected before the pod is bound', () => {
    const claim: PersistentVolumeClaim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'default', name: 'c', uid: 'cu', resourceVersion: '7' },
    }
    const volume: PersistentVolume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v' } }
    const outcome: Outcome = { kind: 'volumes', pod: pod(), node: 'a', volumes: { matched: [{ claim, volume }], provisioned: [claim] } }
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'c', uid: 'cu', resourceVersion: '7' }
    assert.deepEqual(
      actions(outcome).map((action) => action.do === 'patch' && action.patch),
      [
        { status: { nominatedNodeName: 'a' } },
        { metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } }, spec: { claimRef } },
        { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'a' } } },
      ],
    )
  })

  it('that a pod is gated, only where nobody says so', () => {
    assert.equal(actions({ kind: 'gated', pod: pod() }).length, 1)
    const said = pod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] })
    assert.deepEqual(actions({ kind: 'gated', pod: said }), [])
  })
})
