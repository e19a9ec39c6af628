import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Node, Pod, PodSpec } from '../../../kinds/kubernetes/types.ts'
import { aNode, aPod, type Objects, on, verdicts } from '../testing.ts'

type Case = [what: string, pod: Pod, objects: Objects, said: Record<string, string> | string]

function table(filter: string, cases: readonly Case[]): void {
  describe(filter, () => {
    for (const [what, pod, objects, said] of cases) it(what, () => assert.deepEqual(verdicts(filter, pod, objects), said))
  })
}

const ZONE = 'topology.kubernetes.io/zone'
const HOST = 'kubernetes.io/hostname'
const wants = (spec: PodSpec): Pod => aPod('p', { spec })
const inZone = (name: string, zone: string, more: Record<string, string> = {}): Node => aNode(name, { labels: { [ZONE]: zone, ...more } })

const UNSCHEDULABLE = 'node(s) were unschedulable (final)'
table('NodeUnschedulable', [
  ['cordoned nodes take nobody', aPod('p'), { nodes: [aNode('a'), aNode('b', { unschedulable: true })] }, { a: 'yes', b: UNSCHEDULABLE }],
  [
    'but those who tolerate it',
    wants({ tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }] }),
    { nodes: [aNode('b', { unschedulable: true })] },
    { b: 'yes' },
  ],
])

table('NodeName', [
  ['is indifferent to pods that name none', aPod('p'), { nodes: [aNode('a')] }, 'indifferent'],
  [
    'keeps a pod to the node it names',
    wants({ nodeName: 'b' }),
    { nodes: [aNode('a'), aNode('b')] },
    { a: "node(s) didn't match the requested node name (final)", b: 'yes' },
  ],
])

const TAINTED = 'node(s) had untolerated taint(s) (final)'
const tainted = (effect: string): Node => aNode('a', { taints: [{ key: 'k', value: 'v', effect }] })
table('TaintToleration', [
  ['a taint keeps away', aPod('p'), { nodes: [tainted('NoSchedule')] }, { a: TAINTED }],
  ['so does NoExecute', aPod('p'), { nodes: [tainted('NoExecute')] }, { a: TAINTED }],
  ['PreferNoSchedule does not', aPod('p'), { nodes: [tainted('PreferNoSchedule')] }, { a: 'yes' }],
  ['equal value is tolerated', wants({ tolerations: [{ key: 'k', value: 'v' }] }), { nodes: [tainted('NoSchedule')] }, { a: 'yes' }],
  ['another value is not', wants({ tolerations: [{ key: 'k', value: 'w' }] }), { nodes: [tainted('NoSchedule')] }, { a: TAINTED }],
  [
    'another effect is not',
    wants({ tolerations: [{ key: 'k', value: 'v', effect: 'NoExecute' }] }),
    { nodes: [tainted('NoSchedule')] },
    { a: TAINTED },
  ],
  ['no key with Exists tolerates all', wants({ tolerations: [{ operator: 'Exists' }] }), { nodes: [tainted('NoExecute')] }, { a: 'yes' }],
])

const MISMATCH = "node(s) didn't match Pod's node affinity/selector (final)"
const required = (...nodeSelectorTerms: object[]): Pod =>
  wants({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } })
