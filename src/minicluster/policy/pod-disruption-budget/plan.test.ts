import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod, PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from '../../../kinds/kubernetes/types.ts'
import type { Plan } from '../../../runtime/controller.ts'
import type { ScaleResult } from './owners.ts'
import { type Observed, plan } from './plan.ts'

const NOW = Date.UTC(2026, 0, 1, 12)
const at = (secondsAgo: number): string => `${new Date(NOW - secondsAgo * 1000).toISOString().slice(0, 19)}Z`

const budgetOf = (spec: PodDisruptionBudgetSpec, status?: PodDisruptionBudgetStatus): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', namespace: 'n', generation: 3, resourceVersion: '7' },
  spec: { selector: { matchLabels: { app: 'x' } }, ...spec },
  ...(status === undefined ? {} : { status }),
})

const podOf = (name: string, { isReady = true, isGoing = false } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n', ...(isGoing ? { deletionTimestamp: at(1) } : {}) },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
})
const pods = (count: number): Pod[] => Array.from({ length: count }, (_, i) => podOf(`p${i}`))
const scale = (expected: number, unmanaged: string[] = []): ScaleResult => ({ scale: { expected, unmanaged } })

const look = (observed: Omit<Observed, 'nowMs' | 'owners'> & { owners?: ScaleResult }): Plan =>
  plan({ owners: undefined, nowMs: NOW, ...observed })

interface Written extends Omit<PodDisruptionBudgetStatus, 'disruptedPods'> {
  disruptedPods?: Record<string, string | null> | null
}

function written({ actions }: Plan): Written | undefined {
  const [action] = actions
  if (action === undefined) return undefined
  assert.equal(actions.length, 1)
  assert.ok(action.do === 'patch' && action.subresource === 'status')
  return action.patch.status as Written
}

const reasons = ({ actions }: Plan): string[] => {
  const [action] = actions
  const events = action !== undefined && action.do !== 'batch' ? action.events : undefined
  assert.ok(typeof events !== 'function')
  return (events === undefined ? [] : 'of' in events ? [events] : events).map(({ reason }) => reason)
}

describe('what a budget allows', () => {
  type Case = [
    string,
    PodDisruptionBudgetSpec,
    Pod[],
    ScaleResult | undefined,
    [expected: number, desired: number, healthy: number, allowed: number],
  ]
  const cases: Case[] = [
    ['a number that must be there', { minAvailable: 2 }, pods(3), undefined, [3, 2, 3, 1]],
    ['more than there are', { minAvailable: 5 }, pods(3), undefined, [3, 5, 3, 0]],
    ['a share that must be there, rounded up', { minAvailable: '50%' }, pods(3), scale(3), [3, 2, 3, 1]],
    ['a share of what the owners want', { minAvailable: '50%' }, pods(3), scale(10), [10, 5, 3, 0]],
    ['a number that may be away', { maxUnavailable: 1 }, pods(3), scale(3), [3, 2, 3, 1]],
    ['a number greater than all', { maxUnavailable: 5 }, pods(3), scale(3), [3, 0, 3, 3]],
    ['a share that may be away, rounded up', { maxUnavailable: '30%' }, pods(4), scale(4), [4, 2, 4, 2]],
    ['none', { maxUnavailable: 0 }, pods(2), scale(2), [2, 2, 2, 0]],
    ['nothing when nobody is expected', { minAvailable: 0 }, [], undefined, [0, 0, 0, 0]],
    [
      'pods that are unwell or on their way out do not count',
      { minAvailable: 1 },
      [podOf('a', { isReady: false }), podOf('b', { isGoing: true }), podOf('c')],
      undefined,
      [3, 1, 1, 0],
    ],
    ['nothing said', {}, pods(2), undefined, [0, 0, 2, 0]],
  ]
  for (const [name, spec, of, owners, [expected, desired, healthy, allowed]] of cases)
    it(name, () => {
      const status = written(look({ budget: budgetOf(spec), pods: of, owners }))
      assert.deepEqual(
        [status?.expectedPods, status?.desiredHealthy, status?.currentHealthy, status?.disruptionsAllowed],
        [expected, desired, healthy, allowed],
      )
      assert.equal(status?.observedGeneration, 3)
      const [condition] = status?.conditions ?? []
      assert.deepEqual(
        [condition?.type, condition?.status, condition?.reason, condition?.message, condition?.observedGeneration],
        ['DisruptionAllowed', allowed > 0 ? 'True' : 'False', allowed > 0 ? 'SufficientPods' : 'InsufficientPods', '', 3],
      )
      const settled = budgetOf(spec, { ...status, disruptedPods: undefined } as PodDisruptionBudgetStatus)
      assert.deepEqual(look({ budget: settled, pods: of, owners }).actions, [], 'a second look changes nothing')
    })
})

