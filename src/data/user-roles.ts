/**
 * Who may do what with datasets: whoever may edit a namespace writes datasets, runtimes and data operations there, and scales
 * them. Classes and profiles say what runs in everybody's pods, so administrators write them, and viewers of the cluster
 * read them. Sets are made for runtimes, and by nobody else.
 */
import { AdvancedStatefulSet, fluidKinds } from '../kinds/fluid/index.ts'
import type { OwnKind } from '../kinds/schema/define-kind.ts'
import type { KubeObject } from '../kube/meta.ts'

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']
const SCALE = ['patch', 'update']

const isWrittenByUsers = ({ scope, kind }: OwnKind): boolean => scope === 'Namespaced' && kind !== AdvancedStatefulSet.kind
const canBeScaled = ({ definition }: OwnKind): boolean => definition.subresources.some(({ name }) => name === 'scale')

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

/** One rule for each group. */
function rulesFor(kinds: readonly OwnKind[], verbs: readonly string[], subresource = ''): Rule[] {
  const groups = [...new Set(kinds.map(({ group }) => group))].sort()
  return groups.map((group) => {
    const resources = kinds.filter((kind) => kind.group === group).map(({ resource }) => `${resource.plural}${subresource}`)
    return { apiGroups: [group], resources: resources.sort(), verbs: [...verbs] }
  })
}

const aggregated = (to: 'edit' | 'view', rules: readonly Rule[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: `sluice-datasets-${to}`, labels: { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' } },
  rules: [...rules],
})

const WRITTEN = fluidKinds.filter(isWrittenByUsers)

/** What aggregates to `view` reaches `edit` and `admin` as well, and what aggregates to `edit` reaches `admin`. */
export const USER_ROLES: readonly KubeObject[] = [
  aggregated('edit', [...rulesFor(WRITTEN, WRITE), ...rulesFor(WRITTEN.filter(canBeScaled), SCALE, '/scale')]),
  aggregated('view', [...rulesFor(fluidKinds, READ), ...rulesFor(WRITTEN.filter(canBeScaled), ['get'], '/scale')]),
]
