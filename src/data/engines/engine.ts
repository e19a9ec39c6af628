/**
 * What an engine is to the controllers: it turns a runtime and its dataset into the objects that serve them, says which pods
 * matter and which commands can be run in them, or says why it cannot. Pure; one folder for each engine.
 */
import type { HostPathPrefixes } from '../../kinds/fluid/admission/index.ts'
import type { AdvancedStatefulSet, CacheRuntimeClass, Dataset } from '../../kinds/fluid/index.ts'
import type { RuntimeType } from '../../kinds/fluid/well-known.ts'
import type { ConfigMap, DaemonSet, Service } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'

export type ComponentType = 'master' | 'worker' | 'client'

/** The objects of a runtime, besides its key. All belong to the runtime. */
export interface EngineObjects {
  configMaps: readonly ConfigMap[]
  services: readonly Service[]
  /** Masters and workers. */
  sets: readonly AdvancedStatefulSet[]
  /** Clients. */
  daemonSets: readonly DaemonSet[]
}

export interface PodEntry {
  pod: string
  container: string
  command: readonly string[]
  timeoutMs: number
}

/** How a runtime is served. */
export interface Prepared {
  objects: EngineObjects
  /** The workload of each component that the runtime has; a client's is a DaemonSet. */
  components: Readonly<Partial<Record<ComponentType, { name: string; replicas: number }>>>
  /** The Secret with the random key that masters and workers share; undefined: they need none. */
  keySecret: string | undefined
  /** Mounts the sources and prints `{"mounted":["/path",…]}`; undefined: nothing has to be done for that. */
  mountUfs: PodEntry | undefined
  /** Prints how much is cached, as JSON. */
  reportSummary: PodEntry | undefined
  /** Leads a worker out, whose pod's name is appended; undefined: workers go without. */
  decommission?: PodEntry
  /** Makes a worker serve again that was being led out; its pod's name is appended. */
  recommission?: PodEntry
  /** Paths in the dataset that `mountUfs` must report; sorted. */
  mountPaths: readonly string[]
  /** What workers may hold each, by medium, in bytes: for labels of nodes. */
  quotas: { memoryBytes: number; diskBytes: number }
  /** Another engine than the one the runtime names serves it: who, as a sentence. */
  servedBy: string | undefined
  /** What the status names as the file of its values; undefined: the first ConfigMap. */
  valueFile?: string
  /** Why nothing is cached or mounted, whatever its pods are like; undefined: its pods tell. */
  simulated?: string
}

/** Why a runtime is not served. */
export interface Refused {
  /** One word, for the condition Served. */
  reason: string
  /** What is wrong, and what to do. */
  message: string
}

export type Served = { prepared: Prepared; refused?: undefined } | { refused: Refused; prepared?: undefined }

export interface EngineInput {
  runtime: KubeObject
  dataset: Dataset
  /** From the cache of classes. */
  classOf(name: string): CacheRuntimeClass | undefined
  /** From the cache of profiles (ThinRuntimeProfile). */
  profileOf(name: string): KubeObject | undefined
}

export interface EngineOptions {
  /** Whether the builtin cache serves runtimes of other engines: true in clusters of `up`, false on Kubernetes. */
  translates: boolean
  /** Directories of nodes that datasets and runtimes may name. */
  hostPathPrefixes: HostPathPrefixes
  /** Version of our own image. */
  version: string
}

/** How the nodes of a runtime that goes are cleared: a command in the first pod of its masters, tried again and then given up. */
export interface Clearing {
  /** The workloads. */
  master: string
  worker: string
  command: readonly string[]
  attempts: number
  attemptMs: number
}

export interface Engine {
  type: RuntimeType
  resource: Resource
  serve(input: EngineInput, options: EngineOptions): Served
  /** Undefined: its workers leave nothing on their nodes that a command could remove. The dataset may be gone already. */
  clearing?(input: Pick<EngineInput, 'runtime' | 'classOf'>): Clearing | undefined
}

/** The condition of every runtime that says whether and by whom it is served. */
export const SERVED_CONDITION = 'Served'
