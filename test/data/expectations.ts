/** What stories look at, and wait for. */
import assert from 'node:assert/strict'
import { conditionsOf } from '../../src/faultsim/expect/index.ts'
import type { CacheRuntime, CacheRuntimeStatus, Dataset, DatasetStatus } from '../../src/kinds/fluid/index.ts'
import { runtimeKinds } from '../../src/kinds/fluid/index.ts'
import { ADVANCED_STATEFUL_SETS, CACHE_RUNTIMES, DATASETS } from '../../src/kinds/fluid/resources.ts'
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SECRETS,
  SERVICES,
} from '../../src/kinds/kubernetes/resources.ts'
import type { Event, Pod } from '../../src/kinds/kubernetes/types.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'
import type { DataTestbed } from './story.ts'

export type StatedDataset = Dataset & { status: DatasetStatus }

export async function there<T extends KubeObject>(testbed: DataTestbed, resource: Resource<T>, name: string): Promise<T> {
  const found = await testbed.get(resource, name)
  assert.ok(found !== undefined, `${resource.kind} ${name} is not there`)
  return found
}

export async function datasetOf(testbed: DataTestbed, name = 'demo'): Promise<StatedDataset> {
  const dataset = await there(testbed, DATASETS, name)
  assert.ok(dataset.status !== undefined, `Dataset ${name} has no status`)
  return dataset as StatedDataset
}

export async function runtimeOf(testbed: DataTestbed, name = 'demo'): Promise<CacheRuntime & { status: CacheRuntimeStatus }> {
  const runtime = await there(testbed, CACHE_RUNTIMES, name)
  assert.ok(runtime.status !== undefined, `CacheRuntime ${name} has no status`)
  return runtime as CacheRuntime & { status: CacheRuntimeStatus }
}

export const phaseOf = async (testbed: DataTestbed, name = 'demo'): Promise<string> =>
  (await testbed.get(DATASETS, name))?.status?.phase ?? ''

export const becomes = (testbed: DataTestbed, phase: string, name = 'demo'): Promise<void> =>
  testbed.until(`Dataset ${name} ${phase}`, async () => (await phaseOf(testbed, name)) === phase)

/** Bound, with its volume and claim, and nothing left to be done. */
export async function isBound(testbed: DataTestbed, name = 'demo'): Promise<StatedDataset> {
  await becomes(testbed, 'Bound', name)
  await testbed.until(`claim ${name} bound`, async () => (await testbed.get(PERSISTENT_VOLUME_CLAIMS, name))?.status?.phase === 'Bound')
  await testbed.settle()
  assert.equal(await phaseOf(testbed, name), 'Bound')
  return datasetOf(testbed, name)
}

/** `Ready=True`, …: the conditions of a dataset. */
export const conditionTexts = async (testbed: DataTestbed, name = 'demo'): Promise<string[]> =>
  [...conditionsOf(await datasetOf(testbed, name)).values()].map(({ type, status }) => `${type}=${status}`)

export const messageOf = async (testbed: DataTestbed, type: string, name = 'demo'): Promise<string> =>
  conditionsOf(await datasetOf(testbed, name)).get(type)?.message ?? ''

/** Waits until the dataset is not bound for this reason. */
export async function waitsBecause(testbed: DataTestbed, why: RegExp, name = 'demo'): Promise<void> {
  await testbed.until(`Dataset ${name} says ${why}`, async () => {
    const dataset = await testbed.get(DATASETS, name)
    return dataset?.status !== undefined && why.test(conditionsOf(dataset).get('NotReady')?.message ?? '')
  })
  assert.equal(await phaseOf(testbed, name), 'NotBound')
}

/** `True ServedByBuiltin: served by …`: what a runtime says about who serves it. */
export async function servedOf(testbed: DataTestbed, resource: Resource, name = 'demo'): Promise<string> {
  const runtime = await testbed.get(resource as Resource<KubeObject>, name)
  const served = runtime === undefined ? undefined : conditionsOf(runtime).get('Served')
  return served === undefined ? '' : `${served.status} ${served.reason}: ${served.message}`
}

export const isServedAs = (testbed: DataTestbed, resource: Resource, what: RegExp, name = 'demo'): Promise<void> =>
  testbed.until(`${resource.kind} ${name} says ${what}`, async () => what.test(await servedOf(testbed, resource, name)))

