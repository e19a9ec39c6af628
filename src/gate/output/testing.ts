/** A hub on which only publishing runs, and what its stories are made of: workloads, bindings by hand, reports of members. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { expectQuiet } from '../../faultsim/expect/index.ts'
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import { aWorld, type World, type WorldCluster } from '../../faultsim/world/index.ts'
import { hubCast } from '../../fleet/testing.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import { type DataSource, volcanoKinds } from '../../kinds/volcano/index.ts'
import { DATA_SOURCES } from '../../kinds/volcano/resources.ts'
import { DATA_DEPENDENCY_GROUP, PRODUCES_ANNOTATION, SOURCE_VERSION } from '../../kinds/volcano/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { MODULES } from '../../modules.ts'
import { defineModule, type Module } from '../../runtime/module/module.ts'
import type { ReferenceConsent } from '../../runtime/reference-consent.ts'
import { outputController } from './controller.ts'
import { createProducers } from './producers.ts'

/** Serves the kinds of the gate, without what else the gate does. */
export const modulesWithData: readonly Module[] = [
  ...MODULES.filter(({ name }) => name !== 'gate'),
  defineModule({
    name: 'data-kinds',
    roles: ['hub'],
    upstreamLeases: [],
    kinds: { hub: volcanoKinds },
    neverTravel: [DATA_DEPENDENCY_GROUP],
    defaults: {},
    services: () => ({}),
    controllers: () => [],
  }),
]

export const publishing = (referenceConsent: ReferenceConsent = 'open'): RunControllers =>
  hubCast(({ templates }) => [outputController({ templates, producers: createProducers(templates), referenceConsent })])

export interface Stage {
  hub: WorldCluster
  world: World
}

/** At the end everything is quiet, after a restart too. */
export function outputStory(name: string, body: (stage: Stage) => Promise<void>, consent?: ReferenceConsent): void {
  it(name, async () => {
    const world = await aWorld({ controllers: publishing(consent), modules: modulesWithData }).settle()
    await world.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    await body({ hub: world.hub, world })
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })
}

const POD = { spec: { restartPolicy: 'Never', containers: [{ name: 'make', image: 'busybox' }] } }

function metadataOf(where: string, produces: string | undefined): KubeObject['metadata'] {
  const [namespace = '', name] = where.split('/')
  return { namespace, name, ...(produces === undefined ? {} : { annotations: { [PRODUCES_ANNOTATION]: produces } }) }
}

export const aJob = (where: string, produces?: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: metadataOf(where, produces),
  spec: { template: POD },
})

export const aCronJob = (where: string, produces?: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: metadataOf(where, produces),
  spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: POD } } },
})

export const aDeployment = (where: string, produces?: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadataOf(where, produces),
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
})

export const bindingAt = (where: string, kind: string): string => {
  const [namespace = '', name = ''] = where.split('/')
  return `${namespace}/${bindingName(kind, name)}`
}

export interface Scheduled {
  clusters?: readonly string[]
  isDivided?: boolean
}

/** A template, and a binding as the detector and the scheduler would make it. */
export async function scheduled(hub: WorldCluster, template: KubeObject, { clusters = ['member1'], isDivided }: Scheduled = {}) {
  const made = await hub.create(template)
  const { namespace = '', name = '', uid } = made.metadata
  const type = isDivided === true ? 'Divided' : 'Duplicated'
  await hub.create({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace, name: bindingName(made.kind, name) },
    spec: {
      resource: { apiVersion: made.apiVersion, kind: made.kind, namespace, name, uid },
      placement: { replicaScheduling: { replicaSchedulingType: type } },
      clusters: clusters.map((cluster) => ({ name: cluster })),
    },
  })
  return made
}

/** A time after the beginning of a world. */
export const minute = (n: number): string => `2026-01-01T00:${String(n).padStart(2, '0')}:00Z`

export const completed = (time: string): Record<string, unknown> => ({
  conditions: [{ type: 'Complete', status: 'True' }],
  completionTime: time,
})

export const FAILED = { conditions: [{ type: 'Failed', status: 'True' }] }

/** What members report about a template: the status in each cluster. */
export function reports(hub: WorldCluster, binding: string, statuses: Readonly<Record<string, unknown>>): Promise<KubeObject> {
  const aggregatedStatus = Object.entries(statuses).map(([clusterName, status]) => ({ clusterName, applied: true, status }))
  return hub.patch(RESOURCE_BINDINGS, binding, { status: { aggregatedStatus } }, 'status')
}

export const aSource = (name: string, data: string, annotations: Record<string, string> = {}): KubeObject => {
  const [system = '', type = '', logical = ''] = data.split('/')
  return {
    apiVersion: 'datadependency.volcano.sh/v1alpha1',
    kind: 'DataSource',
    metadata: { name, annotations },
    spec: { system, type, name: logical, locality: { clusterNames: ['elsewhere'] } },
  }
}

export const sources = async (hub: WorldCluster): Promise<DataSource[]> => (await hub.list(DATA_SOURCES)) as DataSource[]

/** All sources as `name v1: member1 member2`, by what they stand for and the namespace that made them. */
export const published = async (hub: WorldCluster): Promise<string[]> =>
  (await sources(hub))
    .map(({ metadata: { annotations }, spec }) => `${spec.name} ${annotations?.[SOURCE_VERSION]}: ${spec.locality.clusterNames?.join(' ')}`)
    .sort()

export async function theSource(hub: WorldCluster): Promise<DataSource> {
  const [only, ...others] = await sources(hub)
  assert.ok(only !== undefined && others.length === 0, `there are ${others.length} more sources`)
  return only
}

/** Events about a workload, as `reason: message`, with how often each was recorded. */
export async function eventsOf(hub: WorldCluster, where: string): Promise<string[]> {
  const [namespace, name] = where.split('/')
  const events = (await hub.list(EVENTS, { namespace })) as (KubeObject & { involvedObject: { name?: string }; count?: number })[]
  return events
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message, count }) => `${reason}: ${message}${count === 1 ? '' : ` (${count} times)`}`)
    .sort()
}
