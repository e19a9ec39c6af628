/**
 * The datasets that a pod uses through its claims, with what plugins need to know of each, or why the pod cannot be created: a
 * claim that does not exist, a dataset that nobody serves yet. A dataset that refers to another is where that one's cache is:
 * its volume names the runtime that really holds the data.
 */
import type { AdmissionRead, AdmissionReader } from '../../kinds/admission.ts'
import { type Dataset, runtimeKinds } from '../../kinds/fluid/index.ts'
import { commonLabel, fuseLabel } from '../../kinds/fluid/names.ts'
import { DATASETS } from '../../kinds/fluid/resources.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../kinds/kubernetes/resources.ts'
import type { NodeAffinity, NodeSelectorTerm, PersistentVolume, PersistentVolumeClaim, Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'
import type { Resource } from '../../kube/resource.ts'

export interface PodDataset {
  /** The claim through which the pod uses it. */
  claim: string
  /** The dataset of that claim, in the namespace of the pod. */
  name: string
  namespace: string
  /** On nodes that hold a part of its cache. */
  cacheLabel: string
  /** On nodes that have a client of it. */
  fuseLabel: string
  /** Labels of the nodes on which clients may run. */
  fuseNodeSelector: Readonly<Record<string, string>>
  /** Where its workers may run, as alternatives. */
  cacheTerms: readonly NodeSelectorTerm[]
  /** Of its volume: where and what is mounted. */
  attributes: Readonly<Record<string, string>>
  accessModes: readonly string[]
  /** The dataset that really holds the data: itself, or the one that it refers to. */
  holder: { namespace: string; name: string }
  /** Of that dataset. */
  runtime: AnyRuntime
}

/** All that is read to find them. */
export const DATASET_READS: readonly AdmissionRead[] = Object.freeze([
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  DATASETS,
  ...runtimeKinds.map(({ resource }) => resource),
])

/** Every key of `commonLabel` begins with it. */
const CACHE_LABEL_PREFIX = 'fluid.io/s-'
const SKIP_PRECHECK = 'sidecar.fluid.io/skip-precheck'
/** On claims that are not named like their dataset: its name. The second is what the first was called before. */
const MANAGED_BY = ['fluid.io/managed-by', 'fluid.io/wrapped-by']
const CSI_DRIVER = 'fuse.csi.fluid.io'

/** By the type that a dataset calls its runtime: alluxio, cache, efc, … */
const RESOURCE_OF_TYPE: ReadonlyMap<string, Resource> = new Map(
  runtimeKinds.map(({ kind, resource }): [string, Resource] => [kind.replace(/Runtime$/, '').toLowerCase(), resource]),
)

/** As far as all runtimes have it: `client` is what CacheRuntime calls `fuse`. */
export interface AnyRuntime extends KubeObject {
  spec?: {
    fuse?: { nodeSelector?: Record<string, string>; metrics?: { scrapeTarget?: string } }
    client?: { nodeSelector?: Record<string, string> }
  }
  status?: { cacheAffinity?: NodeAffinity }
}

/** By the name of the claim, so that the order of volumes does not matter. */
export function datasetsOf(pod: Pod, namespace: string, read: AdmissionReader): Parsed<PodDataset[]> {
  const claims = claimsOf(pod).map((name) => ({ name, claim: found(read, PERSISTENT_VOLUME_CLAIMS, { namespace, name }) }))
  const missing = claims.filter(({ claim }) => claim === undefined).map(({ name }) => name)
  if (missing.length > 0)
    return unparsed(
      `failed to get the following PVCs [${missing.join(' ')}]: create them first; the claim of a dataset exists once it is Bound`,
    )
  const isPrechecked = pod.metadata.annotations?.[SKIP_PRECHECK] !== 'true'
  const datasets: PodDataset[] = []
  for (const { claim } of claims) {
    const name = claim === undefined ? undefined : datasetNameOf(claim)
    if (claim === undefined || name === undefined) continue
    const dataset = datasetOf(claim, { namespace, name, isPrechecked }, read)
    if (dataset.error !== undefined) return unparsed(dataset.error)
    datasets.push(dataset.value)
  }
  return parsed(datasets)
}

/** Each once, in the order of their names. */
function claimsOf({ spec }: Pod): string[] {
  const names = (spec?.volumes ?? []).map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? '')
  return [...new Set(names)].filter((name) => name !== '').sort()
}

