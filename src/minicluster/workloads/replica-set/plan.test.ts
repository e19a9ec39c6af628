import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod, ReplicaSet, ReplicaSetSpec, ReplicaSetStatus } from '../../../kinds/kubernetes/types.ts'
import type { Action, Plan } from '../../../runtime/controller.ts'
import { readSelector } from '../../../runtime/workloads/pod/indexes.ts'
import { claimObjects, controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { aPod, aReplicaSet } from '../../../runtime/workloads/pod/testing.ts'
import { type Observed, plan } from './plan.ts'

const NOW = Date.UTC(2026, 0, 1)

const setWith = (spec: ReplicaSetSpec, status?: ReplicaSetStatus): ReplicaSet => ({
  ...aReplicaSet('web', spec, { uid: 'mine', generation: 1, resourceVersion: '1' }),
  ...(status === undefined ? {} : { status }),
})

function podOf(set: ReplicaSet, name: string, more: Partial<Pod> = {}): Pod {
  return aPod(name, { uid: name, labels: { app: 'web' }, ownerReferences: [controllerReference(set)] }, more)
}

const readySince = (secondsAgo: number): Partial<Pod> => ({
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(NOW - secondsAgo * 1000).toISOString() }],
  },
})

function planOf(set: ReplicaSet | undefined, pods: readonly Pod[], more: Partial<Observed> = {}): Plan {
  const selector = readSelector(set?.spec?.selector)
  const claim = set === undefined ? { claimed: [], adopt: [], release: [] } : claimObjects({ owner: set, selector, candidates: pods })
  const isTaken = (name: string): boolean => pods.some(({ metadata }) => metadata.name === name)
  return plan({ replicaSet: set, selector, claim, terminating: 0, related: [], nowMs: NOW, lastFailure: undefined, isTaken, ...more })
}

const each = ({ actions }: Plan): Action[] => actions.flatMap((action) => (action.do === 'batch' ? [...action.actions] : [action]))
const kindsOf = (made: Plan): string[] =>
  made.actions.map((action) => (action.do === 'batch' ? `together ${action.actions[0]?.do}` : action.do))

function statusOf(made: Plan): Record<string, unknown> | undefined {
  const patch = each(made).find((action) => action.do === 'patch' && action.subresource === 'status')
  return patch?.do === 'patch' ? (patch.patch.status as Record<string, unknown>) : undefined
}

const SETTLED = { replicas: 2, fullyLabeledReplicas: 2, terminatingReplicas: 0, observedGeneration: 1 }

