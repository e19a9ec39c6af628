import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Binding, Cluster, Policy, Work } from '../../kinds/karmada/index.ts'
import { DEPLOYMENTS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type ExplainInput, explain } from './index.ts'

const template: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    labels: { 'propagationpolicy.karmada.io/permanent-id': 'p1' },
    annotations: { 'propagationpolicy.karmada.io/namespace': 'shop', 'propagationpolicy.karmada.io/name': 'web' },
  },
}
const policyOf = (name: string, selector: Record<string, unknown>): Policy =>
  ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'shop' },
    spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', ...selector }] },
  }) as Policy
const clusterOf = (name: string, ready = 'True'): Cluster =>
  ({
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Push' },
    status: { conditions: [{ type: 'Ready', status: ready, reason: 'r', message: 'cluster is not reachable', lastTransitionTime: '' }] },
  }) as Cluster
const record = {
  generation: 2,
  reason: 'Success',
  total: 2,
  chosen: 1,
  clusters: [
    { name: 'a', chosen: true, why: 'has the most room' },
    { name: 'b', chosen: false, why: 'cluster(s) had untolerated taint {x}' },
  ],
  others: { 'cluster(s) had untolerated taint {x}': 1 },
}
const bindingOf = (more: Record<string, unknown> = {}, status: Record<string, unknown> = { status: 'True' }): Binding =>
  ({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: 'web-deployment', namespace: 'shop', annotations: { 'sluice.dev/decision': JSON.stringify(record) } },
    spec: { resource: {}, replicas: 2, clusters: [{ name: 'a', replicas: 2 }], ...more },
    status: { conditions: [{ type: 'Scheduled', ...status }] },
  }) as unknown as Binding
const workOf = (cluster: string, applied: Record<string, unknown> | undefined, health = 'Healthy'): Work =>
  ({
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { name: 'web-1', namespace: `karmada-es-${cluster}` },
    spec: {},
    status: {
      conditions: applied === undefined ? [] : [{ type: 'Applied', ...applied }],
      manifestStatuses: [{ identifier: {}, health, status: { replicas: 2, readyReplicas: 1 } }],
    },
  }) as unknown as Work

const well: ExplainInput = {
  subject: { resource: DEPLOYMENTS, namespace: 'shop', name: 'web' },
  template,
  policies: [policyOf('web', {})],
  binding: bindingOf(),
  clusters: [clusterOf('a'), clusterOf('b')],
  works: [workOf('a', { status: 'True' })],
}

