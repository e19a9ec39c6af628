/** From Works back to bindings and templates: one implementation for both kinds of bindings. */

import { BINDING_KINDS } from '../../kinds/karmada/binding-kinds.ts'
import type { Controller } from '../../runtime/controller.ts'
import { bindingStatus, type ReflectionDeps } from './status/controller.ts'

export type { ReflectionDeps } from './status/controller.ts'

export const reflectionControllers = (deps: ReflectionDeps): Controller[] => BINDING_KINDS.map((kind) => bindingStatus(kind, deps))
