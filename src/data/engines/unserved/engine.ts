/** Kinds that nobody serves: their runtimes say so, with what to do. */
import { EFC_RUNTIMES, VINEYARD_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { BUILTIN_CLASS } from '../builtin/class.ts'
import type { Engine } from '../engine.ts'

const engineOf = (type: Engine['type'], resource: Engine['resource']): Engine => ({
  type,
  resource,
  serve: () => ({
    refused: {
      reason: 'NoEngine',
      message: `no engine serves runtimes of kind ${resource.kind}: delete it, and create a CacheRuntime of the same name with runtimeClassName ${BUILTIN_CLASS}`,
    },
  }),
})

export const efcEngine = engineOf('efc', EFC_RUNTIMES)
export const vineyardEngine = engineOf('vineyard', VINEYARD_RUNTIMES)
