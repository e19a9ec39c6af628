/** Serves AlluxioRuntimes, where an engine does. See runtime-controller.ts for what it writes, what triggers it and what a deletion does. */
import type { Controller } from '../../../runtime/controller.ts'
import type { RuntimeDeps } from '../deps.ts'
import { runtimeController } from '../runtime-controller.ts'

export const alluxioRuntimeController = (deps: RuntimeDeps): Controller => runtimeController(deps.engine, deps)