const expression = (key: string, operator: string, ...values: string[]): object => ({ matchExpressions: [{ key, operator, values }] })
const named = (operator: string, ...values: string[]): object => ({ matchFields: [{ key: 'metadata.name', operator, values }] })
const [east, west] = [inZone('e', 'east', { size: '10' }), inZone('w', 'west', { size: '5' })]
table('NodeAffinity', [
  ['is indifferent to pods that ask for nothing', aPod('p'), { nodes: [east] }, 'indifferent'],
  ['nodeSelector', wants({ nodeSelector: { [ZONE]: 'east' } }), { nodes: [east, west] }, { e: 'yes', w: MISMATCH }],
  ['In', required(expression(ZONE, 'In', 'west', 'north')), { nodes: [east, west] }, { e: MISMATCH, w: 'yes' }],
  ['NotIn', required(expression(ZONE, 'NotIn', 'west')), { nodes: [east, west] }, { e: 'yes', w: MISMATCH }],
  ['Exists', required(expression('size', 'Exists')), { nodes: [east, aNode('a')] }, { e: 'yes', a: MISMATCH }],
  ['DoesNotExist', required(expression('size', 'DoesNotExist')), { nodes: [east, aNode('a')] }, { e: MISMATCH, a: 'yes' }],
  ['Gt', required(expression('size', 'Gt', '7')), { nodes: [east, west] }, { e: 'yes', w: MISMATCH }],
  ['Lt', required(expression('size', 'Lt', '7')), { nodes: [east, west] }, { e: MISMATCH, w: 'yes' }],
  ['one term of several suffices', required(expression('x', 'Exists'), expression(ZONE, 'In', 'east')), { nodes: [east] }, { e: 'yes' }],
  ['a term that says nothing selects nothing', required({}), { nodes: [east] }, { e: MISMATCH }],
  ['no term at all selects nothing', required(), { nodes: [east] }, { e: MISMATCH }],
  ['by name', required(named('In', 'w')), { nodes: [east, west] }, { e: MISMATCH, w: 'yes' }],
  ['not by name', required(named('NotIn', 'w')), { nodes: [east, west] }, { e: 'yes', w: MISMATCH }],
  [
    'names that exclude each other',
    required({ matchFields: ['a', 'b'].map((name) => ({ key: 'metadata.name', operator: 'In', values: [name] })) }),
    { nodes: [east] },
    'refused: pod affinity terms conflict',
  ],
  [
    'selector and affinity must both hold',
    wants({
      nodeSelector: { [ZONE]: 'east' },
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [expression('size', 'Lt', '7')] } },
      },
    }),
    { nodes: [east, west] },
    { e: MISMATCH, w: MISMATCH },
  ],
])

const PORTS = "node(s) didn't have free ports for the requested pod ports"
const port = (hostPort: number, hostIP?: string, protocol = 'TCP'): PodSpec => ({
  containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort, hostIP, protocol }] }],
})
const taken = (spec: PodSpec): Objects => ({ nodes: [aNode('a')], pods: [on('a', aPod('q', { spec }))] })
table('NodePorts', [
  ['is indifferent to pods without host ports', aPod('p'), taken(port(80)), 'indifferent'],
  ['a port is taken once', wants(port(80)), taken(port(80)), { a: PORTS }],
  ['another port is free', wants(port(81)), taken(port(80)), { a: 'yes' }],
  ['another protocol is free', wants(port(80, undefined, 'UDP')), taken(port(80)), { a: 'yes' }],
  ['another address is free', wants(port(80, '127.0.0.1')), taken(port(80, '127.0.0.2')), { a: 'yes' }],
  ['all addresses include each', wants(port(80, '127.0.0.1')), taken(port(80)), { a: PORTS }],
  ['each is among all', wants(port(80, '0.0.0.0')), taken(port(80, '127.0.0.2')), { a: PORTS }],
  [
    'sidecars keep their ports',
    wants(port(80)),
    taken({ containers: [], initContainers: [{ name: 'i', restartPolicy: 'Always', ports: [{ hostPort: 80 }] }] }),
    { a: PORTS },
  ],
  [
    'other init containers do not',
    wants(port(80)),
    taken({ containers: [], initContainers: [{ name: 'i', ports: [{ hostPort: 80 }] }] }),
    { a: 'yes' },
  ],
])

