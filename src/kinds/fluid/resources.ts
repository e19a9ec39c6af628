/** Fluid's resources by the names that controllers use; each has the type of its objects. */
import * as kinds from './index.ts'

export const DATASETS = kinds.Dataset.resource
export const ALLUXIO_RUNTIMES = kinds.AlluxioRuntime.resource
export const JUICEFS_RUNTIMES = kinds.JuiceFSRuntime.resource
export const JINDO_RUNTIMES = kinds.JindoRuntime.resource
export const THIN_RUNTIMES = kinds.ThinRuntime.resource
export const THIN_RUNTIME_PROFILES = kinds.ThinRuntimeProfile.resource
export const CACHE_RUNTIMES = kinds.CacheRuntime.resource
export const CACHE_RUNTIME_CLASSES = kinds.CacheRuntimeClass.resource
export const EFC_RUNTIMES = kinds.EFCRuntime.resource
export const VINEYARD_RUNTIMES = kinds.VineyardRuntime.resource
export const DATA_LOADS = kinds.DataLoad.resource
export const DATA_MIGRATES = kinds.DataMigrate.resource
export const DATA_BACKUPS = kinds.DataBackup.resource
export const DATA_PROCESSES = kinds.DataProcess.resource
export const ADVANCED_STATEFUL_SETS = kinds.AdvancedStatefulSet.resource
