/** Objects and queries that the tests of the detector share. `where` is `namespace/name`, or a name alone. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { expectQuiet } from '../../faultsim/expect/index.ts'
import { aWorld, type World, type WorldCluster } from '../../faultsim/world/index.ts'
import type { Binding, Policy, PropagationSpec } from '../../kinds/karmada/index.ts'
import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Controller } from '../../runtime/controller.ts'
import type { FleetDeps } from '../services.ts'
import { hubCast } from '../testing.ts'
import { detectorControllers } from './index.ts'

function metadataOf(where: string): KubeObject['metadata'] {
  const [first = '', second] = where.split('/')
  return second === undefined ? { name: first } : { namespace: first, name: second }
}

export const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment' }
export const CLUSTER_ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }

export interface DeploymentParts {
  replicas?: number
  labels?: Record<string, string>
  pod?: Record<string, unknown>
}

export function aDeployment(where: string, { replicas = 2, labels = {}, pod = {} }: DeploymentParts = {}): KubeObject {
  const { name = '' } = metadataOf(where)
  return {
    ...DEPLOYMENT,
    metadata: { ...metadataOf(where), labels: { app: name, ...labels } },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'web', image: 'nginx:1.27', resources: { requests: { cpu: '100m' } } }], ...pod },
      },
    },
  }
}

/** Namespaced when `where` has a namespace, else cluster-scoped. */
export function aPolicy(where: string, spec: Partial<PropagationSpec> & Pick<PropagationSpec, 'resourceSelectors'>): KubeObject {
  const metadata = metadataOf(where)
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: metadata.namespace === undefined ? 'ClusterPropagationPolicy' : 'PropagationPolicy',
    metadata,
    spec: { placement: { clusterAffinity: { clusterNames: ['member1'] } }, ...spec },
  }
}

export const selecting = (name: string): PropagationSpec['resourceSelectors'] => [{ ...DEPLOYMENT, name }]

export const placedIn = (...clusterNames: string[]): PropagationSpec['placement'] => ({ clusterAffinity: { clusterNames } })

export const bindingAt = async (hub: WorldCluster, where: string): Promise<Binding | undefined> =>
  (await hub.get(where.includes('/') ? RESOURCE_BINDINGS : (CLUSTER_RESOURCE_BINDINGS as Resource), where)) as Binding | undefined

export async function theBinding(hub: WorldCluster, where: string): Promise<Binding> {
  const binding = await bindingAt(hub, where)
  assert.ok(binding !== undefined, `there is no binding ${where}`)
  return binding
}

const idOf = (policy: KubeObject): string => {
  const [id] = Object.entries(policy.metadata.labels ?? {}).flatMap(([key, value]) => (key.endsWith('permanent-id') ? [value] : []))
  assert.ok(id !== undefined, 'the policy has no permanent id')
  return id
}

/** Annotations and labels of a claim in a short form that can be compared: `namespace/name id`. */
export function claimText(object: KubeObject | undefined): string | undefined {
  const { labels = {}, annotations = {} } = object?.metadata ?? {}
  const namespace = annotations['propagationpolicy.karmada.io/namespace']
  const name = annotations['propagationpolicy.karmada.io/name'] ?? annotations['clusterpropagationpolicy.karmada.io/name']
  const id = labels['propagationpolicy.karmada.io/permanent-id'] ?? labels['clusterpropagationpolicy.karmada.io/permanent-id']
  if (namespace === undefined && name === undefined && id === undefined) return undefined
  return `${namespace === undefined ? '' : `${namespace}/`}${name} ${id}`
}

export const claimTextOf = (policy: KubeObject): string => {
  const { namespace, name } = policy.metadata
  return `${namespace === undefined ? '' : `${namespace}/`}${name} ${idOf(policy)}`
}

export const clustersOf = (object: { spec?: Pick<NonNullable<Policy['spec']>, 'placement'> }): readonly string[] | undefined =>
  object.spec?.placement?.clusterAffinity?.clusterNames

/** Events about an object, as `reason: message`, in the order in which they were written. */
export async function eventsOf(hub: WorldCluster, kind: string, name: string): Promise<string[]> {
  const events = await hub.list(EVENTS)
  return events
    .filter(({ involvedObject }) => (involvedObject as KubeObject).kind === kind && (involvedObject as { name?: string }).name === name)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ reason, message }) => `${reason}: ${message}`)
}

export type Cast = (deps: FleetDeps) => readonly Controller[]

export const DETECTOR: Cast = (deps) => detectorControllers(deps)

/** A hub on which the detector runs; at the end it must be quiet. */
export function hubStory(name: string, body: (hub: WorldCluster, world: World) => Promise<void>, cast: Cast = DETECTOR): void {
  it(name, async () => {
    const world = await aWorld({ controllers: hubCast(cast) }).settle()
    await body(world.hub, world)
    await world.settle()
    await expectQuiet(world)
    await world.stop()
  })
}