describe('what a budget cannot count', () => {
  it('is not given away', () => {
    const before = { currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, disruptionsAllowed: 2, observedGeneration: 2 }
    const budget = budgetOf({ maxUnavailable: 1 }, before)
    const failed = look({ budget, pods: pods(3), owners: { problem: 'found no controllers for pod "p0"' } })
    const status = written(failed)
    assert.deepEqual([status?.disruptionsAllowed, status?.currentHealthy, status?.observedGeneration], [0, 3, undefined])
    const [condition] = status?.conditions ?? []
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message, condition?.observedGeneration],
      ['False', 'SyncFailed', 'found no controllers for pod "p0"', 2],
    )
    assert.deepEqual(reasons(failed), ['CalculateExpectedPodCountFailed'])
    const again = budgetOf({ maxUnavailable: 1 }, { ...before, ...status } as PodDisruptionBudgetStatus)
    assert.deepEqual(look({ budget: again, pods: pods(3), owners: { problem: 'found no controllers for pod "p0"' } }).actions, [])
  })

  it('says so for a share that is none', () => {
    const status = written(look({ budget: budgetOf({ maxUnavailable: 'many' }), pods: pods(1), owners: scale(1) }))
    assert.equal(status?.conditions?.[0]?.reason, 'SyncFailed')
  })
})

describe('evictions under way', () => {
  const spec = { minAvailable: 1 }
  it('count until they show, are forgotten when they do, and are given up after two minutes', () => {
    const disruptedPods = { p0: at(60), p1: at(121), gone: at(10), p2: at(30) }
    const of = [podOf('p0'), podOf('p1'), podOf('p2', { isGoing: true }), podOf('p3')]
    const seen = look({ budget: budgetOf(spec, { disruptedPods }), pods: of })
    const status = written(seen)
    assert.deepEqual(status?.disruptedPods, { p0: at(60), p1: null, gone: null, p2: null })
    assert.deepEqual([status?.currentHealthy, status?.disruptionsAllowed], [2, 1], 'p1 and p3 are well')
    assert.equal(seen.requeueAfterMs, 60_001)
    assert.deepEqual(reasons(seen), ['NotDeleted'])
  })

  it('leave nothing behind when there are none', () => {
    assert.equal(written(look({ budget: budgetOf(spec, { disruptedPods: { gone: at(1) } }), pods: pods(2) }))?.disruptedPods, null)
  })
})

describe('the events of a budget', () => {
  it('are recorded with the status', () => {
    assert.deepEqual(reasons(look({ budget: budgetOf({ minAvailable: 1 }), pods: [] })), ['NoPods'])
    const unmanaged = look({ budget: budgetOf({ maxUnavailable: 1 }), pods: pods(1), owners: scale(0, ['p0']) })
    assert.deepEqual(reasons(unmanaged), ['UnmanagedPods'])
    const [action] = unmanaged.actions
    const message = JSON.stringify(action !== undefined && 'events' in action ? action.events : '')
    assert.match(
      message,
      /\(selector: &LabelSelector\{MatchLabels:map\[string\]string\{app: x,\},MatchExpressions:\[\]LabelSelectorRequirement\{\},\}\)/,
    )
  })
})