const container = (cpu: string, restartPolicy?: string): object => ({ name: cpu, restartPolicy, resources: { requests: { cpu } } })
const init = (containers: object[], initContainers: object[], more: PodSpec = {}): Pod => wants({ containers, initContainers, ...more })
const full = (cpu: string): Objects => ({ nodes: [aNode('a', { cpu })], pods: [on('a', aPod('q', { cpu: '1' }))] })
table('NodeResourcesFit', [
  ['what is left suffices', aPod('p', { cpu: '1' }), full('2'), { a: 'yes' }],
  ['what is left does not suffice', aPod('p', { cpu: '1001m' }), full('2'), { a: 'Insufficient cpu' }],
  ['nor would an empty node', aPod('p', { cpu: '3' }), full('2'), { a: 'Insufficient cpu (final)' }],
  ['several things at once', aPod('p', { cpu: '2', memory: '9Gi' }), full('2'), { a: 'Insufficient cpu, Insufficient memory (final)' }],
  ['the number of pods', aPod('p'), { nodes: [aNode('a', { pods: 1 })], pods: [on('a', aPod('q'))] }, { a: 'Too many pods' }],
  [
    'extended resources',
    wants({ containers: [{ name: 'c', resources: { requests: { 'example.com/gpu': '2' } } }] }),
    { nodes: [aNode('a'), aNode('b', { extended: { 'example.com/gpu': '2' } })] },
    { a: 'Insufficient example.com/gpu (final)', b: 'yes' },
  ],
  [
    'ephemeral storage',
    wants({ containers: [{ name: 'c', resources: { requests: { 'ephemeral-storage': '1Gi' } } }] }),
    { nodes: [aNode('a', { extended: { 'ephemeral-storage': '1023Mi' } })] },
    { a: 'Insufficient ephemeral-storage (final)' },
  ],
  [
    'init containers run one after another',
    init([container('1')], [container('2'), container('2')]),
    { nodes: [aNode('a', { cpu: '2' })] },
    { a: 'yes' },
  ],
  [
    'the largest of them counts',
    init([container('1')], [container('3')]),
    { nodes: [aNode('a', { cpu: '2' })] },
    { a: 'Insufficient cpu (final)' },
  ],
  // Sidecar 1 + container 1 = 2, and while the second init container starts: sidecar 1 + 2 = 3.
  [
    'sidecars run beside all',
    init([container('1')], [container('1', 'Always'), container('2')]),
    { nodes: [aNode('a', { cpu: '2' })] },
    { a: 'Insufficient cpu (final)' },
  ],
  [
    'but not beside what was before them',
    init([container('1')], [container('2'), container('1', 'Always')]),
    { nodes: [aNode('a', { cpu: '2' })] },
    { a: 'yes' },
  ],
  [
    'overhead comes on top',
    init([container('2')], [], { overhead: { cpu: '1m' } }),
    { nodes: [aNode('a', { cpu: '2' })] },
    { a: 'Insufficient cpu (final)' },
  ],
  [
    'the pod as a whole may say it',
    init([container('1')], [], { resources: { requests: { cpu: '3' } } }),
    { nodes: [aNode('a', { cpu: '2' })] },
    { a: 'Insufficient cpu (final)' },
  ],
  [
    'finished pods hold nothing',
    aPod('p', { cpu: '2' }),
    { nodes: [aNode('a', { cpu: '2' })], pods: [on('a', aPod('q', { cpu: '1', status: { phase: 'Succeeded' } }))] },
    { a: 'yes' },
  ],
  [
    'a resize under way holds the larger amount',
    aPod('p', { cpu: '1' }),
    {
      nodes: [aNode('a', { cpu: '3' })],
      pods: [
        on('a', aPod('q', { cpu: '1', status: { containerStatuses: [{ name: 'main', resources: { requests: { cpu: '2500m' } } }] } })),
      ],
    },
    { a: 'Insufficient cpu' },
  ],
])

const SKEWED = "node(s) didn't match pod topology spread constraints"
const spread = (more: object = {}): object => ({
  maxSkew: 1,
  topologyKey: ZONE,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app: 'x' } },
  ...more,
})
const spreading = (...topologySpreadConstraints: object[]): Pod =>
  aPod('p', { labels: { app: 'x' }, spec: { topologySpreadConstraints, containers: [] } })
