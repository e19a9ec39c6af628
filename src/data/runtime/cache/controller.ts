/** Serves CacheRuntimes, each as its class says. See runtime-controller.ts for what it writes, what triggers it and what a deletion does. */
import type { Controller } from '../../../runtime/controller.ts'
import type { RuntimeDeps } from '../deps.ts'
import { runtimeController } from '../runtime-controller.ts'

export const cacheRuntimeController = (deps: RuntimeDeps): Controller => runtimeController(deps.engine, deps)
