/** The detector: from templates and policies to bindings. */
import type { Controller } from '../../runtime/controller.ts'
import { detectedBindings, detectedClusterBindings } from './binding/controller.ts'
import type { DetectorDeps } from './binding/observe.ts'
import { clusterPolicyRelease, policyRelease } from './policy/controller.ts'

export type { DetectorDeps, DetectorGates } from './binding/observe.ts'

export const detectorControllers = (deps: DetectorDeps): Controller[] => [
  detectedBindings(deps),
  detectedClusterBindings(deps),
  policyRelease(deps.templates),
  clusterPolicyRelease(deps.templates),
]