describe('why something is where it is', () => {
  it('shows the whole chain when all is well, and nothing to do', () => {
    const { state, fix, links, clusters, says } = explain(well)
    assert.equal(state, 'ok')
    assert.equal(fix, undefined)
    assert.equal(says, 'it is applied and healthy in a')
    assert.deepEqual(
      links.map(({ what, says: text }) => [what, text]),
      [
        ['template', 'Deployment shop/web is on the hub'],
        ['policy', 'PropagationPolicy shop/web selects it'],
        ['binding', 'ResourceBinding shop/web-deployment, 2 replicas'],
        ['schedule', 'scheduled: 1 of 2 clusters'],
      ],
    )
    assert.deepEqual(
      clusters.map(({ name, isChosen, why, replicas }) => [name, isChosen, why, replicas]),
      [
        ['a', true, 'has the most room', 2],
        ['b', false, 'cluster(s) had untolerated taint {x}', undefined],
      ],
    )
    assert.deepEqual(clusters[0]?.object, { health: 'Healthy', status: '1 of 2 ready' })
  })

  const unclaimed = { ...template, metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } } }
  const notScheduled = (reason: string, message: string): ExplainInput => ({
    ...well,
    binding: bindingOf({ clusters: [] }, { status: 'False', reason, message }),
    works: [],
  })
  const cases: [string, ExplainInput, RegExp, RegExp][] = [
    ['no template', { ...well, template: undefined, binding: undefined, works: [] }, /there is no Deployment shop\/web on the hub/, /-n/],
    [
      'no policy',
      { ...well, template: unclaimed, policies: [], binding: undefined, works: [] },
      /no policy selects it/,
      /PropagationPolicy/,
    ],
    [
      'something the detector waits for',
      {
        ...well,
        template: {
          ...template,
          metadata: {
            ...template.metadata,
            annotations: { ...template.metadata.annotations, 'sluice.dev/waiting-because': 'waits for OverridePolicy x' },
          },
        },
        binding: undefined,
        works: [],
      },
      /waits for OverridePolicy x/,
      /OverridePolicy x/,
    ],
    ['nobody runs the fleet', { ...well, binding: undefined, works: [] }, /no binding/, /sluice controllers --role hub/],
    ['no cluster fits', notScheduled('NoClusterFit', '0/2 clusters are available'), /NoClusterFit.*0\/2/, /tolerate it in the placement/],
    ['no room', notScheduled('Unschedulable', 'not enough'), /Unschedulable/, /fewer replicas/],
    ['held', { ...well, binding: bindingOf({ suspension: { scheduling: true } }) }, /suspended/, /suspension\.scheduling/],
    [
      'a cluster that is away',
      { ...well, clusters: [clusterOf('a', 'False')] },
      /a: the cluster is not ready: cluster is not reachable/,
      /bring a back/,
    ],
    ['not applied yet', { ...well, works: [workOf('a', undefined)] }, /a: not applied yet/, /moment/],
    [
      'a foreign object',
      { ...well, works: [workOf('a', { status: 'False', message: 'resource already exists in the cluster' })] },
      /already exists/,
      /conflictResolution: Overwrite/,
    ],
    ['sick', { ...well, works: [workOf('a', { status: 'True' }, 'Unhealthy')] }, /not healthy \(1 of 2 ready\)/, /describe/],
    ['no Work', { ...well, works: [] }, /a: its Work is not there yet/, /moment/],
  ]
  for (const [name, input, says, fix] of cases)
    it(`names the one thing to do: ${name}`, () => {
      const explanation = explain(input)
      assert.notEqual(explanation.state, 'ok')
      assert.match(explanation.says, says)
      assert.match(explanation.fix ?? '', fix)
    })

  const AFFINITY = 'cluster(s) did not match the placement cluster affinity constraint'
  const marked = (annotations: Record<string, string>, more: Record<string, unknown>, status: Record<string, unknown>): Binding => {
    const binding = bindingOf(more, status)
    const { labels, annotations: claim } = template.metadata
    return { ...binding, metadata: { ...binding.metadata, labels, annotations: { ...claim, ...annotations } } }
  }
  const held = (annotations: Record<string, string>): ExplainInput => ({
    ...well,
    binding: marked(annotations, { suspension: { scheduling: true }, clusters: [] }, { status: 'False' }),
    works: [],
  })
  const noFit = { status: 'False', reason: 'NoClusterFit', message: `0/2 clusters are available: 2 ${AFFINITY}` }
  const narrowedTo = (allow: readonly string[] | undefined, names: string[], clusters: { name: string; why: string }[]): ExplainInput => ({
    ...well,
    binding: marked(
      {
        'sluice.dev/narrowed-by': 'gate',
        ...(allow === undefined ? {} : { 'sluice.dev/released': JSON.stringify({ allow }) }),
        'sluice.dev/decision': JSON.stringify({
          ...record,
          clusters: clusters.map((one) => ({ ...one, chosen: false })),
          others: { [AFFINITY]: 2 },
        }),
      },
      { clusters: [], placement: { clusterAffinity: { clusterNames: names } } },
      noFit,
    ),
    works: [],
  })
  const EMPTY = '(no cluster is allowed)'
  const both = [
    { name: 'a', why: AFFINITY },
    { name: 'b', why: AFFINITY },
  ]
  const narrowings: [string, ExplainInput, string, string][] = [
    [
      'a hold that comes from an object',
      held({ 'sluice.dev/held-because': 'claim sales: no data', 'sluice.dev/held-by': 'DataSourceClaim/sales, DataSource/x' }),
      'scheduling is suspended: claim sales: no data',
      'see what holds it: sluice why datasourceclaim/sales -n shop',
    ],
    [
      'a hold of which only the reason is known',
      held({ 'sluice.dev/held-reason': 'Toy', 'sluice.dev/narrowed-by': 'toy' }),
      'scheduling is suspended: it is held (Toy)',
      'change what the message names (reason Toy, from toy): it goes on by itself then',
    ],
    [
      'no cluster in common with the policy',
      narrowedTo(['b', 'c'], [EMPTY], both),
      'no cluster is left: gate allows only b, c, and the placement of PropagationPolicy shop/web none of them',
      'let the placement of PropagationPolicy shop/web include one of b, c',
    ],
    [
      'the same without a record of what was allowed',
      narrowedTo(undefined, [EMPTY], both),
      'no cluster is left: what gate allows and the placement of PropagationPolicy shop/web have none in common',
      'let the placement of PropagationPolicy shop/web include a cluster that gate allows',
    ],
    [
      'an allowed cluster that the rest of the placement does not match',
      narrowedTo(['b'], ['b'], both),
      'no cluster is left: gate allows only b, and the placement of PropagationPolicy shop/web none of them',
      'let the placement of PropagationPolicy shop/web include one of b',
    ],
    [
      'allowed clusters that are not joined',
      narrowedTo(['x', 'y'], ['x', 'y'], both),
      'no cluster is left: gate allows only x, y, and none of them is joined',
      'join one of x, y: sluice join NAME --cluster-kubeconfig FILE',
    ],
    [
      'a taint of the only cluster that is allowed',
      narrowedTo(['b'], ['b'], [both[0] as never, { name: 'b', why: 'cluster(s) had untolerated taint {x}' }]),
      `not scheduled (NoClusterFit): ${noFit.message}`,
      'take the taint away, or tolerate it in the placement (clusterTolerations)',
    ],
  ]
  for (const [name, input, says, fix] of narrowings)
    it(`says who narrows or holds it: ${name}`, () => {
      const explanation = explain(input)
      assert.deepEqual([explanation.says, explanation.fix], [says, fix])
    })

  it('shows what is allowed beside a decision that failed', () => {
    const schedule = explain(narrowedTo(['b', 'c'], [EMPTY], both)).links.find(({ what }) => what === 'schedule')
    assert.deepEqual(schedule?.more, ['gate allows only b, c'])
  })

  describe('for those who may not read everything', () => {
    const rights = ({ links }: ReturnType<typeof explain>) => links.find(({ what }) => what === 'rights')?.says

    it('does not take for gone what it cannot see', () => {
      const explanation = explain({ ...well, policies: [], works: [], clusters: [], unreadable: ['policies', 'clusters', 'works'] })
      assert.deepEqual([explanation.state, explanation.says], ['ok', 'it is scheduled to a; how it is doing there may not be read by you'])
      assert.equal(rights(explanation), 'you may not read policies, clusters, Works')
      assert.equal(explanation.links[1]?.says, 'PropagationPolicy shop/web selects it')
    })

    it('asks for the right to read the binding, unless a module knows more', () => {
      const hidden: ExplainInput = { ...well, binding: undefined, works: [], unreadable: ['binding'] }
      assert.equal(explain(hidden).fix, 'ask an administrator for the right to read resourcebindings in namespace shop')
      const trouble = { state: 'waits' as const, says: 'the gate is closed', fix: 'open it' }
      assert.equal(explain(hidden, [{ at: 'before-schedule', links: [], trouble }]).fix, 'open it')
    })

    it('still sees a Work that was refused when clusters are hidden', () => {
      const refused = { ...well, works: [workOf('a', { status: 'False', message: 'no' })], clusters: [], unreadable: ['clusters' as const] }
      assert.deepEqual([explain(refused).state, explain(refused).says], ['fails', 'a: no'])
    })
  })

  it('takes in the links of other modules where they belong, and the first trouble counts', () => {
    const link = (what: string, state: 'ok' | 'waits') => ({ what, state, says: `${what} says so` })
    const trouble = { state: 'waits' as const, says: 'the gate is closed', fix: 'open it' }
    const added = [
      { at: 'after-schedule' as const, links: [link('later', 'ok')] },
      { at: 'before-schedule' as const, links: [link('gate', 'waits')], trouble },
      { at: 'before-schedule' as const, links: [link('second', 'waits')], trouble: { ...trouble, says: 'too late' } },
    ]
    const { links, says, fix, state } = explain(well, added)
    assert.deepEqual(
      links.map(({ what }) => what),
      ['template', 'policy', 'binding', 'gate', 'second', 'schedule', 'later'],
    )
    assert.deepEqual([state, says, fix], ['waits', 'the gate is closed', 'open it'])
    assert.deepEqual(explain(well, []), explain(well))
  })

  it('says of policies that look right why they are not', () => {
    const policies = [policyOf('other', { name: 'shop' }), policyOf('labels', { labelSelector: { matchLabels: { app: 'no' } } })]
    const [, policy] = explain({ ...well, template: unclaimed, policies, binding: undefined, works: [] }).links
    assert.deepEqual(policy?.more, [
      'PropagationPolicy shop/other does not: it is about shop, not web',
      'PropagationPolicy shop/labels does not: its labelSelector does not match',
    ])
  })

  it('comes to a sentence whatever is stored', () => {
    const anything = fc.object({ maxDepth: 2 })
    fc.assert(
      fc.property(anything, anything, (status, annotations) => {
        const binding = bindingOf()
        const odd = { ...binding, metadata: { ...binding.metadata, annotations: { 'sluice.dev/decision': JSON.stringify(annotations) } } }
        const work = { ...workOf('a', { status: 'True' }), status: { manifestStatuses: [{ status }] } } as unknown as Work
        assert.ok(explain({ ...well, binding: odd, works: [work] }).says.length > 0)
      }),
    )
  })
})
