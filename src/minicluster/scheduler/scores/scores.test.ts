import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Node, Pod, PodSpec } from '../../../kinds/kubernetes/types.ts'
import { podInfo } from '../state/pod-info.ts'
import { aNode, aPod, aSnapshot, type Objects, on } from '../testing.ts'
import { SCORES } from './all.ts'

/** The result of one score for each node, after normalising. */
function scores(name: string, pod: Pod, objects: Objects): Record<string, number> | 'indifferent' {
  const snapshot = aSnapshot(objects)
  const { nodes } = snapshot.cluster
  const score = SCORES.find((one) => one.name === name)
  const prepared = score?.prepare(podInfo(pod), snapshot, nodes)
  if (prepared === undefined) return 'indifferent'
  const all = nodes.map((node) => prepared.of(node))
  prepared.normalise?.(all, nodes)
  return Object.fromEntries(nodes.map(({ name: node }, i) => [node, all[i] ?? Number.NaN]))
}

const ZONE = 'topology.kubernetes.io/zone'
const soft = (name: string, ...keys: string[]): Node => aNode(name, { taints: keys.map((key) => ({ key, effect: 'PreferNoSchedule' })) })
const inZone = (name: string, zone: string): Node => aNode(name, { labels: { [ZONE]: zone } })
const twoZones = [inZone('e1', 'east'), inZone('e2', 'east'), inZone('w1', 'west')]
const wants = (spec: PodSpec, labels?: Record<string, string>): Pod => aPod('p', { spec, labels })

