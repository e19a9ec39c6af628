/** Objects and queries that the tests of the dependencies share. */
import type { WorldCluster } from '../../faultsim/world/index.ts'
import type { PropagationSpec, ResourceBinding } from '../../kinds/karmada/index.ts'
import { RESOURCE_BINDINGS } from '../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { detectorControllers } from '../detector/index.ts'
import { aDeployment, aPolicy, type Cast, selecting, theBinding } from '../detector/testing.ts'
import { dependenciesControllers } from './index.ts'

export const DETECTOR_AND_DEPENDENCIES: Cast = (deps) => [...detectorControllers(deps), ...dependenciesControllers(deps)]

/** A Deployment whose pods read ConfigMaps. */
export const reading = (name: string, ...maps: string[]): KubeObject =>
  aDeployment(`default/${name}`, { pod: { volumes: maps.map((map) => ({ name: map, configMap: { name: map } })) } })

export const taking = (name: string, more: Partial<PropagationSpec> = {}): KubeObject =>
  aPolicy(`default/${name}`, { resourceSelectors: selecting(name), propagateDeps: true, ...more })

export const aMap = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name, labels },
  data: { key: 'value' },
})

/** What the scheduler would do. */
export const scheduleTo = (hub: WorldCluster, name: string, ...clusters: string[]): Promise<KubeObject> =>
  hub.patch(RESOURCE_BINDINGS, `default/${name}-deployment`, {
    spec: { clusters: clusters.map((cluster) => ({ name: cluster, replicas: 1 })) },
  })

export const attachedTo = async (hub: WorldCluster, map: string): Promise<ResourceBinding> =>
  (await theBinding(hub, `default/${map}-configmap`)) as ResourceBinding

/** Which bindings need it and where they are, as `name: cluster cluster`. */
export const needsOf = ({ spec }: ResourceBinding): string[] =>
  (spec?.requiredBy ?? []).map(({ name, clusters = [] }) => `${name}: ${clusters.map((cluster) => cluster.name).join(' ')}`)

export const dependedBy = ({ metadata }: KubeObject): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.labels ?? {}).filter(([key]) => key.startsWith('resourcebinding.karmada.io/depended-by-')))
