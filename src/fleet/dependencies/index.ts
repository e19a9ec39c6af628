/** Dependencies: what an object needs beside it goes where it goes (gate PropagateDeps; namespaced objects only, as in Karmada). */
import type { Controller } from '../../runtime/controller.ts'
import { attachment } from './attachment/controller.ts'
import { dependenciesListing } from './listing/controller.ts'
import type { DependenciesFacts } from './surroundings.ts'

export const dependenciesControllers = (facts: DependenciesFacts): Controller[] => [dependenciesListing(facts), attachment(facts)]