const cases: [score: string, what: string, pod: Pod, objects: Objects, said: Record<string, number> | 'indifferent'][] = [
  [
    'TaintToleration',
    'fewer soft taints are better',
    aPod('p'),
    { nodes: [soft('a'), soft('b', 'k'), soft('c', 'k', 'l')] },
    { a: 100, b: 50, c: 0 },
  ],
  [
    'TaintToleration',
    'tolerated ones do not count',
    wants({ tolerations: [{ key: 'k', operator: 'Exists' }] }),
    { nodes: [soft('a', 'k'), soft('b', 'l')] },
    { a: 100, b: 0 },
  ],
  ['NodeAffinity', 'says nothing without preferences', aPod('p'), { nodes: [aNode('a')] }, 'indifferent'],
  [
    'NodeAffinity',
    'the weights that hold, in proportion to the best',
    wants({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, preference: { matchExpressions: [{ key: 'x', operator: 'Exists' }] } },
            { weight: 5, preference: { matchExpressions: [{ key: 'y', operator: 'Exists' }] } },
          ],
        },
      },
    }),
    { nodes: [aNode('a', { labels: { x: '', y: '' } }), aNode('b', { labels: { y: '' } }), aNode('c')] },
    { a: 100, b: 33, c: 0 },
  ],
  // CPU (4000-1000)/4000 = 75 %, memory (8-2)/8 = 75 %; on b another 1 CPU and 4Gi: 50 % and 25 %, together 37.
  [
    'NodeResourcesFit',
    'the larger share left, the better',
    aPod('p', { cpu: '1', memory: '2Gi' }),
    { nodes: [aNode('a'), aNode('b')], pods: [on('b', aPod('q', { cpu: '1', memory: '4Gi' }))] },
    { a: 75, b: 37 },
  ],
  // 100m of 4 CPU leave 97 (97.5), 200Mi of 8Gi leave 97 (97.6); on b twice that: 95 and 95.
  [
    'NodeResourcesFit',
    'who asks for nothing counts for a little',
    aPod('p'),
    { nodes: [aNode('a'), aNode('b')], pods: [on('b', aPod('q'))] },
    { a: 97, b: 95 },
  ],
  ['NodeResourcesBalancedAllocation', 'says nothing of pods that ask for nothing', aPod('p'), { nodes: [aNode('a')] }, 'indifferent'],
  // a: from (0, 0) to (1/4, 0): balance from 100 to 87, so 50 + (50 - 13) / 2 = 68. b: from (0, 1/2) to (1/4, 1/2): 75 to 87: 50 + (50 + 12) / 2 = 81.
  [
    'NodeResourcesBalancedAllocation',
    'what comes closer together is better',
    aPod('p', { cpu: '1' }),
    { nodes: [aNode('a'), aNode('b')], pods: [on('b', aPod('q', { memory: '4Gi' }))] },
    { a: 68, b: 81 },
  ],
  ['PodTopologySpread', 'says nothing of a pod without siblings', aPod('p'), { nodes: twoZones }, 'indifferent'],
  // Hosts: 1 × ln 5 + 2 = 3.6 → 4 on a, 2 elsewhere; 100 × (4 + 2 - 4) / 4 = 50 and 100.
  [
    'PodTopologySpread',
    'siblings are spread over hosts by default',
    aPod('p', { labels: { app: 'x' }, owner: { kind: 'ReplicaSet', name: 'x' } }),
    {
      nodes: [aNode('a'), aNode('b'), aNode('c')],
      pods: [on('a', aPod('q', { labels: { app: 'x' } }))],
      replicaSets: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          metadata: { namespace: 'default', name: 'x' },
          spec: { selector: { matchLabels: { app: 'x' } } },
        },
      ],
    },
    { a: 50, b: 100, c: 100 },
  ],
  [
    'PodTopologySpread',
    'and so are the pods of a service',
    aPod('p', { labels: { app: 'x' } }),
    {
      nodes: [aNode('a'), aNode('b'), aNode('c')],
      pods: [on('a', aPod('q', { labels: { app: 'x' } }))],
      services: [{ apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'default', name: 'x' }, spec: { selector: { app: 'x' } } }],
    },
    { a: 50, b: 100, c: 100 },
  ],
  // East: 2 × ln 4 + 0 = 2.77 → 3; west 0. 100 × (3 + 0 - 3) / 3 = 0 and 100.
  [
    'PodTopologySpread',
    'constraints that are wishes',
    wants(
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: { app: 'x' } } },
        ],
      },
      { app: 'x' },
    ),
    { nodes: [...twoZones, aNode('n')], pods: ['e1', 'e2'].map((node) => on(node, aPod(`q${node}`, { labels: { app: 'x' } }))) },
    { e1: 0, e2: 0, w1: 100, n: 0 },
  ],
  ['InterPodAffinity', 'says nothing when nobody cares', aPod('p'), { nodes: twoZones, pods: [on('e1', aPod('q'))] }, 'indifferent'],
  [
    'InterPodAffinity',
    'near those it prefers, away from those it avoids',
    wants({
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, podAffinityTerm: { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'x' } } } },
          ],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 4, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'y' } } } },
          ],
        },
      },
    }),
    { nodes: twoZones, pods: [on('e1', aPod('q', { labels: { app: 'x' } })), on('e2', aPod('r', { labels: { app: 'y' } }))] },
    // 10, 10 - 4 and 0.
    { e1: 100, e2: 60, w1: 0 },
  ],
  [
    'InterPodAffinity',
    'near those that want it near',
    aPod('p', { labels: { app: 'y' } }),
    {
      nodes: twoZones,
      pods: [
        on(
          'w1',
          aPod('q', {
            spec: {
              affinity: {
                podAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: { matchLabels: { app: 'y' } } }],
                },
              },
            },
          }),
        ),
      ],
    },
    { e1: 0, e2: 0, w1: 100 },
  ],
]

describe('scores', () => {
  for (const [score, what, pod, objects, said] of cases)
    it(`${score}: ${what}`, () => {
      assert.deepEqual(scores(score, pod, objects), said)
    })

  it('have the weights of Kubernetes', () => {
    assert.deepEqual(Object.fromEntries(SCORES.map(({ name, weight }) => [name, weight])), {
      TaintToleration: 3,
      NodeAffinity: 2,
      NodeResourcesFit: 1,
      PodTopologySpread: 2,
      InterPodAffinity: 2,
      NodeResourcesBalancedAllocation: 1,
    })
  })
})
