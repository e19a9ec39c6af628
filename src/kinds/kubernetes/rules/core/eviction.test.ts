import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../../kube/meta.ts'
import { StatusError } from '../../../../kube/status.ts'
import { bindPodToNode, checkBinding } from './binding.ts'
import { chargeEviction, decideEviction, markEvicted } from './eviction.ts'

const NOW = '2025-06-01T10:20:30Z'

const podOf = (phase: string, ready: boolean): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'n', labels: { e: '1' } },
  spec: {},
  status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

const budgetOf = (status: Record<string, unknown>, spec: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'p', namespace: 'n', generation: 1 },
  spec: { selector: { matchLabels: { e: '1' } }, ...spec },
  status: { observedGeneration: 1, ...status },
})

function refusal(run: () => void): StatusError {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return error
  }
  assert.fail('it was allowed')
}

describe('eviction', () => {
  it('asks no budget for pods that are done or not yet started', () => {
    const budget = budgetOf({})
    assert.deepEqual(decideEviction(podOf('Succeeded', false), [budget]), { guardsRevision: false })
    assert.deepEqual(decideEviction(podOf('Pending', false), [budget]), { guardsRevision: true })
    assert.deepEqual(decideEviction(podOf('Running', true), []), { guardsRevision: false })
  })

  it('lets unready pods go when enough others are healthy', () => {
    const healthy = budgetOf({ currentHealthy: 2, desiredHealthy: 2 })
    assert.deepEqual(decideEviction(podOf('Running', false), [healthy]), { guardsRevision: true })
    assert.equal(decideEviction(podOf('Running', true), [healthy]).budget, healthy)
    const always = budgetOf({}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })
    assert.deepEqual(decideEviction(podOf('Running', false), [always]), { guardsRevision: true })
  })

  it('refuses two budgets, and a budget nobody has looked at', () => {
    const two = refusal(() => decideEviction(podOf('Running', true), [budgetOf({}), budgetOf({})]))
    assert.equal(two.code, 500)
    const fresh = refusal(() => chargeEviction(budgetOf({ observedGeneration: 0 }), 'a', NOW))
    assert.deepEqual(fresh.status.details, {
      causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget p is still being processed by the server.' }],
      retryAfterSeconds: 10,
    })
  })

  it('takes one disruption at a time', () => {
    const budget = budgetOf({ disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2 })
    chargeEviction(budget, 'a', NOW)
    const status = budget.status as { disruptionsAllowed: number; disruptedPods: unknown; conditions: { status: string }[] }
    assert.equal(status.disruptionsAllowed, 0)
    assert.deepEqual(status.disruptedPods, { a: NOW })
    assert.equal(status.conditions[0]?.status, 'False')
    const next = refusal(() => chargeEviction(budgetOf({ disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 }), 'b', NOW))
    assert.equal(next.code, 429)
    assert.equal(next.status.details?.causes?.[0]?.message, 'The disruption budget p needs 2 healthy pods and has 2 currently')
  })

  it('says on the pod why it goes', () => {
    const pod = podOf('Running', true)
    markEvicted(pod, NOW)
    const { conditions } = pod.status as { conditions: { type: string; reason?: string }[] }
    assert.deepEqual(
      conditions.map((one) => [one.type, one.reason]),
      [
        ['Ready', undefined],
        ['DisruptionTarget', 'EvictionByEvictionAPI'],
      ],
    )
  })
})

describe('binding', () => {
  const binding = (kind: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'a' },
    target: { kind, name: 'n1' },
  })

  it('binds once, to a node, in the recorded words', () => {
    const pod = podOf('Pending', false)
    bindPodToNode(pod, binding('Node'), NOW)
    assert.equal((pod.spec as { nodeName: string }).nodeName, 'n1')
    const again = refusal(() => bindPodToNode(pod, binding('Node'), NOW))
    assert.equal(again.status.message, 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"')
    assert.deepEqual(again.status.details, { name: 'a', kind: 'pods/binding' })
    const odd = refusal(() => checkBinding(binding('Pod')))
    assert.deepEqual(odd.status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      code: 500,
    })
  })
})
