/** Fluid's kinds: one line per kind, and the types that other code uses. */
import type { OwnKind } from '../schema/define-kind.ts'
import { AdvancedStatefulSet } from './advanced-stateful-set.ts'
import { CacheRuntime } from './cache-runtime.ts'
import { CacheRuntimeClass } from './cache-runtime-class.ts'
import { Dataset } from './dataset.ts'

export type { AdvancedStatefulSetSpec, AdvancedStatefulSetStatus } from './advanced-stateful-set.ts'
export type { CacheRuntimeComponentStatus, CacheRuntimeSpec, CacheRuntimeStatus, CacheTierLevel } from './cache-runtime.ts'
export type { CacheRuntimeComponent, CacheRuntimeTopology, DataOperationSpec } from './cache-runtime-class.ts'
export type { DatasetCondition, DatasetSpec, DatasetStatus } from './dataset.ts'
export type { EncryptOption, Mount, RuntimeCondition, User, VersionSpec } from './parts.ts'
export { AdvancedStatefulSet, CacheRuntime, CacheRuntimeClass, Dataset }

export const fluidKinds: readonly OwnKind[] = Object.freeze([Dataset, CacheRuntime, CacheRuntimeClass, AdvancedStatefulSet])
