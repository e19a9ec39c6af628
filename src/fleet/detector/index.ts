/** The detector: from templates and policies to bindings. */
import type { Controller } from '../../runtime/controller.ts'
import { detectedBindings, detectedClusterBindings } from './binding/controller.ts'
import type { DetectorFacts } from './binding/observe.ts'
import { clusterPolicyRelease, policyRelease } from './policy/controller.ts'

export type { DetectorFacts, DetectorGates } from './binding/observe.ts'

export const detectorControllers = (facts: DetectorFacts): Controller[] => [
  detectedBindings(facts),
  detectedClusterBindings(facts),
  policyRelease(facts.templates),
  clusterPolicyRelease(facts.templates),
]
