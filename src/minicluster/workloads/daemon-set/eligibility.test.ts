import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Node, PodSpec, Taint } from '../../../kinds/kubernetes/types.ts'
import { placedBy } from '../../admission/run-placement.ts'
import { asksForProcess, daemonTolerations, judgeOf, playedUnless } from './eligibility.ts'
import { aDaemonSet, aNode, templateAt } from './testing.ts'

const admit = playedUnless(asksForProcess)
const judge = (spec: Record<string, unknown>, node: Node): string => {
  const { shouldRun, mayStay } = judgeOf({ set: aDaemonSet({ template: templateAt('x', spec) }), admit, namespace: undefined })(node)
  return shouldRun ? 'run' : mayStay ? 'stay' : 'no'
}
const affinity = (term: unknown): Record<string, unknown> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
})
const tainted = (...taints: Taint[]): Node => aNode('a', { disk: 'ssd' }, taints)

describe('a daemon pod and a node', () => {
  const cases: [string, Record<string, unknown>, Node, string][] = [
    ['plain', {}, aNode('a'), 'run'],
    ['its node by name', { nodeName: 'a' }, aNode('a'), 'run'],
    ['another node by name', { nodeName: 'b' }, aNode('a'), 'no'],
    ['selected', { nodeSelector: { disk: 'ssd' } }, tainted(), 'run'],
    ['not selected', { nodeSelector: { disk: 'hdd' } }, tainted(), 'no'],
    ['affine', affinity({ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }), tainted(), 'run'],
    ['not affine', affinity({ matchExpressions: [{ key: 'disk', operator: 'DoesNotExist' }] }), tainted(), 'no'],
    ['affine by name', affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }), aNode('a'), 'run'],
    ['a term that says nothing', affinity({}), aNode('a'), 'no'],
    ['kept away', {}, tainted({ key: 'k', effect: 'NoSchedule' }), 'stay'],
    ['kept away softly', {}, tainted({ key: 'k', effect: 'PreferNoSchedule' }), 'run'],
    ['driven away', {}, tainted({ key: 'k', effect: 'NoExecute' }), 'no'],
    ['tolerant', { tolerations: [{ key: 'k', operator: 'Exists' }] }, tainted({ key: 'k', effect: 'NoExecute' }), 'run'],
    [
      'tolerant of another value',
      { tolerations: [{ key: 'k', value: 'x' }] },
      tainted({ key: 'k', value: 'y', effect: 'NoSchedule' }),
      'stay',
    ],
    ['not ready', {}, tainted({ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }), 'run'],
    ['not ready for new ones', {}, tainted({ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }), 'stay'],
    ['cordoned', {}, tainted({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }), 'run'],
    ['without network', {}, tainted({ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }), 'stay'],
    [
      'without network, on the host',
      { hostNetwork: true },
      tainted({ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }),
      'run',
    ],
    ['simulated', {}, tainted({ key: 'sluice.dev/simulated', effect: 'NoSchedule' }), 'run'],
  ]
  for (const [name, spec, node, wanted] of cases) it(name, () => assert.equal(judge(spec, node), wanted))

  it('bears a set without a template', () => {
    const set = { ...aDaemonSet(), spec: {} }
    assert.deepEqual(judgeOf({ set, admit, namespace: undefined })({ apiVersion: 'v1', kind: 'Node', metadata: {} }), {
      shouldRun: true,
      mayStay: true,
    })
  })

  it('are of one kind where nodes of both kinds exist', () => {
    const nodes = [
      aNode('played', { 'sluice.dev/node': 'simulated' }, [{ key: 'sluice.dev/simulated', effect: 'NoSchedule' }]),
      aNode('real', { 'sluice.dev/node': 'process' }),
    ]
    const placed = placedBy({ hasProcessNodes: true, isMapped: () => false, resolves: (command) => command === 'sh' })
    const where = (spec: PodSpec): string[] => {
      const eligible = judgeOf({ set: aDaemonSet({ template: templateAt('x', { ...spec }) }), admit: placed, namespace: undefined })
      return nodes.filter((node) => eligible(node).shouldRun).map(({ metadata }) => metadata.name ?? '')
    }
    const shell = { containers: [{ name: 'main', image: 'x', command: ['sh'] }] }
    assert.deepEqual(where({}), ['played'])
    assert.deepEqual(where(shell), ['real'])
    assert.deepEqual(where({ ...shell, tolerations: [{ operator: 'Exists' }] }), ['real'])
  })
})

describe('the tolerations of a daemon pod', () => {
  it('come after those of the template, and without a time limit', () => {
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
    const got = daemonTolerations({ tolerations: [{ key: 'mine', operator: 'Exists' }, own] })
    assert.equal(got.length, 7)
    assert.deepEqual(got.slice(0, 2), [
      { key: 'mine', operator: 'Exists' },
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
    ])
  })
})
