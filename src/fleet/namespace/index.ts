/** Namespaces of the hub in every member. */
import type { Controller } from '../../runtime/controller.ts'
import { type NamespaceDeps, namespaceSync } from './controller.ts'

export const namespaceControllers = (deps: NamespaceDeps): Controller[] => [namespaceSync(deps)]
