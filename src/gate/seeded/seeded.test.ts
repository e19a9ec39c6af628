/** The judges of the seeded worlds are judged: each is shown something right, and something wrong that it must find. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { type HandMade, handMade } from '../../faultsim/seeded/worlds/fleet/testing.ts'
import type { DataSourceClaimStatus } from '../../kinds/volcano/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { AT_REST } from './at-rest.ts'
import { seeded } from './index.ts'
import { INVARIANTS } from './invariants.ts'

const DATA_API = 'datadependency.volcano.sh/v1alpha1'
const HELD = 'sluice.dev/held-reason'
const RELEASED = 'sluice.dev/released'
const INJECTED = 'datadependency.volcano.sh/placement-injected'
const FINALIZER = 'datadependency.volcano.sh/datasource-finalizer'

const aSource = (clusterNames: string[], { refs = ['sales'], ...more }: { refs?: string[]; boundClaims?: number } = {}): KubeObject => {
  const claimRefs = refs.map((name) => ({ namespace: 'default', name, uid: name }))
  return {
    apiVersion: DATA_API,
    kind: 'DataSource',
    metadata: { name: 'sales-1', ...(refs.length > 0 ? { finalizers: [FINALIZER] } : {}) },
    spec: { system: 'hive', type: 'table', name: 'sales', locality: { clusterNames } },
    status: { claimRef: claimRefs, claimRefs, boundClaims: refs.length, ...more },
  }
}

const workload = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'report' }

const BOUND: DataSourceClaimStatus = {
  phase: 'Bound',
  boundTo: 'sales-1',
  boundDataSource: 'sales-1',
  conditions: ['Resolved', 'Ready'].map((type) => ({ type, status: 'True', observedGeneration: 1, reason: 'R', message: '' })) as never,
}
const PENDING = { phase: 'Pending', conditions: [{ type: 'Resolved', status: 'False', observedGeneration: 1 }] }

const aClaim = (status: object = BOUND, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: DATA_API,
  kind: 'DataSourceClaim',
  metadata: { namespace: 'default', name: 'sales', uid: 'sales', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z', annotations },
  spec: { system: 'hive', dataSourceType: 'table', dataSourceName: 'sales', workload },
  status,
})

const aTemplate = (claims?: string, produces?: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'default',
    name: 'report',
    uid: 'report',
    resourceVersion: '10',
    annotations: {
      ...(claims === undefined ? {} : { 'sluice.dev/claims': claims }),
      ...(produces === undefined ? {} : { 'sluice.dev/produces': produces }),
    },
  },
  spec: { replicas: 1 },
})

const released = (...allow: string[]): Record<string, string> => ({ [RELEASED]: JSON.stringify({ allow }), [INJECTED]: 'true' })
const releasedFor = (claim: string, ...allow: string[]): Record<string, string> => ({
  [RELEASED]: JSON.stringify({ allow, claims: { [claim]: 'sales-1' } }),
  [INJECTED]: 'true',
})
const held: Record<string, string> = { [HELD]: 'NoSuchSource' }

const aBinding = (clusters: string[], annotations: Record<string, string> = {}, spec: object = {}): KubeObject => ({
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ResourceBinding',
  metadata: {
    namespace: 'default',
    name: 'report-deployment',
    uid: 'binding',
    generation: 1,
    labels: { 'propagationpolicy.karmada.io/permanent-id': 'data' },
    annotations,
  },
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'report', uid: 'report', resourceVersion: '10' },
    placement: {},
    clusters: clusters.map((name) => ({ name, replicas: 1 })),
    ...(HELD in annotations ? { suspension: { scheduling: true } } : {}),
    ...spec,
  },
  status: { schedulerObservedGeneration: 1, conditions: [{ type: 'Scheduled', status: 'True' }] } as never,
})

const aWork = (cluster: string): KubeObject => ({
  apiVersion: 'work.karmada.io/v1alpha1',
  kind: 'Work',
  metadata: {
    namespace: `karmada-es-${cluster}`,
    name: 'report-abc',
    annotations: { 'resourcebinding.karmada.io/name': 'report-deployment', 'resourcebinding.karmada.io/namespace': 'default' },
  },
  spec: { workload: { manifests: [] } },
})

const aCluster = (name: string): KubeObject => ({
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

type Written = readonly KubeObject[]

async function write(fleet: HandMade, objects: Written): Promise<void> {
  for (const object of objects) await fleet.put('hub', object)
}

function anotherClaimMeanwhile(annotations: Record<string, string>): Written {
  const madeFrom = (resourceVersion: string, template: KubeObject): KubeObject => ({
    ...template,
    metadata: { ...template.metadata, resourceVersion },
  })
  const binding = (...clusters: string[]) => aBinding(clusters, annotations)
  const { spec } = binding() as KubeObject & { spec: { resource: object } }
  const made = (resourceVersion: string) => ({ resource: { ...spec.resource, resourceVersion } })
  return [
    binding('member2'),
    aSource(['elsewhere']),
    madeFrom('11', aTemplate('sales,missing')),
    aBinding(['member2'], annotations, made('11')),
    madeFrom('12', aTemplate('sales')),
    aBinding(['member2'], annotations, made('12')),
    aBinding(['member1', 'member2'], annotations, made('12')),
  ]
}

interface Case {
  says: string
  before: Written
  right: Written
  wrong: Written
}

const MET: Written = [aSource(['member1']), aClaim()]

const CASES: readonly Case[] = [
  {
    says: 'is scheduled where its data is',
    before: [...MET, aTemplate('sales'), aBinding([])],
    right: [aBinding(['member1'])],
    wrong: [aBinding(['member2'])],
  },
  {
    says: 'is scheduled when its claim is met',
    before: [aSource(['member1']), aTemplate('sales'), aBinding([])],
    right: [aClaim(), aBinding(['member1'])],
    wrong: [aClaim(PENDING), aBinding(['member1'])],
  },
  {
    says: 'waits for a claim that was there before it',
    before: [aSource(['member1'])],
    right: [aTemplate(), aClaim(PENDING), aBinding(['member1'])],
    wrong: [aClaim(PENDING), aTemplate(), aBinding(['member1'])],
  },
  {
    says: 'is not released to where its data was before it came',
    before: MET,
    right: [aTemplate('sales'), aSource(['member2']), aBinding([], released('member1'))],
    wrong: [aSource(['member2']), aTemplate('sales'), aBinding([], released('member1'))],
  },
  {
    says: 'is not sent anywhere else',
    before: [...MET, aTemplate('sales'), aBinding(['member1'])],
    right: [aWork('member1')],
    wrong: [aWork('member2')],
  },
  {
    says: 'is not scheduled while it is held',
    before: [...MET, aTemplate('sales')],
    right: [aBinding([]), aBinding(['member1'])],
    wrong: [aBinding([], held), aBinding(['member1'])],
  },
  {
    says: 'is scheduled within its release',
    before: [aSource(['member1', 'member2']), aClaim(), aTemplate('sales')],
    right: [aBinding([], released('member1', 'member2')), aBinding(['member2'], released('member1'))],
    wrong: [aBinding([], released('member1')), aBinding(['member2'], released('member1'))],
  },
  {
    says: 'stays where it was released to when the data moves',
    before: [...MET, aTemplate('sales'), aBinding(['member1'], released('member1'))],
    right: [aClaim(BOUND, { 'sluice.dev/on-locality-change': 'Move' }), aSource(['member2']), aBinding(['member1'], released('member2'))],
    wrong: [aSource(['member2']), aBinding(['member1'], released('member2'))],
  },
  {
    says: 'keeps its release when it names the same claims again',
    before: [aSource(['member1', 'member2']), aClaim(), aTemplate('sales')],
    right: anotherClaimMeanwhile(releasedFor('sales', 'member1', 'member2')),
    wrong: anotherClaimMeanwhile(releasedFor('another', 'member1', 'member2')),
  },
]

describe('at every moment, a workload', () => {
  for (const { says, before, right, wrong } of CASES)
    it(says, async () => {
      const fine = handMade(INVARIANTS)
      await write(fine, [...before, ...right])
      assert.equal(fine.broken(), undefined)
      const broken = handMade(INVARIANTS)
      await write(broken, [...before, ...wrong])
      assert.notEqual(broken.broken(), undefined)
    })
})

const READY: Written = [aCluster('member1'), aSource(['member1']), aClaim(), aTemplate('sales')]
const MAKES: Written = [aTemplate(undefined, 'hive/table/made'), aCluster('member1')]
const made = {
  apiVersion: DATA_API,
  kind: 'DataSource',
  metadata: { name: 'made' },
  spec: { system: 'hive', type: 'table', name: 'made', locality: {} },
  status: { boundClaims: 0 },
}
const completed = {
  ...aBinding(['member1']),
  status: { aggregatedStatus: [{ clusterName: 'member1', applied: true, status: { conditions: [{ type: 'Complete', status: 'True' }] } }] },
} as KubeObject

const AT_REST_CASES: readonly [string, Written, Written][] = [
  ['a source lists its claims', [aSource(['member1']), aClaim()], [aSource(['member1'], { refs: [] }), aClaim()]],
  ['a source lists no others', [aSource(['member1'], { refs: [] }), aClaim(PENDING)].slice(0, 1), [aSource(['member1'])]],
  ['a source counts its claims', MET, [aSource(['member1'], { boundClaims: 2 }), aClaim()]],
  ['a claim is bound if a source matches', MET, [aSource(['member1'], { refs: [] }), aClaim(PENDING)]],
  ['a claim was looked at', MET, [aSource(['member1'], { refs: [] }), aClaim({ phase: 'Pending' })]],
  ['a claim is bound to what exists', MET, [aClaim()]],
  ['a workload is not held for nothing', [...READY, aBinding([], released('member1'))], [...READY, aBinding([], held)]],
  ['a workload is held for a claim', [aTemplate('sales'), aBinding([], held)], [aTemplate('sales'), aBinding([])]],
  ['nothing is left of a claim', [aTemplate(), aBinding([])], [aTemplate(), aBinding([], released('member1'))]],
  [
    'a workload is where it was released to',
    [...READY, aBinding(['member1'], released('member1'))],
    [...READY, aBinding(['member2'], released('member1'))],
  ],
  [
    'a narrowed binding says so',
    [...READY, aBinding(['member1'], released('member1'))],
    [...READY, aBinding(['member1'], { [INJECTED]: 'true' })],
  ],
  ['what was made has a source', [...MAKES, made, completed], [...MAKES, completed]],
]

const restingOf = async (objects: Written): Promise<string[]> => {
  const fleet = handMade()
  await write(fleet, objects)
  return AT_REST.flatMap((invariant) => invariant.broken(fleet.hub, fleet.members) ?? [])
}

describe('at rest', () => {
  for (const [says, right, wrong] of AT_REST_CASES)
    it(says, async () => {
      assert.deepEqual(await restingOf(right), [])
      assert.notDeepEqual(await restingOf(wrong), [])
    })
})

describe('the generators', () => {
  it('draw what can be stored as JSON, and the same for the same seed', () => {
    for (const { draw, object, names } of seeded.generators)
      for (const where of names) {
        const [one, other] = [draw(seededRandom(5)), draw(seededRandom(5))]
        assert.deepEqual(JSON.parse(JSON.stringify(one)), one)
        assert.deepEqual(object(where, one), object(where, other))
      }
  })
})
