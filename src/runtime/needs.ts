/** What a template asks of the clusters it goes to, as the resource interpreter reads it. */
import type { BindingComponent, ReplicaRequirements } from '../kinds/karmada/index.ts'

export interface Needs {
  replicas?: number
  replicaRequirements?: ReplicaRequirements
  components?: BindingComponent[]
}
