/** Override policies: how an object differs from cluster to cluster. */
export type { AppliedOverride } from './applied.ts'
export { applyOverrides, type Overridden, OverrideError, type OverrideOutcome, type OverridePolicies, overridesOf } from './apply.ts'
