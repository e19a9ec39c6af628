/** Verbs for stories about replicated pods: a test plays the node where there is none, and reads the events. */
import assert from 'node:assert/strict'
import { formatTime } from '../../../base/clock.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { DEPLOYMENTS, EVENTS, PODS, REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Deployment, DeploymentSpec, Pod, ReplicaSet, ReplicaSetSpec } from '../../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../../kube/meta.ts'

/** Without a token, whose volume has a random name. */
const podTemplate = (app: string) => ({
  metadata: { labels: { app } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'one' }] },
})

export function aReplicaSet(name: string, spec: ReplicaSetSpec = {}, metadata: ObjectMeta = {}): ReplicaSet {
  const defaults = { selector: { matchLabels: { app: name } }, template: podTemplate(name) }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { ...defaults, ...spec },
  }
}

export function aDeployment(name: string, spec: DeploymentSpec = {}, metadata: ObjectMeta = {}): Deployment {
  const defaults = { selector: { matchLabels: { app: name } }, template: podTemplate(name) }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { ...defaults, ...spec },
  }
}

export const aPod = (name: string, metadata: ObjectMeta = {}, more: Partial<Pod> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { containers: [{ name: 'main', image: 'one' }] },
  ...more,
})

export async function podsIn(cluster: WorldCluster): Promise<Pod[]> {
  const pods = (await cluster.list(PODS, { namespace: 'default' })) as Pod[]
  return pods.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

export async function podNames(cluster: WorldCluster): Promise<string[]> {
  return (await podsIn(cluster)).map(({ metadata }) => metadata.name ?? '')
}

/** Oldest revision first. */
export async function replicaSetsIn(cluster: WorldCluster): Promise<ReplicaSet[]> {
  const sets = (await cluster.list(REPLICA_SETS, { namespace: 'default' })) as ReplicaSet[]
  const revision = ({ metadata }: ReplicaSet): number => Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0)
  return sets.sort((a, b) => revision(a) - revision(b))
}

export async function theReplicaSet(cluster: WorldCluster, name: string): Promise<ReplicaSet> {
  const found = await cluster.get(REPLICA_SETS, `default/${name}`)
  assert.ok(found !== undefined, `there is no ReplicaSet ${name}`)
  return found
}

export async function theDeployment(cluster: WorldCluster, name: string): Promise<Deployment> {
  const found = await cluster.get(DEPLOYMENTS, `default/${name}`)
  assert.ok(found !== undefined, `there is no Deployment ${name}`)
  return found
}

export async function setReady(world: World, pod: Pod, isReady = true): Promise<void> {
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: formatTime(world.clock.now()) }
  await world.member.patch(PODS, `default/${pod.metadata.name}`, { status: { phase: 'Running', conditions: [ready] } }, 'status')
}

/** Makes every pod ready, and those created as a result, until there are no more. */
export async function allReady(world: World): Promise<void> {
  for (;;) {
    const waiting = (await podsIn(world.member)).filter(
      (pod) => !pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    )
    if (waiting.length === 0) return
    for (const pod of waiting) await setReady(world, pod)
    await world.settle()
  }
}

/** The events of an object, oldest first: `reason: message`. */
export async function eventsOf(cluster: WorldCluster, kind: string, name: string): Promise<string[]> {
  const events = await cluster.list(EVENTS, { namespace: 'default' })
  return events
    .filter(({ involvedObject }) => {
      const of = involvedObject as { kind?: string; name?: string }
      return of.kind === kind && of.name === name
    })
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
    .map(({ reason, message }) => `${reason}: ${message}`)
}
