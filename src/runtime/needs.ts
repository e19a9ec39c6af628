/** What a template requires of the clusters it goes to, according to the resource interpreter. */
import type { BindingComponent, ReplicaRequirements } from '../kinds/karmada/index.ts'

export interface Needs {
  replicas?: number
  replicaRequirements?: ReplicaRequirements
  components?: BindingComponent[]
}
