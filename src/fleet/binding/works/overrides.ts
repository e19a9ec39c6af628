/** How override policies reach Works: what the policies of a template make of it for one cluster. */
import type { Cluster } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Overridden } from '../work-for.ts'
import type { Policies } from './policies.ts'

/** Given the policies that may mean a template; then, for an object made from it, what a cluster gets. Throws when one cannot be applied. */
export type ApplyOverrides = (of: { template: KubeObject } & Policies) => (object: KubeObject, cluster: Cluster) => Overridden
