/**
 * Sources, claims and workloads as users write them, small and valid; later fields win. Claims are in the form that every
 * definition has, with `workload`; those with `workloadSelector` are made by `aSelectingClaim`, for stories that need that
 * form. Logical names of data are the story's own, because sources serve all namespaces.
 */
import { DATA_SOURCES } from '../../src/kinds/volcano/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { aDeployment, aPropagationPolicy, type DeploymentOptions, selectorOf } from '../fleet/manifests.ts'
import type { FleetTestbed } from '../fleet/story.ts'

type Fields = Record<string, unknown>

const GROUP_VERSION = 'datadependency.volcano.sh/v1alpha1'

/** What stories claim, unless they say otherwise: hive/table/NAME. */
export const SYSTEM = 'hive'
export const TYPE = 'table'

/** As in `sluice.dev/produces`. */
export const dataName = (testbed: FleetTestbed, base: string): string => `${SYSTEM}/${TYPE}/${testbed.unique(base)}`

export interface SourceOptions {
  annotations?: Record<string, string>
  finalizers?: string[]
  spec?: Fields
}

/** Data of the logical name `unique(base)`, in a source that is called the same. */
export const aSource = (
  testbed: FleetTestbed,
  base: string,
  places: readonly { name: string }[],
  { spec = {}, ...metadata }: SourceOptions = {},
): KubeObject => ({
  apiVersion: GROUP_VERSION,
  kind: 'DataSource',
  metadata: { name: testbed.unique(base), ...metadata },
  spec: { system: SYSTEM, type: TYPE, name: testbed.unique(base), locality: in_(places), ...spec },
})

/** A locality of clusters by name. */
const in_ = (places: readonly { name: string }[]): Fields => ({ clusterNames: places.map(({ name }) => name) })

export interface ClaimOptions {
  annotations?: Record<string, string>
  spec?: Fields
}

/** One workload needs the data `unique(base)`. */
export const aClaim = (
  testbed: FleetTestbed,
  base: string,
  workload: KubeObject,
  { spec = {}, ...metadata }: ClaimOptions = {},
): KubeObject => ({
  apiVersion: GROUP_VERSION,
  kind: 'DataSourceClaim',
  metadata: { name: base, ...metadata },
  spec: { system: SYSTEM, dataSourceType: TYPE, dataSourceName: testbed.unique(base), workload: selectorOf(workload), ...spec },
})

/** Workloads that carry a label need data of the story's own type. */
export const aSelectingClaim = (
  testbed: FleetTestbed,
  name: string,
  matchLabels: Record<string, string>,
  spec: Fields = {},
): KubeObject => ({
  apiVersion: GROUP_VERSION,
  kind: 'DataSourceClaim',
  metadata: { name },
  spec: { system: SYSTEM, dataSourceType: ownType(testbed), workloadSelector: { matchLabels }, ...spec },
})

/** A type that only the sources of this story have: without a name, a claim takes any source of its type. */
export const ownType = (testbed: FleetTestbed): string => testbed.unique(TYPE)

/** One small Deployment, unless a story says otherwise. */
export const aWorkload = (name = 'report', options: DeploymentOptions = {}): KubeObject => aDeployment(name, { replicas: 1, ...options })

export const aPolicyFor = (workload: KubeObject, placement: Fields = {}, more: Fields = {}): KubeObject =>
  aPropagationPolicy(workload.metadata.name ?? '', [selectorOf(workload)], placement, more)

/** A workload and its policy; any cluster, unless the placement says otherwise. */
export async function submit(testbed: FleetTestbed, workload: KubeObject, placement: Fields = {}): Promise<void> {
  await testbed.hub.create(aPolicyFor(workload, placement))
  await testbed.hub.create(workload)
}

export interface Running {
  workload?: KubeObject
  places: readonly { name: string }[]
  placement?: Fields
  claim?: ClaimOptions
}

/** A workload with the claim `sales`, and the data that it needs: all there is, in the order in which it waits least. */
export async function running(testbed: FleetTestbed, { workload = aWorkload(), places, placement, claim }: Running): Promise<void> {
  await testbed.hub.create(aSource(testbed, 'sales', places))
  await testbed.hub.create(aClaim(testbed, 'sales', workload, claim))
  await submit(testbed, workload, placement)
}

/** Says where the data is now. */
export const moveData = (testbed: FleetTestbed, base: string, places: readonly { name: string }[]): Promise<KubeObject> =>
  testbed.hub.patch(DATA_SOURCES, testbed.unique(base), { spec: { locality: in_(places) } })
