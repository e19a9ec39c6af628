/** Names on the wire of datasets and their runtimes: labels, annotations, finalizers, phases, conditions. All are Fluid's. */

const PREFIX = 'fluid.io/'

/** Labels whose keys do not depend on the dataset; for the others see names.ts. */
export const LABELS = Object.freeze({
  /** On everything that belongs to a dataset: its id. */
  datasetId: `${PREFIX}dataset-id`,
  /** On workers: the id of the dataset. */
  dataset: `${PREFIX}dataset`,
  /** On workers: Exclusive or Shared. */
  datasetPlacement: `${PREFIX}dataset-placement`,
  /** On nodes: how many datasets have workers there. */
  datasetNumber: `${PREFIX}dataset-num`,
  /** On nodes: `<namespace>_<name>` of the only dataset that may have workers there. */
  exclusive: 'fluid_exclusive',
  managedBy: `${PREFIX}managed-by`,
  /** On claims: the generation of the client that they were made for. */
  fuseGeneration: 'fuse.runtime.fluid.io/generation',
  nodePublishMethod: `${PREFIX}node-publish-method`,
  /** In a node selector: nothing has it, so nothing runs. */
  fuseBalloon: `${PREFIX}fuse-balloon`,
  referringName: `${PREFIX}dataset.referring-name`,
  referringNamespace: `${PREFIX}dataset.referring-namespace`,
  cacheRuntimeName: 'cacheruntime.fluid.io/name',
  cacheRuntimeComponent: 'cacheruntime.fluid.io/component-name',
  /** On a pod of an AdvancedStatefulSet: it is deleted, and made again. */
  specifiedDelete: 'workload.fluid.io/specified-delete',
})

export const ANNOTATIONS = Object.freeze({
  /** `fluid` on volumes and claims that were made for a dataset. */
  createdBy: 'CreatedBy',
  metadataList: 'data.fluid.io/metadataList',
  /** On a dataset: how large its claim says it is. */
  storageRequest: 'pvc.fluid.io/resources.requests.storage',
  skipMountCheck: `${PREFIX}skip-check-mount-ready-target`,
  datasetsInUse: `${PREFIX}datasets-in-use`,
})
export const CREATED_BY_FLUID = 'fluid'

/** In the options of a mount: a directory of the node, `/host/path[:/path/in/the/pod]`. */
export const HOST_VOLUME_OPTION = 'fluid.fuse.hostvolume'

export const DATASET_FINALIZER = 'fluid-dataset-controller-finalizer'

/** What runtimes are called in statuses, labels and finalizers. */
export const RUNTIME_TYPES = Object.freeze({
  AlluxioRuntime: 'alluxio',
  JindoRuntime: 'jindo',
  JuiceFSRuntime: 'juicefs',
  ThinRuntime: 'thin',
  EFCRuntime: 'efc',
  VineyardRuntime: 'vineyard',
  CacheRuntime: 'cache',
})
export type RuntimeType = (typeof RUNTIME_TYPES)[keyof typeof RUNTIME_TYPES]

export const RUNTIME_CATEGORY = 'Accelerate'

export type DatasetPhase = '' | 'NotBound' | 'Pending' | 'Bound' | 'Failed' | 'Updating' | 'DataMigrating'
export type RuntimePhase = '' | 'NotReady' | 'PartialReady' | 'Ready'
export type DatasetConditionType = 'RuntimeScheduled' | 'Ready' | 'NotReady' | 'UpdateReady' | 'Updating' | 'Initialized'
export type DatasetReason = 'DatasetReady' | 'DatasetUpdating' | 'DatasetFailed' | 'DatasetFailedToSetup'

/** Conditions of runtimes: the reason belongs to the type. */
export const RUNTIME_CONDITION_REASONS = Object.freeze({
  MasterInitialized: 'Master is initialized',
  MasterReady: 'Master is ready',
  WorkersInitialized: 'Workers are initialized',
  WorkersReady: 'Workers are ready',
  WorkersScaledIn: 'Workers scaled in',
  WorkersScaledOut: 'Workers scaled out',
  FusesInitialized: 'Fuses are initialized',
  FusesReady: 'Fuses are ready',
  FusesScaledIn: 'Fuses scaled in',
  FusesScaledOut: 'Fuses scaled out',
})
export type RuntimeConditionType = keyof typeof RUNTIME_CONDITION_REASONS

/** The keys of cacheStates. */
export type CacheState =
  | 'cached'
  | 'lowWaterMark'
  | 'highWaterMark'
  | 'nonCacheable'
  | 'cachedPercentage'
  | 'cacheCapacity'
  | 'cacheHitRatio'
  | 'localHitRatio'
  | 'remoteHitRatio'
  | 'cacheThroughputRatio'
  | 'localThroughputRatio'
  | 'remoteThroughputRatio'

/** Of volumes; what the driver of that name mounts. */
export const CSI_DRIVER = 'fuse.csi.fluid.io'
export const STORAGE_CLASS = 'fluid'

/** In `ufsTotal` and `fileNum` while they are being found out. */
export const CALCULATING = '[Calculating]'
