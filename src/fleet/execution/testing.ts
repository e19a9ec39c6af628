/** Works for tests, and worlds whose hub runs only execution. */

import type { WorldCluster } from '../../faultsim/world/cluster.ts'
import type { World } from '../../faultsim/world/index.ts'
import { executionNamespace } from '../../kinds/karmada/names.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import { CONFLICT_RESOLUTION_ANNOTATION, EXECUTION_FINALIZER } from '../../kinds/karmada/well-known.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { fleetWorld } from '../testing.ts'
import { executionControllers } from './index.ts'

export interface WorkOptions {
  cluster?: string
  suspendDispatching?: boolean
  preserveResourcesOnDeletion?: boolean
}

/** A Work as a binding would make it. */
export function aWork(name: string, manifests: readonly KubeObject[], { cluster = 'member1', ...spec }: WorkOptions = {}): Work {
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { name, namespace: executionNamespace(cluster), finalizers: [EXECUTION_FINALIZER] },
    spec: { workload: { manifests: manifests as never }, ...spec },
  } as unknown as Work
}

export const aConfigMap = (name: string, data: Record<string, string> = { a: '1' }, namespace = 'default'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
})

export const overwriting = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [CONFLICT_RESOLUTION_ANNOTATION]: 'overwrite' } },
})

export function aDeployment(name: string, replicas = 2, image = 'nginx:1'): KubeObject {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', annotations: { 'resourcetemplate.karmada.io/generation': '1' } },
    spec: { replicas, selector: { matchLabels: labels }, template },
  }
}

export interface ExecutionWorldOptions {
  members?: number
  nodes?: number
  interpreter?: Interpreter
}

export const executionWorld = ({ members = 1, nodes, interpreter }: ExecutionWorldOptions = {}): Promise<World> =>
  fleetWorld({ members, nodes, cast: (given) => executionControllers({ interpreter: interpreter ?? given.interpreter }) })

export async function theWork(hub: WorldCluster, name: string, cluster = 'member1'): Promise<Work> {
  const work = await hub.get(WORKS, `${executionNamespace(cluster)}/${name}`)
  if (work === undefined) throw new Error(`there is no Work ${name} for ${cluster}`)
  return work as Work
}

/** `Applied True AppliedSuccessful: Manifest has …`, one line per condition. */
export const conditionsOf = ({ status }: Work): string[] =>
  (status?.conditions ?? []).map(({ type, status: state, reason, message }) => `${type} ${state} ${reason}: ${message}`).sort()

export const ES = 'karmada-es-member1'
export const DISPATCHED = 'Dispatching True Dispatching: Work is being dispatched to member clusters.'
export const APPLIED = 'Applied True AppliedSuccessful: Manifest has been successfully applied'
