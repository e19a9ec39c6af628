/**
 * Keeps the CacheRuntimeClass `builtin`, so that a runtime can name it from the first moment. Sole writer of: that object. Runs
 * at the start and when the class changes. Deletion: it is made again; whoever wants another class gives it another name.
 */

import type { CacheRuntimeClass } from '../../kinds/fluid/index.ts'
import { CACHE_RUNTIME_CLASSES } from '../../kinds/fluid/resources.ts'
import { type Controller, defineController, type Signal } from '../../runtime/controller.ts'
import { BUILTIN_CLASS, type BuiltinOptions, builtinClass } from '../engines/builtin/class.ts'

/** The object may not exist, so no event would ever name it. */
const start: Signal = {
  subscribe(enqueue) {
    enqueue({ namespace: '', name: BUILTIN_CLASS })
    return () => undefined
  },
}

export const builtinClassController = (options: BuiltinOptions): Controller =>
  defineController<CacheRuntimeClass | undefined, CacheRuntimeClass>({
    name: 'data.builtin-class',
    for: CACHE_RUNTIME_CLASSES,
    isRelevant: ({ metadata }) => metadata.name === BUILTIN_CLASS,
    signals: [start],
    writes: [{ resource: CACHE_RUNTIME_CLASSES, verbs: ['create', 'patch'] }],
    observe: (_key, live) => live,
    plan: (live) =>
      live?.metadata.deletionTimestamp !== undefined
        ? { actions: [] }
        : { actions: [{ do: 'apply', resource: CACHE_RUNTIME_CLASSES, object: builtinClass(options) }] },
  })
