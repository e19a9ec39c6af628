/**
 * Who may do what with data dependencies: whoever may edit a namespace writes claims there; sources are for administrators,
 * to write and to read, because they show what other namespaces make.
 */

import { DATA_SOURCE_CLAIMS } from '../kinds/volcano/resources.ts'
import type { KubeObject } from '../kube/meta.ts'

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']

const aggregated = (to: 'edit' | 'view', verbs: readonly string[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: `sluice-data-claims-${to}`,
    labels: { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' },
  },
  rules: [{ apiGroups: [DATA_SOURCE_CLAIMS.group], resources: [DATA_SOURCE_CLAIMS.plural], verbs: [...verbs] }],
})

/** What aggregates to `view` reaches `edit` and `admin` as well, and what aggregates to `edit` reaches `admin`. */
export const USER_ROLES: readonly KubeObject[] = [aggregated('edit', WRITE), aggregated('view', READ)]
