/** From bindings to Works: one path for both kinds of bindings. */
import type { Controller } from '../../runtime/controller.ts'
import { BINDING_KINDS } from './binding-kinds.ts'
import { type BindingFacts, bindingWorks } from './works/controller.ts'

export {
  BINDING_KINDS,
  type BindingKind,
  CLUSTER_SCOPED_BINDINGS,
  NAMESPACED_BINDINGS,
  permanentIdOf,
  refOf,
  worksIndex,
  worksWithId,
} from './binding-kinds.ts'
export { createRetries } from './retries.ts'
export { keptClusters, purgedFirst } from './targets.ts'
export { createTemplateWatch } from './template-watch.ts'

export type { BindingFacts } from './works/controller.ts'

export const bindingControllers = (facts: BindingFacts): Controller[] => BINDING_KINDS.map((kind) => bindingWorks(kind, facts))
