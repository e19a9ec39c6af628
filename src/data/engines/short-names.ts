/** Runtimes whose name is too long for their pods: admission refuses them where the kind alone tells. Pure. */
import { LONGEST_SET_NAME } from '../../kinds/fluid/names.ts'
import type { Engine } from './engine.ts'

/** The same engine, which makes no set whose pods no server would take. */
export const withShortNames = (engine: Engine): Engine => ({
  ...engine,
  serve(input, options) {
    const served = engine.serve(input, options)
    const found = served.prepared?.objects.sets.find(({ metadata: { name = '' } }) => name.length > LONGEST_SET_NAME)
    if (found === undefined) return served
    const { name = '' } = found.metadata
    const most = (input.runtime.metadata.name ?? '').length - (name.length - LONGEST_SET_NAME)
    const message = `labels of its pods are made of the name ${name}, which is too long: make the Dataset and its runtime again under a name of at most ${most} characters`
    return { refused: { reason: 'NameTooLong', message } }
  },
})
