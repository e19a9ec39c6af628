/** Reads what concerns a dataset, from the cluster that it is in: a get for each kind of runtime that is served, and six more requests. */
import type { Client } from '../../client/client.ts'
import { FORBIDDEN, type Got, got, type Listed, listFirst, NONE } from '../../client/read-as-caller.ts'
import { type CacheRuntimeClass, type Dataset, runtimeKinds } from '../../kinds/fluid/index.ts'
import { volumeName } from '../../kinds/fluid/names.ts'
import { referenceOf } from '../../kinds/fluid/reference.ts'
import { CACHE_RUNTIME_CLASSES, DATASETS } from '../../kinds/fluid/resources.ts'
import { LABELS } from '../../kinds/fluid/well-known.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../kinds/kubernetes/resources.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { sidecarsOf } from '../sidecar/labels.ts'
import { type Commands, commandsFor } from './commands.ts'

export interface DatasetInput {
  dataset: Dataset
  /** The one that it refers to, if any. */
  original?: Got<Dataset>
  /** Those of its name. */
  runtimes: readonly KubeObject[]
  /** Kinds of runtimes that may not be read. */
  hidden: readonly string[]
  /** That a CacheRuntime names. */
  runtimeClass: Got<CacheRuntimeClass>
  /** Masters, workers and clients. */
  components: Listed<Pod>
  volume: Got<PersistentVolume>
  claim: Got<PersistentVolumeClaim>
  /** Pods of the namespace. */
  pods: Listed<Pod>
  commands: Commands
}

const LONGEST_LABEL = 63

export interface Asked {
  /** Kinds that the server has. */
  served: readonly Resource[]
  context?: string
}

export async function readDatasetInput(client: Client, dataset: Dataset, { served, context }: Asked): Promise<DatasetInput> {
  const { namespace = '', name = '' } = dataset.metadata
  const kinds = runtimeKinds.filter(({ group, kind }) => served.some((one) => one.group === group && one.kind === kind))
  const referred = referenceOf(dataset)
  const [runtimes, components, volume, claim, pods, original] = await Promise.all([
    Promise.all(kinds.map(({ resource }) => got(client, resource as Resource, { namespace, name }))),
    name.length > LONGEST_LABEL ? NONE : listFirst<Pod>(client, PODS, { namespace, labelSelector: `${LABELS.cacheRuntimeName}=${name}` }),
    got<PersistentVolume>(client, PERSISTENT_VOLUMES, { name: volumeName({ namespace, name }) }),
    got<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, { namespace, name }),
    listFirst<Pod>(client, PODS, { namespace }),
    referred === undefined ? undefined : got<Dataset>(client, DATASETS, { namespace: referred.namespace, name: referred.name }),
  ])
  const found = runtimes.filter((runtime): runtime is KubeObject => runtime !== undefined && runtime !== FORBIDDEN)
  const className = classNameOf(found.find(({ kind }) => kind === 'CacheRuntime'))
  return {
    dataset,
    original,
    runtimes: found,
    hidden: kinds.filter((_kind, i) => runtimes[i] === FORBIDDEN).map(({ kind }) => kind),
    runtimeClass: className === undefined ? undefined : await got<CacheRuntimeClass>(client, CACHE_RUNTIME_CLASSES, { name: className }),
    components,
    volume,
    claim,
    pods,
    commands: commandsFor(namespace, context),
  }
}

export const classNameOf = (runtime: KubeObject | undefined): string | undefined =>
  runtime?.kind === 'CacheRuntime' ? (runtime.spec as { runtimeClassName?: string } | undefined)?.runtimeClassName : undefined

/** Pods that read the dataset of this name, by its claim or by a sidecar. */
export const usersOf = (pods: readonly Pod[], dataset: string): Pod[] =>
  pods.filter((pod) => claimsOf(pod).includes(dataset) || hasSidecar(pod, dataset))

export const hasSidecar = (pod: Pod, dataset: string): boolean => sidecarsOf(pod).some(({ name }) => name === dataset)

export const claimsOf = ({ spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? [])
