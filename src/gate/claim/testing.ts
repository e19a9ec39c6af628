/** Worlds and objects for tests of claims and sources: a hub on which only these two controllers run, bindings by hand. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runControllers } from '../../composition.ts'
import { expectQuiet } from '../../faultsim/expect/index.ts'
import type { RunControllers, WorldCluster } from '../../faultsim/world/cluster.ts'
import { aWorld, type World, type WorldOptions } from '../../faultsim/world/index.ts'
import { aCluster, readyStatus } from '../../fleet/testing.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { CLUSTERS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { DataSource, DataSourceClaim, DataSourceClaimSpec, DataSourceSpec } from '../../kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from '../../minicluster/housekeeping/garbage/run.ts'
import type { Controller } from '../../runtime/controller.ts'
import { propagatableBy } from '../../runtime/module/run-modules.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import { runAll } from '../../runtime/run-all.ts'
import { createTemplates } from '../../runtime/templates.ts'
import { createClaimedTemplates } from '../narrowing/claimed-templates.ts'
import { createProducers } from '../output/producers.ts'
import { modulesWithData } from '../output/testing.ts'
import { sourceController } from '../source/controller.ts'
import { claimController } from './controller.ts'
import { type ClaimDeps, createWaitingClaims } from './deps.ts'

export interface Cast {
  referenceConsent?: ReferenceConsent
  /** What runs besides the two (default: nothing). */
  others?(deps: ClaimDeps): readonly Controller[]
}

/** Both controllers, and the garbage collector; members run what they usually run. */
export function binding({ referenceConsent = 'open', others }: Cast = {}): RunControllers {
  return (options) => {
    if (options.role === 'member') return runControllers(options)
    const propagatable = propagatableBy(options.modules)
    return runAll({ ...options, keepsWhole: propagatable.isPropagatable }, ({ caches, clusterCache, clientOf, observer }) => {
      const templates = createTemplates(clusterCache, propagatable)
      const claims = caches.of(DATA_SOURCE_CLAIMS)
      const deps: ClaimDeps = {
        templates,
        producers: createProducers(templates),
        claimed: createClaimedTemplates(templates, claims),
        waiting: createWaitingClaims(claims),
        referenceConsent,
      }
      const collector = runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), clusterCache, ...observer })
      return { controllers: [claimController(deps), sourceController(), ...(others?.(deps) ?? [])], loops: [collector] }
    })
  }
}

export const worldOptions = (cast?: Cast): WorldOptions => ({ controllers: binding(cast), modules: modulesWithData })

/** West and east are joined and ready, and there is a second namespace. At the end everything is quiet, after a restart too. */
export function claimStory(name: string, body: (hub: WorldCluster, world: World) => Promise<void>, cast?: Cast): void {
  it(name, async () => {
    const world = await aWorld(worldOptions(cast)).settle()
    await prepared(world.hub)
    await world.settle()
    world.hub.takeWrites()
    await body(world.hub, world)
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })
}

export async function prepared(hub: WorldCluster): Promise<void> {
  await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  for (const name of ['west', 'east']) await joined(hub, name)
}

export async function joined(hub: WorldCluster, name: string, labels: Record<string, string> = {}): Promise<void> {
  await hub.create(aCluster(name, {}, labels))
  await hub.patch(CLUSTERS, name, { status: readyStatus }, 'status')
}

export async function isReady(hub: WorldCluster, name: string, is: boolean): Promise<void> {
  const conditions = readyStatus.conditions.map((one) => ({ ...one, status: is ? 'True' : 'False' }))
  await hub.patch(CLUSTERS, name, { status: { conditions } }, 'status')
}

const API_VERSION = 'datadependency.volcano.sh/v1alpha1'

/** `data` is `system/type/name`. */
export function aSource(name: string, data: string, spec: Partial<DataSourceSpec> = {}): DataSource {
  const [system = '', type = '', logical = ''] = data.split('/')
  const locality = { clusterNames: ['west'] }
  return {
    apiVersion: API_VERSION,
    kind: 'DataSource',
    metadata: { name },
    spec: { system, type, name: logical, locality, reclaimPolicy: 'Retain', ...spec },
  }
}

const metadataOf = (where: string): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = where.split('/')
  return { namespace, name }
}

/** What volcano-global built: for one Job, which need not exist. */
export function aClaim(where: string, data: string, more: Partial<DataSourceClaimSpec> = {}): DataSourceClaim {
  const [system = '', dataSourceType = '', dataSourceName = ''] = data.split('/')
  const workload = { apiVersion: 'batch/v1', kind: 'Job', name: `of-${metadataOf(where).name}` }
  return {
    apiVersion: API_VERSION,
    kind: 'DataSourceClaim',
    metadata: metadataOf(where),
    spec: { system, dataSourceType, dataSourceName, workload, ...more },
  }
}

