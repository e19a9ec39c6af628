/** From bindings to Works: one implementation for both kinds of bindings. */

import { BINDING_KINDS } from '../../kinds/karmada/binding-kinds.ts'
import type { Controller } from '../../runtime/controller.ts'
import { type BindingDeps, bindingWorks } from './works/controller.ts'

export { createRetries } from './retries.ts'
export { keptClusters, purgedFirst } from './targets.ts'
export { createTemplateWatch, templateWithin } from './template-watch.ts'

export type { BindingDeps } from './works/controller.ts'

export const bindingControllers = (deps: BindingDeps): Controller[] => BINDING_KINDS.map((kind) => bindingWorks(kind, deps))