describe('the plan of a ReplicaSet', () => {
  it('does nothing for one that is gone or selects nothing', () => {
    assert.deepEqual(planOf(undefined, []), { actions: [] })
    assert.deepEqual(planOf({ ...setWith({}), spec: {} }, []), { actions: [] })
  })

  it('creates what is missing in one batch, then reports what it saw', () => {
    const made = planOf(setWith({ replicas: 3 }), [])
    assert.deepEqual(kindsOf(made), ['together create', 'patch'])
    assert.equal(each(made).filter((action) => action.do === 'create').length, 3)
    assert.deepEqual(statusOf(made), { observedGeneration: 1, terminatingReplicas: 0 })
  })

  it('asks for one pod when it does not say how many', () => {
    assert.equal(each(planOf(setWith({}), [])).filter((action) => action.do === 'create').length, 1)
  })

  it('creates and deletes at most 500 in a pass', () => {
    const many = setWith({ replicas: 100_000 })
    assert.equal(each(planOf(many, [])).filter((action) => action.do === 'create').length, 500)
    const none = setWith({ replicas: 0 })
    const pods = Array.from({ length: 700 }, (_, i) => podOf(none, `p${i}`))
    assert.equal(each(planOf(none, pods)).filter((action) => action.do === 'delete').length, 500)
  })

  it('never takes a name that is taken', () => {
    const set = setWith({ replicas: 1 })
    const [first] = each(planOf(set, []))
    assert.ok(first?.do === 'create')
    const name = first.object.metadata.name ?? ''
    const [second] = each(planOf(set, [], { isTaken: (one) => one === name }))
    assert.ok(second?.do === 'create')
    assert.notEqual(second.object.metadata.name, name)
  })

  it('deletes those that are worth least, company on a node counted over all siblings', () => {
    const set = setWith({ replicas: 1 })
    const on = (nodeName: string): Partial<Pod> => ({ ...readySince(100), spec: { nodeName, containers: [] } })
    const pods = [podOf(set, 'alone', on('a')), podOf(set, 'crowded', on('b'))]
    const related = [...pods, aPod('sibling', {}, on('b'))]
    const doomed = each(planOf(set, pods, { related })).filter((action) => action.do === 'delete')
    assert.deepEqual(
      doomed.map((action) => (action.do === 'delete' ? action.of.metadata.name : '')),
      ['crowded'],
    )
  })

  it('leaves the pods of one that is being deleted to the garbage collector, and still counts them', () => {
    const set = setWith({ replicas: 3 })
    set.metadata.deletionTimestamp = new Date(NOW).toISOString()
    assert.deepEqual(kindsOf(planOf(set, [podOf(set, 'p')])), ['patch'])
  })

  it('writes nothing when nothing differs', () => {
    const set = setWith({ replicas: 2 }, SETTLED)
    assert.deepEqual(planOf(set, [podOf(set, 'a'), podOf(set, 'b')]), { actions: [], requeueAfterMs: undefined })
  })

  it('counts labels, readiness and availability, and requeues for when the next becomes available', () => {
    const set = setWith({ replicas: 3, minReadySeconds: 10 }, SETTLED)
    set.spec = { ...set.spec, template: { metadata: { labels: { app: 'web', tier: 'front' } } } }
    const pods = [podOf(set, 'a', readySince(30)), podOf(set, 'b', readySince(4)), podOf(set, 'c')]
    Object.assign(pods[0]?.metadata.labels ?? {}, { tier: 'front' })
    const made = planOf(set, pods, { terminating: 2 })
    assert.deepEqual(statusOf(made), {
      replicas: 3,
      fullyLabeledReplicas: 1,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 2,
    })
    assert.equal(made.requeueAfterMs, 6000)
  })

  it('reports a failure before it tries again, once, and takes it back when the number is right', () => {
    const lastFailure = { message: 'no quota', code: 403, reason: 'Forbidden' }
    const failed = planOf(setWith({ replicas: 2 }, { ...SETTLED, replicas: 0, fullyLabeledReplicas: 0 }), [], { lastFailure })
    assert.deepEqual(kindsOf(failed), ['patch', 'together create'])
    const condition = {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'FailedCreate',
      message: 'no quota',
    }
    assert.deepEqual(statusOf(failed), { conditions: [condition] })

    const status = { ...SETTLED, conditions: [condition] }
    const still = planOf(setWith({ replicas: 2 }, { ...status, replicas: 0, fullyLabeledReplicas: 0 }), [], {
      lastFailure: { message: 'another' },
    })
    assert.equal(statusOf(still), undefined)

    const set = setWith({ replicas: 2 }, status)
    const cured = planOf(set, [podOf(set, 'a'), podOf(set, 'b')])
    assert.deepEqual(statusOf(cured), { conditions: [] })
  })

  it('says why pods cannot be deleted', () => {
    const set = setWith({ replicas: 0 }, SETTLED)
    const made = planOf(set, [podOf(set, 'a'), podOf(set, 'b')], { lastFailure: { message: 'refused' } })
    const { conditions: [condition] = [] } = statusOf(made) as { conditions?: { reason: string; message: string }[] }
    assert.equal(condition?.reason, 'FailedDelete')
    assert.equal(condition?.message, 'unable to delete pods: refused')
  })

  it('adopts and releases before anything else', () => {
    const set = setWith({ replicas: 1 }, { ...SETTLED, replicas: 1, fullyLabeledReplicas: 1 })
    const stray = aPod('stray', { uid: 's', ownerReferences: [controllerReference(set)] })
    const orphan = aPod('orphan', { uid: 'o', labels: { app: 'web' } })
    assert.deepEqual(kindsOf(planOf(set, [stray, orphan])), ['together patch'])
  })
})