/** The form of the proposal. `type` is `system/type`. */
export function aSeedClaim(where: string, type: string, more: Partial<DataSourceClaimSpec> = {}): DataSourceClaim {
  const [system = '', dataSourceType = ''] = type.split('/')
  const workloadSelector = { matchLabels: { app: metadataOf(where).name } }
  return {
    apiVersion: API_VERSION,
    kind: 'DataSourceClaim',
    metadata: metadataOf(where),
    spec: { system, dataSourceType, workloadSelector, ...more },
  }
}

export interface JobParts {
  annotations?: Record<string, string>
  labels?: Record<string, string>
}

export const aJob = (where: string, parts: JobParts = {}): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { ...metadataOf(where), ...parts },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'busybox' }] } } },
})

export interface BindingParts {
  annotations?: Record<string, string>
  clusters?: readonly string[]
  /** Where its policy lets it go. */
  policy?: readonly string[]
}

/** The binding of a template, as the detector and the scheduler would make it. */
export function aBinding(template: KubeObject, { annotations, clusters = [], policy }: BindingParts = {}): KubeObject {
  const { namespace = '', name = '', uid } = template.metadata
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace, name: bindingName(template.kind, name), annotations },
    spec: {
      resource: { apiVersion: template.apiVersion, kind: template.kind, namespace, name, uid },
      replicas: 1,
      placement: { ...(policy === undefined ? {} : { clusterAffinity: { clusterNames: [...policy] } }) },
      clusters: clusters.map((cluster) => ({ name: cluster })),
    },
  }
}

export async function claimAt(hub: WorldCluster, where: string): Promise<DataSourceClaim> {
  const claim = await hub.get(DATA_SOURCE_CLAIMS, where)
  assert.ok(claim !== undefined, `there is no claim ${where}`)
  return claim as DataSourceClaim
}

export async function sourceAt(hub: WorldCluster, name: string): Promise<DataSource> {
  const source = await hub.get(DATA_SOURCES, name)
  assert.ok(source !== undefined, `there is no source ${name}`)
  return source as DataSource
}

/** `Bound ds-1`, or `Pending` and what it waits for. */
export async function stateOf(hub: WorldCluster, where: string): Promise<string> {
  const { status } = await claimAt(hub, where)
  const waits = status?.conditions?.find((condition) => condition.status === 'False' && condition.type !== 'Bound')
  return [status?.phase, status?.boundTo, waits?.reason].filter((part) => part !== undefined).join(' ')
}

/** `status reason: message` of a condition. */
export async function saidOf(hub: WorldCluster, where: string, type: string): Promise<string | undefined> {
  const { status } = where.includes('/') ? await claimAt(hub, where) : await sourceAt(hub, where)
  const condition = findCondition(status?.conditions, type)
  return condition === undefined ? undefined : `${condition.status} ${condition.reason}: ${condition.message}`
}

export const refsOf = async (hub: WorldCluster, name: string): Promise<string[]> =>
  ((await sourceAt(hub, name)).status?.claimRefs ?? []).map((ref) => `${ref.namespace}/${ref.name}`)

/** `Normal Bound: …`, about one object. */
export async function eventsOf(hub: WorldCluster, where: string): Promise<string[]> {
  const { namespace, name } = where.includes('/') ? metadataOf(where) : { namespace: undefined, name: where }
  const events = (await hub.list(EVENTS, { namespace })) as (KubeObject & { involvedObject: { name?: string } })[]
  return events
    .filter(({ involvedObject }) => involvedObject.name === name)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
}

/** What was sent about claims or sources since the last call: `gate.claim PATCH status`. */
export const writesTo = (hub: WorldCluster, plural: string): string[] =>
  hub
    .takeWrites()
    .filter(({ path }) => path.includes(`/${plural}/`))
    .map(({ part, method, path }) => `${part} ${method}${path.includes('/status') ? ' status' : ''}`)

export const bindingPath = (where: string): string => {
  const { namespace, name } = metadataOf(where)
  return `${namespace}/${bindingName('Job', name)}`
}

export const reported = (hub: WorldCluster, where: string, clusterName: string, status: unknown): Promise<KubeObject> =>
  hub.patch(RESOURCE_BINDINGS, bindingPath(where), { status: { aggregatedStatus: [{ clusterName, applied: true, status }] } }, 'status')
