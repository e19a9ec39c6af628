/** No engine serves a dataset that refers to another one: it would make a second cache of the same data. */
import { isReference, ONLY_THIN } from '../../kinds/fluid/reference.ts'
import type { Engine } from './engine.ts'

export const servingOwnData = (engine: Engine): Engine => ({
  ...engine,
  serve(input, options) {
    if (!isReference(input.dataset)) return engine.serve(input, options)
    const { kind, metadata } = input.runtime
    const message = `${ONLY_THIN}: delete ${kind} ${metadata.name ?? ''}, which is not needed, or mount the sources themselves`
    return { refused: { reason: 'UnsupportedMount', message } }
  },
})
