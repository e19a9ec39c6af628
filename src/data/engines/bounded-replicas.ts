/** Runtimes that ask for more pods than anybody may: admission refuses them, but not where they are scaled. Pure. */
import { MOST_REPLICAS } from '../../kinds/fluid/admission/replica-rules.ts'
import type { Engine } from './engine.ts'

/** The same engine, which makes no more pods than that. */
export const withBoundedReplicas = (engine: Engine): Engine => ({
  ...engine,
  serve(input, options) {
    const served = engine.serve(input, options)
    const found = Object.values(served.prepared?.components ?? {}).find(({ replicas }) => replicas > MOST_REPLICAS)
    if (found === undefined) return served
    const message = `${found.replicas} pods of ${found.name} are more than the ${MOST_REPLICAS} that there may be: scale it in`
    return { refused: { reason: 'TooManyReplicas', message } }
  },
})