/** Pods of a set by name, in the order of names. */
export async function podsOf(testbed: DataTestbed, set: string): Promise<Pod[]> {
  const pods = await testbed.list(PODS, { labelSelector: `cacheruntime.fluid.io/component-name=${set}` })
  return pods.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

export const nodesUnder = async (testbed: DataTestbed, set: string): Promise<string[]> =>
  (await podsOf(testbed, set)).map(({ spec }) => spec?.nodeName ?? '')

export const uidsOf = async (testbed: DataTestbed, set: string): Promise<Record<string, string>> =>
  Object.fromEntries((await podsOf(testbed, set)).map(({ metadata }) => [metadata.name ?? '', metadata.uid ?? '']))

const isData = (key: string): boolean => /^fluid\.io\/(s-|f-|dataset-num)|^fluid_exclusive$/.test(key)

/** What datasets say about a node, except which nodes have readers. */
export async function cacheLabels(testbed: DataTestbed, node: string): Promise<Record<string, string>> {
  const { labels = {} } = (await there(testbed, NODES, node)).metadata
  return Object.fromEntries(Object.entries(labels).filter(([key]) => isData(key) && !key.startsWith('fluid.io/f-')))
}

export const isLabelled = async (testbed: DataTestbed, node: string, name = 'demo'): Promise<boolean> =>
  (await cacheLabels(testbed, node))[`fluid.io/s-${testbed.namespace}-${name}`] === 'true'

/** Messages of events with a reason about an object, one for each time that it was recorded. */
export async function eventsOf(testbed: DataTestbed, reason: string, about = 'demo'): Promise<string[]> {
  const events = (await testbed.list(EVENTS)) as Event[]
  return events
    .filter((event) => event.reason === reason && event.involvedObject?.name === about)
    .flatMap((event) => Array.from({ length: Math.max(1, event.count ?? 1, event.series?.count ?? 1) }, () => event.message ?? ''))
}

/** Exactly these events are recorded; a moment after what they are about, because nothing waits for them. */
export async function areRecorded(testbed: DataTestbed, reason: string, messages: readonly string[], about = 'demo'): Promise<void> {
  await testbed.until(`${messages.length} events ${reason}`, async () => (await eventsOf(testbed, reason, about)).length >= messages.length)
  assert.deepEqual(await eventsOf(testbed, reason, about), messages)
}

const MADE: readonly Resource[] = [
  DATASETS,
  ...runtimeKinds.map(({ resource }) => resource as Resource),
  ADVANCED_STATEFUL_SETS,
  DAEMON_SETS,
  CONTROLLER_REVISIONS,
  PODS,
  SERVICES,
  CONFIG_MAPS,
  SECRETS,
  PERSISTENT_VOLUME_CLAIMS,
]

/** Everything that a dataset may leave: `Kind name`, and labels of nodes. */
export async function contentsOf(testbed: DataTestbed): Promise<string[]> {
  const lists = await Promise.all(MADE.map(async (resource) => ({ resource, items: await testbed.list(resource as Resource<KubeObject>) })))
  const volumes = (await testbed.list(PERSISTENT_VOLUMES)).filter(({ spec }) => spec?.claimRef?.namespace === testbed.namespace)
  const nodes = await Promise.all(testbed.nodes.map((node) => there(testbed, NODES, node)))
  return [
    ...lists.flatMap(({ resource, items }) => items.map(({ metadata }) => `${resource.kind} ${metadata.name}`)),
    ...volumes.map(({ metadata }) => `PersistentVolume ${metadata.name}`),
    ...nodes.flatMap(({ metadata }) =>
      Object.keys(metadata.labels ?? {})
        .filter(isData)
        .map((key) => `${metadata.name} ${key}`),
    ),
  ].sort()
}

/** Nothing but what was there before. */
export async function isEmptied(testbed: DataTestbed, before: readonly string[]): Promise<void> {
  await testbed.until('everything gone', async () => (await contentsOf(testbed)).every((one) => before.includes(one)))
  await testbed.settle()
  assert.deepEqual(await contentsOf(testbed), before)
}

export const isGone = (testbed: DataTestbed, resource: Resource, name: string): Promise<void> =>
  testbed.until(`${resource.kind} ${name} gone`, async () => (await testbed.get(resource as Resource<KubeObject>, name)) === undefined)
