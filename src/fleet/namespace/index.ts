/** Namespaces of the hub in every member. */
import type { Controller } from '../../runtime/controller.ts'
import { type NamespaceFacts, namespaceSync } from './controller.ts'

export const namespaceControllers = (facts: NamespaceFacts): Controller[] => [namespaceSync(facts)]
