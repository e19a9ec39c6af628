/**
 * A hub with two members, in virtual time, whose datasets policies carry. What the commands of caches print is up to the story, so
 * that each member can report figures of its own. Each story has a world of its own, which must be quiet at the end.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { conditionsOf, expectQuiet } from '../../../src/faultsim/expect/index.ts'
import { aWorld, type World, type WorldCluster } from '../../../src/faultsim/world/index.ts'
import type { WorldSnapshot } from '../../../src/faultsim/world/snapshot.ts'
import type { Dataset, DatasetStatus } from '../../../src/kinds/fluid/index.ts'
import { DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../src/kinds/gateway/reference-grant.ts'
import type { ResourceBinding } from '../../../src/kinds/karmada/index.ts'
import { RESOURCE_BINDINGS } from '../../../src/kinds/karmada/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { joinedCluster } from '../../fleet/joining.ts'
import { FIGURES } from '../commands.ts'

const SHAPE = { members: 2, nodes: 2 }
const NAMESPACES = ['data', 'web'] as const

export interface Scene {
  world: World
  hub: WorldCluster
  members: readonly [WorldCluster, WorldCluster]
}

export type Play = (scene: Scene) => Promise<void>

let resting: Promise<WorldSnapshot> | undefined

export function story(name: string, play: Play): void {
  it(name, async () => {
    resting ??= restingFleet()
    const world = await aWorld({ ...SHAPE, from: await resting }).settle()
    try {
      await play(sceneOf(world))
      await world.settle()
      // Members report what their nodes have left only now and then.
      await world.advance(30_000)
      await world.settle()
      await expectQuiet(world)
    } finally {
      await world.stop()
    }
  })
}

async function restingFleet(): Promise<WorldSnapshot> {
  const world = await aWorld(SHAPE).settle()
  try {
    const { hub } = world
    for (const name of ['karmada-cluster', ...NAMESPACES]) await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    for (const [i, { name }] of world.members.entries())
      for (const object of joinedCluster(i, { name, server: `https://${name}.world:6443`, token: 'token', authority: '' }))
        await hub.create(object)
    await hub.create(CLASS)
    await hub.create(carrying('classes', [{ apiVersion: API_VERSION, kind: 'CacheRuntimeClass' }]))
    await world.settle()
    return world.snapshot()
  } finally {
    await world.stop()
  }
}

function sceneOf(world: World): Scene {
  const [first, second] = world.members
  assert.ok(first !== undefined && second !== undefined, 'a scene has two members')
  for (const member of world.members) reporting(member)
  // The hub comes up before its members.
  world.hub.complaints.length = 0
  return { world, hub: world.hub, members: [first, second] }
}

const API_VERSION = 'data.fluid.io/v1alpha1'
/** Commands are answered by the story: for it, pods on simulated nodes run. */
const RUN = { 'sluice.dev/run': 'process' }

const component = (name: string, more: object = {}): object => ({
  template: {
    metadata: { annotations: RUN },
    spec: { containers: [{ name, image: `example.com/${name}:1` }], tolerations: [{ operator: 'Exists' }] },
  },
  ...more,
})

/** Its master mounts and reports. */
const CLASS: KubeObject = {
  apiVersion: API_VERSION,
  kind: 'CacheRuntimeClass',
  metadata: { name: 'sample' },
  ...{ fileSystemType: 'samplefs' },
  topology: {
    master: component('master', {
      service: { headless: {} },
      executionEntries: { mountUFS: { command: ['cache', 'mount'] }, reportSummary: { command: ['cache', 'report'] } },
    }),
    worker: component('worker'),
    client: component('client'),
  },
} as KubeObject

/** From now on the caches of a member report these figures; `mounted` is how mounting ends. */
export function reporting({ commands }: WorldCluster, figures: object = {}, mounted: object = { stdout: '{"mounted":["/one"]}' }): void {
  commands.script(({ command }) => {
    if (command.at(-1) === 'mount') return mounted
    return command.at(-1) === 'report' ? { stdout: JSON.stringify({ ...FIGURES, ...figures }) } : undefined
  })
}

