/** Fluid's kinds: one line per kind, and the types that other code uses. */
import type { OwnKind } from '../schema/define-kind.ts'
import { AdvancedStatefulSet } from './advanced-stateful-set.ts'
import { AlluxioRuntime } from './alluxio-runtime.ts'
import { CacheRuntime } from './cache-runtime.ts'
import { CacheRuntimeClass } from './cache-runtime-class.ts'
import { DataBackup } from './data-backup.ts'
import { DataLoad } from './data-load.ts'
import { DataMigrate } from './data-migrate.ts'
import { DataProcess } from './data-process.ts'
import { Dataset } from './dataset.ts'
import { EFCRuntime } from './efc-runtime.ts'
import { JindoRuntime } from './jindo-runtime.ts'
import { JuiceFSRuntime } from './juicefs-runtime.ts'
import { ThinRuntime } from './thin-runtime.ts'
import { ThinRuntimeProfile } from './thin-runtime-profile.ts'
import { VineyardRuntime } from './vineyard-runtime.ts'

export type { AdvancedStatefulSetSpec, AdvancedStatefulSetStatus } from './advanced-stateful-set.ts'
export type { CacheRuntimeComponentStatus, CacheRuntimeSpec, CacheRuntimeStatus, CacheTierLevel } from './cache-runtime.ts'
export type { CacheRuntimeComponent, CacheRuntimeTopology } from './cache-runtime-class.ts'
export type { DatasetCondition, DatasetSpec, DatasetStatus } from './dataset.ts'
export type { EncryptOption, Mount, RuntimeCondition } from './parts.ts'
export type { RuntimeStatus, TierLevel } from './runtime-parts.ts'
export {
  AdvancedStatefulSet,
  AlluxioRuntime,
  CacheRuntime,
  CacheRuntimeClass,
  DataBackup,
  DataLoad,
  DataMigrate,
  DataProcess,
  Dataset,
  EFCRuntime,
  JindoRuntime,
  JuiceFSRuntime,
  ThinRuntime,
  ThinRuntimeProfile,
  VineyardRuntime,
}

/** All runtimes, of which a dataset has the one of its name. */
export const runtimeKinds = Object.freeze([
  AlluxioRuntime,
  JuiceFSRuntime,
  JindoRuntime,
  ThinRuntime,
  CacheRuntime,
  EFCRuntime,
  VineyardRuntime,
] as const) satisfies readonly OwnKind[]

/** All data operations. */
export const operationKinds = Object.freeze([DataLoad, DataMigrate, DataBackup, DataProcess] as const) satisfies readonly OwnKind[]

export const fluidKinds: readonly OwnKind[] = Object.freeze([
  Dataset,
  ...runtimeKinds,
  ThinRuntimeProfile,
  CacheRuntimeClass,
  ...operationKinds,
  AdvancedStatefulSet,
])
