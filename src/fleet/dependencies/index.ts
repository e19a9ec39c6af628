/** Dependencies: what an object depends on goes where the object goes (gate PropagateDeps; namespaced objects only, as in Karmada). */
import type { Controller } from '../../runtime/controller.ts'
import { attachment } from './attachment/controller.ts'
import type { DependenciesDeps } from './deps.ts'
import { dependenciesListing } from './listing/controller.ts'

export const dependenciesControllers = (deps: DependenciesDeps): Controller[] => [dependenciesListing(deps), attachment(deps)]
