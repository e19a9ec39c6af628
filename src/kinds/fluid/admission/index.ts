/** The admission of Fluid's kinds. */
import type { Admission } from '../../admission.ts'
import { advancedStatefulSetAdmission } from './advanced-stateful-set.ts'
import { datasetAdmission } from './dataset.ts'
import type { HostPathPrefixes } from './host-paths.ts'
import { runtimeAdmission } from './runtime.ts'

export type { HostPathPrefixes }

export interface FluidAdmissionOptions {
  /** Directories of nodes that datasets and runtimes may name: those below the prefixes, or all. */
  hostPathPrefixes: HostPathPrefixes
}

export const fluidAdmission = ({ hostPathPrefixes }: FluidAdmissionOptions): readonly Admission[] => [
  datasetAdmission(hostPathPrefixes),
  runtimeAdmission(hostPathPrefixes),
  advancedStatefulSetAdmission,
]