/** Undefined: the claim is of no dataset. */
function datasetNameOf({ metadata: { name, labels = {} } }: PersistentVolumeClaim): string | undefined {
  const manager = MANAGED_BY.find((key) => Object.hasOwn(labels, key))
  if (manager !== undefined) return labels[manager]
  return Object.keys(labels).some((key) => key.startsWith(CACHE_LABEL_PREFIX)) ? name : undefined
}

interface Named {
  namespace: string
  name: string
}

interface Wanted extends Named {
  isPrechecked: boolean
}

function datasetOf(claim: PersistentVolumeClaim, { namespace, name, isPrechecked }: Wanted, read: AdmissionReader): Parsed<PodDataset> {
  const shown = `dataset "${namespace}/${name}"`
  const dataset = found(read, DATASETS, { namespace, name })
  if (dataset === undefined) return unparsed(`${shown} not found: create it, or remove the claim ${claim.metadata.name} from the pod`)
  const problem = isPrechecked ? notBound(dataset, shown) : undefined
  if (problem !== undefined) return unparsed(problem)
  const volume = volumeOf(claim, read)
  const holder = holderOf(volume, { namespace, name })
  const held = holder === undefined ? dataset : found(read, DATASETS, holder)
  const runtime = held === undefined ? undefined : runtimeOf(held, read)
  if (held === undefined || runtime === undefined) {
    const of = holder === undefined ? shown : `dataset "${holder.namespace}/${holder.name}", to which ${shown} refers,`
    return unparsed(`${of} has no runtime: create a runtime of its name, or wait until it is Bound`)
  }
  const named = { namespace: held.metadata.namespace ?? '', name: held.metadata.name ?? '', uid: held.metadata.uid ?? '' }
  return parsed({
    claim: claim.metadata.name ?? '',
    name,
    namespace,
    cacheLabel: commonLabel(named),
    fuseLabel: fuseLabel(named),
    fuseNodeSelector: runtime.spec?.client?.nodeSelector ?? runtime.spec?.fuse?.nodeSelector ?? {},
    cacheTerms: runtime.status?.cacheAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [],
    attributes: volume?.spec?.csi?.volumeAttributes ?? {},
    accessModes: claim.spec?.accessModes ?? [],
    holder: { namespace: named.namespace, name: named.name },
    runtime,
  })
}

function notBound({ status }: Dataset, shown: string): string | undefined {
  const { phase = '', conditions = [] } = status ?? {}
  if (phase !== '' && phase !== 'NotBound') return undefined
  const notReady = conditions.find(({ type }) => type === 'NotReady')
  if (notReady !== undefined) return `${shown} not ready because ${notReady.message ?? notReady.reason ?? 'its runtime is not set up'}`
  return `${shown} not bound: wait until its phase is Bound, or set the annotation ${SKIP_PRECHECK}: "true" on the pod`
}

/** The volume of a claim, provided that the volume, too, says that it is of this claim. */
function volumeOf({ metadata, spec }: PersistentVolumeClaim, read: AdmissionReader): PersistentVolume | undefined {
  if (spec?.volumeName === undefined || spec.volumeName === '') return undefined
  const volume = found(read, PERSISTENT_VOLUMES, { namespace: '', name: spec.volumeName })
  const { namespace, name } = volume?.spec?.claimRef ?? {}
  return namespace === metadata.namespace && name === metadata.name ? volume : undefined
}

/** The dataset that really holds the data, if that is another. */
function holderOf(volume: PersistentVolume | undefined, own: Named): Named | undefined {
  const { driver, volumeAttributes = {} } = volume?.spec?.csi ?? {}
  const { runtime_namespace: namespace, runtime_name: name } = volumeAttributes
  if (driver !== CSI_DRIVER || namespace === undefined || name === undefined) return undefined
  return namespace === own.namespace && name === own.name ? undefined : { namespace, name }
}

/** The runtime that the dataset is bound to; before it is bound, the one of its name. */
function runtimeOf({ metadata: { namespace = '', name = '' }, status }: Dataset, read: AdmissionReader): AnyRuntime | undefined {
  const bound = RESOURCE_OF_TYPE.get(status?.runtimes?.[0]?.type ?? '')
  for (const resource of bound === undefined ? RESOURCE_OF_TYPE.values() : [bound]) {
    const runtime = found(read, resource, { namespace, name })
    if (runtime !== undefined) return runtime as AnyRuntime
  }
  return undefined
}

function found<T extends KubeObject>(read: AdmissionReader, of: Resource<T>, { namespace, name }: Named): T | undefined {
  return read.get({ group: of.group, resource: of.plural }, namespace, name) as T | undefined
}