const metadataOf = (where: string): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = where.split('/')
  return { namespace, name }
}

export const aDataset = (where = 'data/images', spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: { ...metadataOf(where), ...metadata },
  spec: { mounts: [{ mountPoint: 's3://one', name: 'one' }], placement: 'Shared', ...spec },
})

export const aRuntime = (where = 'data/images', spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'CacheRuntime',
  metadata: { ...metadataOf(where), ...metadata },
  spec: { runtimeClassName: 'sample', worker: { replicas: 1 }, ...spec },
})

export const aReference = (where = 'web/images', to = 'dataset://data/images'): KubeObject => ({
  apiVersion: API_VERSION,
  kind: 'Dataset',
  metadata: metadataOf(where),
  spec: { mounts: [{ mountPoint: to }] },
})

/** In the namespace of the originals. */
export const aGrant = (from: string): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: ReferenceGrant.kind,
  metadata: { namespace: 'data', name: `for-${from}` },
  spec: {
    from: [{ group: 'data.fluid.io', kind: 'Dataset', namespace: from }],
    to: [{ group: 'data.fluid.io', kind: 'Dataset' }],
  },
})

/** A policy for all namespaces; to all members unless some are named. */
export const carrying = (name: string, resourceSelectors: readonly object[], clusterNames?: readonly string[], more: object = {}) => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'ClusterPropagationPolicy',
  metadata: { name },
  spec: {
    resourceSelectors,
    placement: clusterNames === undefined ? {} : { clusterAffinity: { clusterNames } },
    ...more,
  },
})

const KINDS = [
  [API_VERSION, 'Dataset'],
  [API_VERSION, 'CacheRuntime'],
  // The version that servers prefer: policies select by it.
  ['gateway.networking.k8s.io/v1', 'ReferenceGrant'],
] as const

/** Everything about datasets goes to these. */
export const carryingDatasets = (...clusterNames: string[]) =>
  carrying(
    'datasets',
    KINDS.map(([apiVersion, kind]) => ({ apiVersion, kind })),
    clusterNames.length === 0 ? undefined : clusterNames,
  )

/** A pod that mounts a claim until it is deleted; in a member, as whoever works there makes it. */
export const aReader = (where: string, claimName: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadataOf(where), annotations: RUN },
  spec: {
    terminationGracePeriodSeconds: 0,
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'reader', image: 'reader', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  },
})

export async function create({ world, hub }: Scene, ...objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) await hub.create(object)
  await world.settle()
}

/** Long enough for caches to be asked for figures again, which at rest is once a minute. */
export async function askedAgain({ world }: Scene): Promise<void> {
  await world.advance(70_000)
  await world.settle()
}

export async function statusIn(cluster: WorldCluster, where = 'data/images'): Promise<DatasetStatus> {
  const { status } = ((await cluster.get(DATASETS, where)) ?? {}) as Partial<Dataset>
  assert.ok(status !== undefined, `Dataset ${where} has no status in ${cluster.name}`)
  return status
}

/** Of the hub and each member; empty where there is none. */
export async function phasesOf({ hub, members }: Scene, where = 'data/images'): Promise<string[]> {
  const found = await Promise.all([hub, ...members].map((cluster) => cluster.get(DATASETS, where)))
  return found.map((dataset) => (dataset?.status as DatasetStatus | undefined)?.phase ?? '')
}

/** `False NotEverywhere: not ready in member2`; empty where there is no such condition. */
export async function saidBy(cluster: WorldCluster, type: string, where = 'data/images'): Promise<string> {
  const dataset = await cluster.get(DATASETS, where)
  const condition = dataset === undefined ? undefined : conditionsOf(dataset).get(type)
  return condition === undefined ? '' : `${condition.status} ${condition.reason}: ${condition.message}`
}

export const bindingOf = async ({ hub }: Scene, name: string, namespace = 'data'): Promise<ResourceBinding | undefined> =>
  (await hub.get(RESOURCE_BINDINGS, `${namespace}/${name}`)) as ResourceBinding | undefined
