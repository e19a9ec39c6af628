import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Node, Pod, PodDisruptionBudget } from '../../kinds/kubernetes/types.ts'
import { type Decision, enoughOf, schedule } from './schedule.ts'
import { podInfo } from './state/pod-info.ts'
import { aNode, aPod, aSnapshot, type Objects, on } from './testing.ts'

const decide = (pod: Pod, objects: Objects): Decision => schedule(podInfo(pod), aSnapshot(objects))
const tainted = (name: string): Node => aNode(name, { taints: [{ key: 'k', effect: 'NoSchedule' }] })
const important = (name: string, cpu: string, priority: number, more: Pod['status'] = {}): Pod =>
  aPod(name, { cpu, spec: { priority }, status: more, uid: `uid-${name}`, labels: { app: name } })

function message(pod: Pod, objects: Objects): string {
  const decision = decide(pod, objects)
  assert.ok(decision.kind === 'unschedulable', `is ${decision.kind}`)
  return decision.message
}

describe('where a pod goes', () => {
  it('to the node with the most capacity, and of equals to the first by name', () => {
    const nodes = [aNode('c'), aNode('b'), aNode('a')]
    assert.deepEqual(decide(aPod('p', { cpu: '1' }), { nodes }), { kind: 'node', node: 'a', looked: 3 })
    const pods = [on('a', aPod('q', { cpu: '1' }))]
    assert.deepEqual(decide(aPod('p', { cpu: '1' }), { nodes, pods }), { kind: 'node', node: 'b', looked: 3 })
  })

  it('to the node it was promised, while that will do', () => {
    const promised = aPod('p', { cpu: '1', status: { nominatedNodeName: 'b' } })
    assert.deepEqual(decide(promised, { nodes: [aNode('a'), aNode('b')] }), { kind: 'node', node: 'b', looked: 1 })
    assert.deepEqual(decide(promised, { nodes: [aNode('a'), tainted('b')] }), { kind: 'node', node: 'a', looked: 3 })
  })

  it('only named nodes are looked at', () => {
    const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }]
    const pod = aPod('p', {
      spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } },
    })
    assert.deepEqual(decide(pod, { nodes: [aNode('a'), aNode('b'), aNode('c')] }), { kind: 'node', node: 'b', looked: 1 })
    assert.equal(
      message(pod, { nodes: [aNode('a'), tainted('b'), aNode('c')] }),
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    )
  })

  it('not where more important pods are to come', () => {
    const nodes = [aNode('a', { cpu: '1' })]
    const waiting = aPod('q', { cpu: '1', uid: 'q', spec: { priority: 10 }, status: { nominatedNodeName: 'a' } })
    assert.equal(decide(aPod('p', { cpu: '1', uid: 'p', spec: { priority: 5 } }), { nodes, pods: [waiting] }).kind, 'unschedulable')
    assert.equal(decide(aPod('p', { cpu: '1', uid: 'p', spec: { priority: 20 } }), { nodes, pods: [waiting] }).kind, 'node')
  })
})

describe('what is said when there is no node', () => {
  it('no nodes at all', () => assert.equal(message(aPod('p'), {}), 'no nodes available to schedule pods'))

  it('how many nodes gave which reason', () =>
    assert.equal(
      message(aPod('p', { cpu: '1' }), {
        nodes: [aNode('a', { cpu: '1' }), tainted('b'), tainted('c'), tainted('d')],
        pods: [on('a', aPod('q', { cpu: '1' }))],
      }),
      '0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.',
    ))

  it('one sentence when the pod itself is the reason', () =>
    assert.equal(
      message(aPod('p', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] } }), { nodes: [aNode('a')] }),
      '0/1 nodes are available: persistentvolumeclaim "c" not found. not found',
    ))

  it('that it may not preempt', () =>
    assert.equal(
      message(aPod('p', { cpu: '1', spec: { priority: 9, preemptionPolicy: 'Never' } }), {
        nodes: [aNode('a', { cpu: '1' })],
        pods: [on('a', aPod('q', { cpu: '1' }))],
      }),
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    ))
})

