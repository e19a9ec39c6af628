/** What users do with a fleet. One file and one line each; an entry that is listed more than once is drawn more often. */
import type { Generator } from '../../../../runtime/seams/seeded.ts'
import { clusters } from './clusters.ts'
import { foreignConfigMaps, foreignDeployments } from './foreign.ts'
import { fleetNamespaces } from './namespaces.ts'
import { overridePolicies } from './overrides.ts'
import { clusterPropagationPolicies, propagationPolicies } from './policies.ts'
import { TEMPLATES } from './templates.ts'

/** On the hub. */
export const FLEET_GENERATORS: readonly Generator[] = [
  ...TEMPLATES,
  ...TEMPLATES.slice(0, 2),
  propagationPolicies,
  propagationPolicies,
  propagationPolicies,
  clusterPropagationPolicies,
  overridePolicies,
  clusters,
  clusters,
  fleetNamespaces,
]

/** In members. */
export const FOREIGN_GENERATORS: readonly Generator[] = [foreignConfigMaps, foreignDeployments]