const appX = (name: string, node: string, more: object = {}): Pod => on(node, { ...aPod(name, { labels: { app: 'x' } }), ...more })
const twoZones = [inZone('e1', 'east'), inZone('e2', 'east'), inZone('w1', 'west')]
table('PodTopologySpread', [
  ['is indifferent to pods without constraints', aPod('p'), { nodes: twoZones }, 'indifferent'],
  ['and to those that only wish', spreading(spread({ whenUnsatisfiable: 'ScheduleAnyway' })), { nodes: twoZones }, 'indifferent'],
  ['the emptier zone', spreading(spread()), { nodes: twoZones, pods: [appX('q', 'e1')] }, { e1: SKEWED, e2: SKEWED, w1: 'yes' }],
  [
    'more skew allowed',
    spreading(spread({ maxSkew: 2 })),
    { nodes: twoZones, pods: [appX('q', 'e1')] },
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
  [
    'pods of others do not count',
    spreading(spread()),
    { nodes: twoZones, pods: [on('e1', aPod('q'))] },
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
  [
    'nor of other namespaces, nor those that leave',
    spreading(spread()),
    {
      nodes: twoZones,
      pods: [
        on('e1', aPod('q', { labels: { app: 'x' }, namespace: 'other' })),
        appX('r', 'e2', { metadata: { namespace: 'default', name: 'r', labels: { app: 'x' }, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      ],
    },
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
  ['nodes without the label', spreading(spread()), { nodes: [aNode('a')] }, { a: `${SKEWED} (missing required label) (final)` }],
  [
    'fewer domains than wanted: the emptiest counts as empty',
    spreading(spread({ minDomains: 3 })),
    { nodes: twoZones, pods: [appX('q', 'e1'), appX('r', 'w1')] },
    { e1: SKEWED, e2: SKEWED, w1: SKEWED },
  ],
  [
    'nodes the pod may not use do not count as domains',
    { ...spreading(spread()), spec: { containers: [], nodeSelector: { [ZONE]: 'east' }, topologySpreadConstraints: [spread()] } },
    { nodes: twoZones, pods: [appX('q', 'e1')] },
    // The only domain is east, with 1: 1 + 1 - 1 = 1. West has none of its own: 0 + 1 - 1.
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
  [
    'unless the policy is to ignore it',
    {
      ...spreading(),
      spec: { containers: [], nodeSelector: { [ZONE]: 'east' }, topologySpreadConstraints: [spread({ nodeAffinityPolicy: 'Ignore' })] },
    },
    { nodes: twoZones, pods: [appX('q', 'e1')] },
    { e1: SKEWED, e2: SKEWED, w1: 'yes' },
  ],
  [
    'tainted nodes count, unless taints are honoured',
    spreading(spread({ nodeTaintsPolicy: 'Honor' })),
    {
      nodes: [inZone('e1', 'east'), aNode('w1', { labels: { [ZONE]: 'west' }, taints: [{ key: 'k', effect: 'NoSchedule' }] })],
      pods: [appX('q', 'e1')],
    },
    { e1: 'yes', w1: 'yes' },
  ],
  [
    'matchLabelKeys narrow it to the same revision',
    aPod('p', {
      labels: { app: 'x', rev: '2' },
      spec: { containers: [], topologySpreadConstraints: [spread({ matchLabelKeys: ['rev'] })] },
    }),
    { nodes: twoZones, pods: [on('e1', aPod('q', { labels: { app: 'x', rev: '1' } }))] },
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
  [
    'a pod its own selector does not select adds nothing',
    spreading(spread({ labelSelector: { matchLabels: { app: 'y' } } })),
    { nodes: twoZones, pods: [on('e1', aPod('q', { labels: { app: 'y' } }))] },
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
  [
    'two constraints at once',
    spreading(spread(), spread({ topologyKey: HOST })),
    { nodes: twoZones, pods: [appX('q', 'w1')] },
    { e1: 'yes', e2: 'yes', w1: SKEWED },
  ],
])

const [NOT_NEAR, TOO_NEAR, UNWANTED] = [
  "node(s) didn't match pod affinity rules (final)",
  "node(s) didn't match pod anti-affinity rules",
  "node(s) didn't satisfy existing pods anti-affinity rules",
]
const term = (app: string, topologyKey = ZONE, more: object = {}): object => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
  ...more,
})
const near = (...terms: object[]): PodSpec => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } as never,
  containers: [],
})
const far = (...terms: object[]): PodSpec => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } as never,
  containers: [],
})
const other = (name: string, node: string, app: string, more: object = {}): Pod => on(node, aPod(name, { labels: { app }, ...more }))
table('InterPodAffinity', [
  ['is indifferent when nobody minds', aPod('p'), { nodes: twoZones, pods: [other('q', 'e1', 'x')] }, 'indifferent'],
  [
    'near in the same zone',
    wants(near(term('x'))),
    { nodes: twoZones, pods: [other('q', 'e1', 'x')] },
    { e1: 'yes', e2: 'yes', w1: NOT_NEAR },
  ],
  [
    'near on the same host',
    wants(near(term('x', HOST))),
    { nodes: twoZones, pods: [other('q', 'e1', 'x')] },
    { e1: 'yes', e2: NOT_NEAR, w1: NOT_NEAR },
  ],
  ['nobody there to be near to', wants(near(term('x'))), { nodes: twoZones }, { e1: NOT_NEAR, e2: NOT_NEAR, w1: NOT_NEAR }],
  [
    'the first of its kind may go anywhere',
    aPod('p', { labels: { app: 'x' }, spec: near(term('x')) }),
    { nodes: twoZones },
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
  [
    'but only where the label is',
    aPod('p', { labels: { app: 'x' }, spec: near(term('x')) }),
    { nodes: [aNode('a'), inZone('e1', 'east')] },
    { a: NOT_NEAR, e1: 'yes' },
  ],
  [
    'one pod must match all terms',
    wants(near(term('x'), { topologyKey: ZONE, labelSelector: { matchLabels: { tier: 'db' } } })),
    {
      nodes: twoZones,
      pods: [
        other('q', 'e1', 'x'),
        on('e1', aPod('r', { labels: { tier: 'db' } })),
        on('w1', aPod('s', { labels: { app: 'x', tier: 'db' } })),
      ],
    },
    { e1: NOT_NEAR, e2: NOT_NEAR, w1: 'yes' },
  ],
  ['far', wants(far(term('x'))), { nodes: twoZones, pods: [other('q', 'e1', 'x')] }, { e1: TOO_NEAR, e2: TOO_NEAR, w1: 'yes' }],
  [
    'far in the other direction',
    aPod('p', { labels: { app: 'y' } }),
    { nodes: twoZones, pods: [other('q', 'e1', 'x', { spec: far(term('y')) })] },
    { e1: UNWANTED, e2: UNWANTED, w1: 'yes' },
  ],
  [
    'other namespaces do not count',
    wants(near(term('x'))),
    { nodes: twoZones, pods: [other('q', 'e1', 'x', { namespace: 'n' })] },
    { e1: NOT_NEAR, e2: NOT_NEAR, w1: NOT_NEAR },
  ],
  [
    'unless named',
    wants(near(term('x', ZONE, { namespaces: ['n'] }))),
    { nodes: twoZones, pods: [other('q', 'e1', 'x', { namespace: 'n' })] },
    { e1: 'yes', e2: 'yes', w1: NOT_NEAR },
  ],
  [
    'or selected by label',
    wants(near(term('x', ZONE, { namespaceSelector: { matchLabels: { team: 'a' } } }))),
    {
      nodes: twoZones,
      namespaces: [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', labels: { team: 'a' } } },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'm', labels: { team: 'b' } } },
      ],
      pods: [other('q', 'e1', 'x', { namespace: 'n' }), other('r', 'w1', 'x', { namespace: 'm' })],
    },
    { e1: 'yes', e2: 'yes', w1: NOT_NEAR },
  ],
  [
    'no selector selects nobody',
    wants(far({ topologyKey: ZONE })),
    { nodes: twoZones, pods: [other('q', 'e1', 'x')] },
    { e1: 'yes', e2: 'yes', w1: 'yes' },
  ],
])