describe('preemption', () => {
  const victims = (pod: Pod, objects: Objects): [node: string, ...victims: string[]] => {
    const decision = decide(pod, objects)
    assert.ok(decision.kind === 'preempt', `is ${decision.kind}`)
    return [decision.node, ...decision.victims.map(({ pod: victim }) => victim.metadata.name ?? '')]
  }
  const budget = (app: string, disruptionsAllowed: number): PodDisruptionBudget => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'default', name: app },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed },
  })
  const started = (startTime: string): Pod['status'] => ({ startTime })

  it('as few as possible go, and the less important ones', () => {
    const pods = [on('a', important('x', '1', 1)), on('a', important('y', '1', 2)), on('a', important('z', '2', 3))]
    assert.deepEqual(victims(important('p', '1', 10), { nodes: [aNode('a')], pods }), ['a', 'x'])
    assert.deepEqual(victims(important('p', '2', 10), { nodes: [aNode('a')], pods }), ['a', 'y', 'x'])
    assert.deepEqual(victims(important('p', '4', 10), { nodes: [aNode('a')], pods }), ['a', 'z', 'y', 'x'])
  })

  it('nobody of the same importance', () => {
    const pods = [on('a', important('x', '4', 10))]
    assert.match(message(important('p', '1', 10), { nodes: [aNode('a')], pods }), /1 No preemption victims found for incoming pod\.$/)
  })

  it('what was said before it: only the reasons', () => {
    const decision = decide(important('p', '1', 10), { nodes: [aNode('a')], pods: [on('a', important('x', '4', 1))] })
    assert.ok(decision.kind === 'preempt')
    assert.equal(decision.message, '0/1 nodes are available: 1 Insufficient cpu.')
  })

  it('of nodes: the one where no budget is broken', () => {
    const pods = [on('a', important('x', '4', 1)), on('b', important('y', '4', 5))]
    const nodes = [aNode('a'), aNode('b')]
    assert.deepEqual(victims(important('p', '1', 10), { nodes, pods }), ['a', 'x'])
    assert.deepEqual(victims(important('p', '1', 10), { nodes, pods, budgets: [budget('x', 0)] }), ['b', 'y'])
    assert.deepEqual(victims(important('p', '1', 10), { nodes, pods, budgets: [budget('x', 1)] }), ['a', 'x'])
  })

  it('on a node: those without a budget first, even if they matter more', () => {
    const pods = [on('a', important('x', '2', 1)), on('a', important('y', '2', 5))]
    assert.deepEqual(victims(important('p', '2', 10), { nodes: [aNode('a')], pods, budgets: [budget('x', 0)] }), ['a', 'y'])
  })

  it('of nodes: fewest victims, then those that have run the shortest, then by name', () => {
    const pods = [on('a', important('x', '2', 1)), on('a', important('w', '2', 1)), on('b', important('y', '4', 1))]
    assert.deepEqual(victims(important('p', '4', 10), { nodes: [aNode('a'), aNode('b')], pods }), ['b', 'y'])
    const old = on('a', important('x', '4', 1, started('2025-01-01T00:00:00Z')))
    const young = on('b', important('y', '4', 1, started('2025-06-01T00:00:00Z')))
    assert.deepEqual(victims(important('p', '4', 10), { nodes: [aNode('a'), aNode('b')], pods: [old, young] }), ['b', 'y'])
    assert.deepEqual(
      victims(important('p', '4', 10), {
        nodes: [aNode('b'), aNode('a')],
        pods: [on('a', important('x', '4', 1)), on('b', important('y', '4', 1))],
      }),
      ['a', 'x'],
    )
  })

  it('helps against anti-affinity and skew, too', () => {
    const antiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } } },
      ],
    }
    const pod = aPod('p', { uid: 'p', spec: { priority: 10, affinity: { podAntiAffinity: antiAffinity } } })
    assert.deepEqual(victims(pod, { nodes: [aNode('a')], pods: [on('a', important('x', '1', 1)), on('a', important('y', '1', 1))] }), [
      'a',
      'x',
    ])
  })

  it('waits for those that are leaving for it', () => {
    const leaving: Pod = {
      ...on('a', important('x', '4', 1, { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] })),
    }
    leaving.metadata = { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
    const decision = decide(important('p', '1', 10, { nominatedNodeName: 'a' }), { nodes: [aNode('a')], pods: [leaving] })
    assert.ok(decision.kind === 'unschedulable')
    assert.equal(decision.nomination, 'awaited')
    assert.match(decision.message, /preemption: not eligible due to a terminating pod on the nominated node\.$/)
  })
})

describe('in a large cluster', () => {
  it('as many nodes are compared as in Kubernetes', () => {
    assert.deepEqual([10, 99, 100, 200, 300, 1000, 5000, 6000].map(enoughOf), [10, 99, 100, 100, 144, 420, 500, 300])
  })

  it('the same pod gets the same answer, other pods look elsewhere', () => {
    const snapshot = aSnapshot({ nodes: Array.from({ length: 300 }, (_, i) => aNode(`n${i}`)) })
    const of = (name: string): Decision => schedule(podInfo(aPod(name, { cpu: '1' })), snapshot)
    assert.deepEqual(of('p'), of('p'))
    assert.equal(of('p').looked, 144)
    const chosen = new Set(Array.from({ length: 20 }, (_, i) => (of(`p${i}`) as { node: string }).node))
    assert.ok(chosen.size > 1)
  })
})
