/**
 * One order of the six things that a workload with data needs: source, claim, workload, policy, the only cluster with the
 * data, and a producer of something else that it needs. In a world of real API servers and controllers in virtual time; what
 * is sent to members is judged at every write.
 */
import { monitorInvariants, viewOf } from '../../src/faultsim/prover/invariant-monitor.ts'
import { World, type WorldCluster, type WorldOptions } from '../../src/faultsim/world/index.ts'
import type { WorldSnapshot } from '../../src/faultsim/world/snapshot.ts'
import { INVARIANTS } from '../../src/gate/seeded/invariants.ts'
import type { Binding } from '../../src/kinds/karmada/index.ts'
import { CLUSTER_NAMESPACE } from '../../src/kinds/karmada/well-known.ts'
import type { DataSource, DataSourceClaim } from '../../src/kinds/volcano/index.ts'
import { CLAIMS_ANNOTATION, PRODUCES_ANNOTATION } from '../../src/kinds/volcano/well-known.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Invariant, InvariantView } from '../../src/runtime/seams/seeded.ts'
import type { Start, Subject } from './subject.ts'

const THINGS = ['source', 'claim', 'workload', 'policy', 'cluster', 'producer'] as const
type Thing = (typeof THINGS)[number]

interface Variant {
  /** Whether the workload names its claims, so that it waits for them before they exist. */
  isNaming: boolean
  /** Whether everything settles before the next thing comes, or all come at once. */
  isHurried: boolean
}

/** In each of them every order ends in the same way. */
const VARIANTS: readonly Variant[] = [
  { isNaming: true, isHurried: false },
  { isNaming: false, isHurried: false },
  { isNaming: true, isHurried: true },
  { isNaming: false, isHurried: true },
]

const variantText = ({ isNaming, isHurried }: Variant): string =>
  `${isNaming ? 'naming its claims' : 'named by its claims'}, ${isHurried ? 'at once' : 'one by one'}`

const [WITHOUT_DATA, WITH_DATA] = ['member1', 'member2']
const DATA_API = 'datadependency.volcano.sh/v1alpha1'
const REPORT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'report' }
const MAKE = { apiVersion: 'batch/v1', kind: 'Job', name: 'make' }
const OPTIONS: WorldOptions = { members: 2, nodes: 1 }

const inDefault = (name: string, annotations: Record<string, string> = {}): KubeObject['metadata'] => ({
  namespace: 'default',
  name,
  annotations,
})

const joining = (name: string): KubeObject[] => [
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: CLUSTER_NAMESPACE, name },
    data: { token: Buffer.from('token').toString('base64'), caBundle: '' },
  },
  {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Push', apiEndpoint: `https://${name}.world:6443`, secretRef: { namespace: CLUSTER_NAMESPACE, name } },
  },
]

const claimOn = (name: string): KubeObject => ({
  apiVersion: DATA_API,
  kind: 'DataSourceClaim',
  metadata: inDefault(name),
  spec: { system: 'hive', dataSourceType: 'table', dataSourceName: name, workload: REPORT },
})

const policyFor = (resource: typeof REPORT, placement: Record<string, unknown>): KubeObject => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: inDefault(resource.name),
  spec: { resourceSelectors: [resource], placement },
})

const podOf = (app: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'app', image: 'app:1' }], ...more },
})

const report = (isNaming: boolean): KubeObject => ({
  apiVersion: REPORT.apiVersion,
  kind: REPORT.kind,
  metadata: inDefault(REPORT.name, isNaming ? { [CLAIMS_ANNOTATION]: 'sales,made' } : {}),
  spec: { replicas: 2, selector: { matchLabels: { app: REPORT.name } }, template: podOf(REPORT.name) },
})

const objectsOf = (thing: Thing, { isNaming }: Variant): readonly KubeObject[] => {
  switch (thing) {
    case 'source': {
      const spec = { system: 'hive', type: 'table', name: 'sales', locality: { clusterNames: [WITH_DATA] } }
      return [{ apiVersion: DATA_API, kind: 'DataSource', metadata: { name: 'sales' }, spec }]
    }
    case 'claim':
      return [claimOn('sales')]
    case 'workload':
      return [report(isNaming)]
    case 'policy':
      return [policyFor(REPORT, {})]
    case 'cluster':
      return joining(WITH_DATA)
    case 'producer': {
      const spec = { template: podOf(MAKE.name, { restartPolicy: 'Never' }) }
      const make = { ...MAKE, metadata: inDefault(MAKE.name, { [PRODUCES_ANNOTATION]: 'hive/table/made' }), spec }
      return [claimOn('made'), policyFor(MAKE, { clusterAffinity: { clusterNames: [WITH_DATA] } }), make]
    }
  }
}

const CLAIMS = 'datasourceclaims.datadependency.volcano.sh'
const SOURCES = 'datasources.datadependency.volcano.sh'
const WORKS = 'works.work.karmada.io'
const BINDING = 'default/report-deployment'
const EXECUTION = 'karmada-es-'

