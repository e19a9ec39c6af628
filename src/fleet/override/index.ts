/** Override policies: how an object differs from cluster to cluster. */
export { applyOverrides, type Overridden, OverrideError, type OverridePolicies, overridesOf } from './apply.ts'
