/** Verbs for stories about DaemonSets: nothing plays the nodes or schedules the pods, so the test decides what happens. */
import assert from 'node:assert/strict'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { DAEMON_SETS, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { DaemonSet, DaemonSetSpec, DaemonSetStatus, Node, Pod, Taint } from '../../../kinds/kubernetes/types.ts'
import type { ObjectMeta } from '../../../kube/meta.ts'
import { podsIn, setReady } from '../../../runtime/workloads/pod/testing.ts'
import { targetNode } from './pod.ts'

/** A template whose image is its version. */
export const templateAt = (image: string, spec: Record<string, unknown> = {}, metadata: ObjectMeta = {}) => ({
  metadata: { labels: { app: 'agent' }, ...metadata },
  spec: { automountServiceAccountToken: false, schedulerName: 'nobody', containers: [{ name: 'main', image }], ...spec },
})

export const aDaemonSet = (spec: DaemonSetSpec = {}): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'default' },
  spec: { selector: { matchLabels: { app: 'agent' } }, template: templateAt('one'), ...spec },
})

export const aNode = (name: string, labels: Record<string, string> = {}, taints: Taint[] = []): Node => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } },
  spec: taints.length > 0 ? { taints } : {},
  status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Test', message: '' }] },
})

export async function addNodes(cluster: WorldCluster, ...nodes: (string | Node)[]): Promise<void> {
  for (const node of nodes) await cluster.create(typeof node === 'string' ? aNode(node) : node)
}

export const statusIn = async (cluster: WorldCluster): Promise<DaemonSetStatus> => {
  const found = await cluster.get(DAEMON_SETS, 'default/agent')
  assert.ok(found !== undefined, 'there is no DaemonSet agent')
  return (found as DaemonSet).status ?? {}
}

export const change = (cluster: WorldCluster, spec: DaemonSetSpec): Promise<unknown> =>
  cluster.patch(DAEMON_SETS, 'default/agent', { spec })

export const taint = (cluster: WorldCluster, node: string, ...taints: Taint[]): Promise<unknown> =>
  cluster.patch(NODES, node, { spec: { taints: taints.length > 0 ? taints : null } })

/** `a:one+ b:two`: nodes with the images of their pods; ready ones with a plus, those being deleted with a minus. */
export async function summary(cluster: WorldCluster): Promise<string> {
  const pods = await podsIn(cluster)
  return pods
    .map(({ metadata, spec, status, ...pod }) => {
      const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
      const sign = metadata.deletionTimestamp !== undefined ? '-' : isReady ? '+' : ''
      return `${targetNode({ ...pod, metadata, spec })}:${spec?.containers?.[0]?.image}${sign}`
    })
    .sort()
    .join(' ')
}

export async function podOn(cluster: WorldCluster, node: string, image?: string): Promise<Pod> {
  const found = (await podsIn(cluster)).find(
    (pod) => targetNode(pod) === node && (image === undefined || pod.spec?.containers?.[0]?.image === image),
  )
  assert.ok(found !== undefined, `there is no pod on ${node}`)
  return found
}

/** Makes the pod on a node ready, or not ready. */
export async function ready(
  world: World,
  node: string,
  { isReady = true, image }: { isReady?: boolean; image?: string } = {},
): Promise<void> {
  await setReady(world, await podOn(world.member, node, image), isReady)
  await world.settle()
}

export async function fail(world: World, node: string): Promise<void> {
  const pod = await podOn(world.member, node)
  await world.member.patch(PODS, `default/${pod.metadata.name}`, { status: { phase: 'Failed', conditions: null } }, 'status')
  await world.settle({ quietMs: 0 })
}