const isOfReport = ({ metadata: { annotations = {} } }: KubeObject): boolean =>
  `${annotations['resourcebinding.karmada.io/namespace']}/${annotations['resourcebinding.karmada.io/name']}` === BINDING

/** For a workload that names its claims, and without any memory: what must be there when it is sent to a member. */
const inTime: Invariant = {
  says: 'a workload that names its claims is sent to a member when they are bound, and only to the one with the data',
  about: [WORKS],
  broken(hub, { object, previous }) {
    if (previous !== undefined || !isOfReport(object)) return undefined
    if (object.metadata.namespace !== `${EXECUTION}${WITH_DATA}`) return `it is sent to ${object.metadata.namespace}`
    for (const name of ['sales', 'made']) {
      const claim = hub.get(CLAIMS, `default/${name}`) as DataSourceClaim | undefined
      const source = claim?.status?.boundTo === undefined ? undefined : hub.get(SOURCES, claim.status.boundTo)
      if (claim?.status?.phase !== 'Bound' || source === undefined) return `claim ${name} is not bound`
    }
    return undefined
  },
}

/** What came of it, as text: the same in every order. */
const EXPECTED = [
  'placed in member2:2',
  'sent to member2',
  'member1 has none, member2 has 2 ready',
  'made: Bound made, Resolved True, Ready True, Placed True, Bound True',
  'sales: Bound sales, Resolved True, Ready True, Placed True, Bound True',
  'made: used by default/made',
  'sales: used by default/sales',
].join('\n')

function outcomeOf(hub: InvariantView, members: readonly WorldCluster[]): string {
  const binding = hub.get('resourcebindings.work.karmada.io', BINDING) as Binding | undefined
  const places = (binding?.spec.clusters ?? []).map(({ name, replicas }) => `${name}:${replicas}`)
  const works = hub.list(WORKS).filter(isOfReport)
  const copies = members.map(({ name, store }) => {
    const copy = viewOf(store).get('deployments.apps', 'default/report')
    return `${name} has ${copy === undefined ? 'none' : `${(copy.status as { readyReplicas?: number } | undefined)?.readyReplicas} ready`}`
  })
  const sources = hub.list(SOURCES) as DataSource[]
  const dataOf = (name: string | undefined): string | undefined => sources.find(({ metadata }) => metadata.name === name)?.spec.name
  const claims = (hub.list(CLAIMS) as DataSourceClaim[]).map(({ metadata, status }) => {
    const conditions = (status?.conditions ?? []).map(({ type, status: is }) => `${type} ${is}`)
    return `${metadata.name}: ${[`${status?.phase} ${dataOf(status?.boundTo)}`, ...conditions].join(', ')}`
  })
  const uses = sources.map(
    ({ spec, status }) => `${spec.name}: used by ${status?.claimRefs?.map(({ namespace, name }) => `${namespace}/${name}`).join()}`,
  )
  return [
    `placed in ${places.join() || 'none'}`,
    `sent to ${works.map(({ metadata }) => metadata.namespace?.slice(EXECUTION.length)).join() || 'none'}`,
    copies.join(', '),
    ...claims.sort(),
    ...uses.sort(),
  ].join('\n')
}

/** One cluster, without the data, is joined. */
async function beginning(): Promise<WorldSnapshot> {
  const world = new World(OPTIONS)
  await world.start()
  await world.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CLUSTER_NAMESPACE } })
  for (const object of joining(WITHOUT_DATA)) await world.hub.create(object)
  await world.settle()
  const snapshot = world.snapshot()
  await world.stop()
  return snapshot
}

async function wrongIn(order: readonly Thing[], variant: Variant, start: Start): Promise<string | undefined> {
  const world = new World({ ...OPTIONS, ...start })
  try {
    await world.start()
    await world.settle()
    const { hub } = world
    const others = new Map(world.clusters.map(({ name, store }) => [name, viewOf(store)]))
    const invariants = variant.isNaming ? [...INVARIANTS, inTime] : INVARIANTS
    const monitor = monitorInvariants(hub.store, invariants, { cluster: hub.name, others, isPeoples: () => false })
    for (const thing of order) {
      for (const object of objectsOf(thing, variant)) await hub.create(object)
      if (!variant.isHurried) await world.settle()
    }
    await world.settle()
    if (monitor.broken !== undefined) return monitor.broken
    const outcome = outcomeOf(viewOf(hub.store), world.members)
    return outcome === EXPECTED ? undefined : `it ends with\n${outcome}\ninstead of\n${EXPECTED}`
  } finally {
    for (const cluster of world.clusters) {
      cluster.killControllers()
      cluster.stop()
    }
  }
}

export const gateOrders: Subject<Thing> = {
  name: 'gate',
  things: THINGS,
  variants: VARIANTS.map((variant) => ({ text: variantText(variant), wrongIn: (order, start) => wrongIn(order, variant, start) })),
  beginning,
}
