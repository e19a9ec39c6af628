/** From Works back to bindings and templates: one path for both kinds of bindings. */
import type { Controller } from '../../runtime/controller.ts'
import { BINDING_KINDS } from '../binding/index.ts'
import { bindingStatus, type ReflectionFacts } from './status/controller.ts'

export type { ReflectionFacts } from './status/controller.ts'

export const reflectionControllers = (facts: ReflectionFacts): Controller[] => BINDING_KINDS.map((kind) => bindingStatus(kind, facts))
