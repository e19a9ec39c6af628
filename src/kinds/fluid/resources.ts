/** Fluid's resources by the names that controllers use; each has the type of its objects. */
import * as kinds from './index.ts'

export const DATASETS = kinds.Dataset.resource
export const CACHE_RUNTIMES = kinds.CacheRuntime.resource
export const CACHE_RUNTIME_CLASSES = kinds.CacheRuntimeClass.resource
export const ADVANCED_STATEFUL_SETS = kinds.AdvancedStatefulSet.resource
