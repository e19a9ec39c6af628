import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ClusterPropagationPolicy, PropagationPolicy } from '../index.ts'
import {
  CLUSTER_PROPAGATION_POLICY_FINALIZER,
  CLUSTER_PROPAGATION_POLICY_ID,
  PROPAGATION_POLICY_FINALIZER,
  PROPAGATION_POLICY_ID,
} from '../well-known.ts'
import { aComing, admit } from './testing.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const selector = { apiVersion: 'apps/v1', kind: 'Deployment' }
const spec = (more: Record<string, unknown> = {}) => ({ spec: { resourceSelectors: [{ ...selector, name: 'web' }], ...more } })
const placed = (placement: Record<string, unknown>) => spec({ placement })
const divided = (more: Record<string, unknown>) => ({ replicaScheduling: { replicaSchedulingType: 'Divided', ...more } })
const application = (more: Record<string, unknown> = {}) =>
  spec({ propagateDeps: true, failover: { application: { decisionConditions: {}, ...more } } })

async function filled(content: Record<string, unknown>): Promise<PropagationPolicy['spec']> {
  const { object, schema, refused } = await admit(PropagationPolicy, content)
  assert.deepEqual([...schema, ...refused], [])
  return (object as PropagationPolicy).spec
}

describe('a propagation policy that comes in', () => {
  it('gets its id and its finalizer, whatever id it brings', async () => {
    const brought = { labels: { [PROPAGATION_POLICY_ID]: 'copied', team: 'a' }, finalizers: ['example.test/own'] }
    const { metadata } = (await admit(PropagationPolicy, spec(), { metadata: brought })).object
    assert.match(metadata.labels?.[PROPAGATION_POLICY_ID] ?? '', UUID)
    assert.equal(metadata.labels?.team, 'a')
    assert.deepEqual(metadata.finalizers, ['example.test/own', PROPAGATION_POLICY_FINALIZER])
    const wide = (await admit(ClusterPropagationPolicy, spec())).object.metadata
    assert.match(wide.labels?.[CLUSTER_PROPAGATION_POLICY_ID] ?? '', UUID)
    assert.equal(wide.labels?.[PROPAGATION_POLICY_ID], undefined)
    assert.deepEqual(wide.finalizers, [CLUSTER_PROPAGATION_POLICY_FINALIZER])
  })

  it('gets neither again when it is updated', async () => {
    const { object: old } = await admit(PropagationPolicy, spec())
    const { object, refused } = await admit(PropagationPolicy, spec({ priority: 3 }), { old, metadata: { labels: old.metadata.labels } })
    assert.deepEqual(refused, [])
    assert.deepEqual(object.metadata.labels, old.metadata.labels)
    assert.equal(object.metadata.finalizers, undefined)
  })

  it('that moves applications must say when one has failed', async () => {
    for (const of of [PropagationPolicy, ClusterPropagationPolicy]) {
      const { schema } = await admit(of, spec({ propagateDeps: true, failover: { application: {} } }))
      assert.deepEqual(schema, ['spec.failover.application.decisionConditions: Required value'])
    }
  })

  it('has the defaults of the schema', async () => {
    const { priority, preemption, conflictResolution, schedulerName } = await filled(spec())
    assert.deepEqual(
      { priority, preemption, conflictResolution, schedulerName },
      {
        priority: 0,
        preemption: 'Never',
        conflictResolution: 'Abort',
        schedulerName: 'default-scheduler',
      },
    )
  })

  it('selects in its own namespace; one without a namespace leaves it open', async () => {
    assert.equal((await filled({ spec: { resourceSelectors: [selector] } })).resourceSelectors[0]?.namespace, 'work')
    const { object } = await admit(ClusterPropagationPolicy, spec())
    assert.equal((object as ClusterPropagationPolicy).spec.resourceSelectors[0]?.namespace, undefined)
  })

  it('spreads by cluster over at least one group where nothing is said', async () => {
    const { placement } = await filled(placed({ spreadConstraints: [{}, { spreadByLabel: 'x', minGroups: 0 }] }))
    assert.deepEqual(placement?.spreadConstraints, [
      { spreadByField: 'cluster', minGroups: 1 },
      { spreadByLabel: 'x', minGroups: 1 },
    ])
  })

  it('divides by weight where it divides and does not say how', async () => {
    const strategy = async (replicaScheduling: Record<string, unknown>) =>
      (await filled(placed({ replicaScheduling }))).placement?.replicaScheduling
    assert.deepEqual(await strategy({}), { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' })
    assert.deepEqual(await strategy({ replicaSchedulingType: 'Duplicated' }), { replicaSchedulingType: 'Duplicated' })
    assert.equal((await strategy({ replicaDivisionPreference: 'Aggregated' }))?.replicaDivisionPreference, 'Aggregated')
    assert.deepEqual((await filled(placed({}))).placement, {})
  })

  it('takes what it refers to along when it imports services', async () => {
    const imported = { apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceImport' }
    assert.equal((await filled({ spec: { resourceSelectors: [selector, imported] } })).propagateDeps, true)
    const other = { ...imported, apiVersion: 'multicluster.x-k8s.io/v1beta1' }
    assert.equal((await filled({ spec: { resourceSelectors: [other] } })).propagateDeps, undefined)
  })

  it('waits ten minutes for the new copy where it moves gracefully, and knows the old names of the modes', async () => {
    const behavior = async (more: Record<string, unknown>) => (await filled(application(more))).failover?.application
    assert.deepEqual(await behavior({}), {
      decisionConditions: { tolerationSeconds: 300 },
      purgeMode: 'Gracefully',
      gracePeriodSeconds: 600,
    })
    assert.equal((await behavior({ gracePeriodSeconds: 5 }))?.gracePeriodSeconds, 5)
    assert.deepEqual(await behavior({ purgeMode: 'Immediately' }), {
      decisionConditions: { tolerationSeconds: 300 },
      purgeMode: 'Directly',
    })
    assert.deepEqual(await behavior({ purgeMode: 'Graciously' }), await behavior({ purgeMode: 'Gracefully' }))
    const cluster = await filled(spec({ failover: { cluster: { purgeMode: 'Immediately' } } }))
    assert.equal(cluster.failover?.cluster?.purgeMode, 'Directly')
    assert.equal((await filled(spec({ failover: { cluster: {} } }))).failover?.cluster?.purgeMode, 'Gracefully')
  })
})

describe('a propagation policy', () => {
  const group = (affinityName: string, more: Record<string, unknown> = {}) => ({ affinityName, clusterNames: ['a'], ...more })
  const aggregated = divided({ replicaDivisionPreference: 'Aggregated' })
  const dynamic = divided({ replicaDivisionPreference: 'Weighted', weightPreference: { dynamicWeight: 'AvailableReplicas' } })
  const byField = (key: string, operator: string) => ({ fieldSelector: { matchExpressions: [{ key, operator, values: ['x'] }] } })

  const accepted: [string, Record<string, unknown>][] = [
    ['with nothing but selectors', spec()],
    ['with one affinity', placed({ clusterAffinity: { clusterNames: ['a'] } })],
    ['with named groups', placed({ clusterAffinities: [group('a'), group('b')] })],
    ['that overflows when aggregated', placed({ clusterAffinities: [group('a', { overflowAffinities: [group('b')] })], ...aggregated })],
    ['that overflows by dynamic weight', placed({ clusterAffinities: [group('a', { overflowAffinities: [group('b')] })], ...dynamic })],
    ['that selects by region', placed({ clusterAffinity: byField('region', 'In') })],
    ['that avoids a zone', placed({ clusterAffinity: byField('zone', 'NotIn') })],
    [
      'that spreads over regions and clusters',
      placed({
        spreadConstraints: [
          { spreadByField: 'region', maxGroups: 2 },
          { spreadByField: 'cluster', maxGroups: 3 },
        ],
      }),
    ],
    ['that spreads by label', placed({ spreadConstraints: [{ spreadByLabel: 'x' }] })],
    [
      'that tolerates',
      placed({
        clusterTolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', value: 'c' },
        ],
      }),
    ],
    [
      'with workloads that attract and repel',
      placed({ workloadAffinity: { affinity: { groupByLabelKey: 'a' }, antiAffinity: { groupByLabelKey: 'b' } } }),
    ],
    [
      'that moves applications',
      application({ gracePeriodSeconds: 10, statePreservation: { rules: [{ aliasLabelName: 'a.b/c', jsonPath: '{.x}' }] } }),
    ],
    ['that moves applications at once', application({ purgeMode: 'Directly', decisionConditions: { tolerationSeconds: 0 } })],
    ['that preempts by name', spec({ preemption: 'Always' })],
    ['that suspends', spec({ suspension: { dispatching: true, dispatchingOnClusters: { clusterNames: [] } } })],
    ['that suspends some', spec({ suspension: { dispatching: false, dispatchingOnClusters: { clusterNames: ['a'] } } })],
  ]
  for (const [name, content] of accepted)
    it(`is accepted ${name}`, async () => {
      const { schema, refused } = await admit(PropagationPolicy, content)
      assert.deepEqual([...schema, ...refused], [])
    })

  const refusedBy: [string, Record<string, unknown>, RegExp][] = [
    [
      'one affinity and groups',
      placed({ clusterAffinity: {}, clusterAffinities: [group('a')] }),
      /^spec\.placement: .*: clusterAffinities cannot co-exist with clusterAffinity$/,
    ],
    [
      'overflow of duplicated replicas',
      placed({ clusterAffinities: [group('a', { overflowAffinities: [group('b')] })] }),
      /^spec\.placement\.clusterAffinities\[0\]\.overflowAffinities: .*: overflowAffinities can only be used together with dynamic weight or aggregated scheduling$/,
    ],
    [
      'overflow by static weight',
      placed({ clusterAffinities: [group('a', { overflowAffinities: [group('b')] })], ...divided({}) }),
      /dynamic weight or aggregated scheduling$/,
    ],
    [
      'overflow of a group of no clusters',
      placed({ clusterAffinities: [{ affinityName: 'a', overflowAffinities: [group('b')] }], ...aggregated }),
      /overflowAffinities: .*: overflowAffinities can only be used together with the inline ClusterAffinity$/,
    ],
    [
      'overflow named as its group',
      placed({ clusterAffinities: [group('a', { overflowAffinities: [group('a')] })], ...aggregated }),
      /overflowAffinities\[0\]\.affinityName: Invalid value: "a": overflow affinity name must be unique/,
    ],
    [
      'overflows of one name',
      placed({ clusterAffinities: [group('a', { overflowAffinities: [group('b'), group('b')] })], ...aggregated }),
      /overflowAffinities\[1\]\.affinityName/,
    ],
    [
      'an overflow with a bad name',
      placed({ clusterAffinities: [group('a', { overflowAffinities: [group('b!')] })], ...aggregated }),
      /overflowAffinities\[0\]\.affinityName: Invalid value: "b!": name part must consist/,
    ],
    [
      'an overflow by an unknown field',
      placed({ clusterAffinities: [group('a', { overflowAffinities: [group('b', byField('x', 'In'))] })], ...aggregated }),
      /overflowAffinities\[0\]\.fieldSelector/,
    ],
    [
      'a group with a bad name',
      placed({ clusterAffinities: [group('a b')] }),
      /^spec\.placement\.clusterAffinities\[0\]: Invalid value: "a b": name part must consist/,
    ],
    [
      'groups of one name',
      placed({ clusterAffinities: [group('a'), group('a')] }),
      /^spec\.placement\.clusterAffinities: .*: each affinity term in a policy must have a unique name$/,
    ],
    [
      'an unknown field',
      placed({ clusterAffinity: byField('size', 'In') }),
      /^spec\.placement\.clusterAffinity\.fieldSelector: .*: unsupported key "size", must be provider, region, or zone$/,
    ],
    [
      'an unknown operator',
      placed({ clusterAffinity: byField('region', 'Exists') }),
      /: unsupported operator "Exists", must be In or NotIn$/,
    ],
    [
      'a group by an unknown field',
      placed({ clusterAffinities: [group('a', byField('x', 'In'))] }),
      /^spec\.placement\.clusterAffinities\[0\]\.fieldSelector: /,
    ],
    [
      'spread by label and field',
      placed({ spreadConstraints: [{ spreadByField: 'cluster', spreadByLabel: 'x' }] }),
      /^spec\.placement\.spreadConstraints\[0\]: .*: spreadByLabel should not co-exist with spreadByField$/,
    ],
    [
      'fewer groups than none',
      placed({ spreadConstraints: [{ spreadByField: 'cluster', minGroups: -1 }] }),
      /minGroups lower than 0 is not allowed$/,
    ],
    [
      'at most fewer than none',
      placed({ spreadConstraints: [{ spreadByField: 'cluster', maxGroups: -1 }] }),
      /maxGroups lower than 0 is not allowed$/,
    ],
    [
      'at most fewer than at least',
      placed({ spreadConstraints: [{ spreadByField: 'cluster', minGroups: 3, maxGroups: 2 }] }),
      /maxGroups lower than minGroups is not allowed$/,
    ],
    [
      'a field twice',
      placed({ spreadConstraints: [{ spreadByField: 'cluster' }, { spreadByField: 'cluster' }, { spreadByField: 'cluster' }] }),
      /^spec\.placement\.spreadConstraints: .*: multiple cluster spread constraints are not allowed$/,
    ],
    [
      'regions without clusters',
      placed({ spreadConstraints: [{ spreadByField: 'region' }] }),
      /: the cluster spread constraint must be enabled in one of the constraints in case of SpreadByField is enabled$/,
    ],
    [
      'a toleration that compares',
      placed({ clusterTolerations: [{ key: 'a', operator: 'Lt', value: '1' }] }),
      /^spec\.placement\.clusterTolerations\[0\]\.operator: Unsupported value: "Lt": supported values: "", "Exists", "Equal"$/,
    ],
    [
      'a toleration that compares upwards',
      placed({ clusterTolerations: [{ key: 'a', operator: 'Gt', value: '1' }] }),
      /Unsupported value: "Gt"/,
    ],
    [
      'a bad key of an affinity',
      placed({ workloadAffinity: { affinity: { groupByLabelKey: 'a b' } } }),
      /^spec\.placement\.workloadAffinity\.affinity\.groupByLabelKey: /,
    ],
    [
      'a bad key of an anti-affinity',
      placed({ workloadAffinity: { antiAffinity: { groupByLabelKey: 'a/b/c' } } }),
      /^spec\.placement\.workloadAffinity\.antiAffinity\.groupByLabelKey: /,
    ],
    [
      'workloads that attract and repel by one key',
      placed({ workloadAffinity: { affinity: { groupByLabelKey: 'a' }, antiAffinity: { groupByLabelKey: 'a' } } }),
      /: affinity and antiAffinity must not use the same groupByLabelKey$/,
    ],
    [
      'an application that moves alone',
      spec({ failover: { application: { decisionConditions: {} } } }),
      /^spec\.propagateDeps: Invalid value: false: application failover is set, propagateDeps must be true$/,
    ],
    [
      'impatience before the event',
      application({ decisionConditions: { tolerationSeconds: -1 } }),
      /tolerationSeconds: Invalid value: -1: must be greater than or equal to 0$/,
    ],
    [
      'grace without grace',
      application({ purgeMode: 'Directly', gracePeriodSeconds: 3 }),
      /gracePeriodSeconds: Invalid value: 3: only takes effect when purgeMode is gracefully$/,
    ],
    [
      'grace of an old name without grace',
      application({ purgeMode: 'Immediately', gracePeriodSeconds: 3 }),
      /only takes effect when purgeMode is gracefully$/,
    ],
    ['grace of no time', application({ gracePeriodSeconds: 0 }), /gracePeriodSeconds: Invalid value: 0: must be greater than 0$/],
    [
      'state under a bad label',
      application({ statePreservation: { rules: [{ aliasLabelName: '?', jsonPath: '{.x}' }] } }),
      /^spec\.failover\.application\.statePreservation\.rules\[0\]\.aliasLabelName: /,
    ],
    [
      'state of a cluster under a bad label',
      spec({ failover: { cluster: { statePreservation: { rules: [{ aliasLabelName: '?', jsonPath: '{.x}' }] } } } }),
      /^spec\.failover\.cluster\.statePreservation\.rules\[0\]\.aliasLabelName: /,
    ],
    [
      'objects of another namespace',
      { spec: { resourceSelectors: [{ ...selector, namespace: 'other' }] } },
      /^spec\.resourceSelectors\[0\]\.namespace: Invalid value: "other": namespace of resource selector must be the same as the namespace of the policy$/,
    ],
    [
      'preemption of whatever there is',
      { spec: { resourceSelectors: [selector], preemption: 'Always' } },
      /^spec\.resourceSelectors\[0\]\.name: Invalid value: "": name cannot be empty if preemption is Always/,
    ],
    [
      'suspension of all and some',
      spec({ suspension: { dispatching: true, dispatchingOnClusters: { clusterNames: ['a'] } } }),
      /^spec\.suspension: .*: suspension dispatching cannot co-exist with dispatchingOnClusters\.clusterNames$/,
    ],
  ]
  for (const [name, content, message] of refusedBy)
    it(`is refused with ${name}`, async () => {
      const { schema, refused } = await admit(PropagationPolicy, content)
      assert.deepEqual(schema, [])
      assert.equal(refused.length, 1, refused.join('\n'))
      assert.match(refused[0] ?? '', message)
    })

  it('may select in any namespace when it has none', async () => {
    const { refused } = await admit(ClusterPropagationPolicy, { spec: { resourceSelectors: [{ ...selector, namespace: 'other' }] } })
    assert.deepEqual(refused, [])
  })

  it('keeps its scheduler and its id', async () => {
    const { object: old } = await admit(PropagationPolicy, spec())
    const changed = (content: Record<string, unknown>, labels: Record<string, string> | undefined) =>
      admit(PropagationPolicy, content, { old, metadata: { labels } })
    assert.match(
      (await changed(spec({ schedulerName: 'mine' }), old.metadata.labels)).refused.join(),
      /^spec\.schedulerName: .*: the schedulerName should not be updated$/,
    )
    const immutable = `label ${PROPAGATION_POLICY_ID} is immutable, it can only be set by the system during creation`
    assert.ok((await changed(spec(), { [PROPAGATION_POLICY_ID]: 'other' })).refused.join().endsWith(immutable))
    const [first, second] = (await changed(spec(), undefined)).refused
    assert.ok(first?.endsWith(immutable))
    assert.match(second ?? '', /is required, it should be set by the mutating admission webhook during creation$/)
  })

  it('can leave although it would no longer be let in', async () => {
    const bad = spec({ suspension: { dispatching: true, dispatchingOnClusters: { clusterNames: ['a'] } } })
    const { object: good } = await admit(PropagationPolicy, spec())
    const metadata = { ...good.metadata, deletionTimestamp: '2025-06-01T10:00:00Z', finalizers: [] }
    const old = { ...aComing(PropagationPolicy, bad), metadata: { ...metadata, finalizers: [PROPAGATION_POLICY_FINALIZER] } }
    const defaulted = { ...old, spec: { ...(bad.spec as object), schedulerName: 'default-scheduler' } }
    assert.deepEqual((await admit(PropagationPolicy, bad, { old: defaulted, metadata })).refused, [])
  })
})
