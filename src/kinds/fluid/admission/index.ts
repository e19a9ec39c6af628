/** The admission of Fluid's kinds. */
import type { Admission } from '../../admission.ts'
import { advancedStatefulSetAdmission } from './advanced-stateful-set.ts'
import { datasetAdmission } from './dataset.ts'
import type { HostPathPrefixes } from './host-paths.ts'
import { operationAdmission } from './operation.ts'
import type { MayRefer } from './reference-rules.ts'
import { runtimeAdmission } from './runtime.ts'

export { hasOwnCache } from './reference-rules.ts'
export type { HostPathPrefixes }

export interface FluidAdmissionOptions {
  /** Directories of nodes that datasets and runtimes may name: those below the prefixes, or all. */
  hostPathPrefixes: HostPathPrefixes
  /** Whether anything may be said about a dataset of another namespace. */
  mayRefer: MayRefer
}

export const fluidAdmission = ({ hostPathPrefixes, mayRefer }: FluidAdmissionOptions): readonly Admission[] => [
  datasetAdmission(hostPathPrefixes, mayRefer),
  runtimeAdmission(hostPathPrefixes),
  operationAdmission(hostPathPrefixes),
  advancedStatefulSetAdmission,
]
