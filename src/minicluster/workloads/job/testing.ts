/** Verbs for stories about Jobs: a test plays the node, and decides how each pod ends. */
import assert from 'node:assert/strict'
import { formatTime } from '../../../base/clock.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { EVENTS, JOBS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Job, JobSpec, JobStatus, Pod } from '../../../kinds/kubernetes/types.ts'

export function aJob(name: string, spec: JobSpec = {}, metadata: Job['metadata'] = {}): Job {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work' }] } }
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'default', ...metadata }, spec: { template, ...spec } }
}

/** Oldest first; within the same second by name. */
export async function podsOf(cluster: WorldCluster, job: string): Promise<Pod[]> {
  const pods = (await cluster.list(PODS, { namespace: 'default', labelSelector: `job-name=${job}` })) as Pod[]
  const key = ({ metadata }: Pod): string => `${metadata.creationTimestamp} ${metadata.name}`
  return pods.sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

export async function activePodsOf(cluster: WorldCluster, job: string): Promise<Pod[]> {
  const pods = await podsOf(cluster, job)
  return pods.filter(
    ({ status, metadata }) => !['Succeeded', 'Failed'].includes(status?.phase ?? '') && metadata.deletionTimestamp === undefined,
  )
}

const whereOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`

/** Puts it on a node, which must then confirm when the pod is deleted. */
export async function bindPod(world: World, { metadata: { name, namespace } }: Pod): Promise<void> {
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target: { kind: 'Node', name: 'some-node' } }
  await world.member.inside(() => world.member.client.create(PODS, binding, { subresource: 'binding' }))
}

export async function runPod(world: World, pod: Pod, restartCount = 0): Promise<void> {
  const now = formatTime(world.clock.now())
  const state = { running: { startedAt: now } }
  const status = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
    containerStatuses: [{ name: 'main', image: 'work', imageID: '', ready: true, restartCount, state }],
  }
  await world.member.patch(PODS, whereOf(pod), { status }, 'status')
}

export async function endPod(world: World, pod: Pod, phase: 'Succeeded' | 'Failed', exitCode = phase === 'Failed' ? 1 : 0): Promise<void> {
  const now = formatTime(world.clock.now())
  const state = { terminated: { exitCode, startedAt: now, finishedAt: now } }
  const status = {
    phase,
    conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: now }],
    containerStatuses: [{ name: 'main', image: 'work', imageID: '', ready: false, restartCount: 0, state }],
  }
  await world.member.patch(PODS, whereOf(pod), { status }, 'status')
}

/** Ends every active pod, and lets all consequences happen. */
export async function endAll(world: World, job: string, phase: 'Succeeded' | 'Failed', exitCode?: number): Promise<void> {
  for (const pod of await activePodsOf(world.member, job)) await endPod(world, pod, phase, exitCode)
  await world.settle()
}

export async function jobOf(cluster: WorldCluster, name: string): Promise<Job> {
  const job = await cluster.get(JOBS, `default/${name}`)
  assert.ok(job !== undefined, `Job ${name} is not there`)
  return job as Job
}

export const statusOf = async (cluster: WorldCluster, name: string): Promise<JobStatus> => (await jobOf(cluster, name)).status ?? {}

/** `type=status reason` of each condition, in order. */
export async function conditionsOf(cluster: WorldCluster, name: string): Promise<string[]> {
  return ((await statusOf(cluster, name)).conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)
}

/** `Type Reason: message` of all events about objects of this name, in the order in which they were first recorded. */
export async function eventsOf(cluster: WorldCluster, name: string): Promise<string[]> {
  const events = (await cluster.list(EVENTS)).filter((event) => (event.involvedObject as { name?: string }).name === name)
  const stampOf = (text: string | undefined): bigint => BigInt(`0x${text?.slice(text.lastIndexOf('.') + 1)}`)
  return events
    .sort((a, b) => (stampOf(a.metadata.name) < stampOf(b.metadata.name) ? -1 : 1))
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
}
