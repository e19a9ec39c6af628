/** NodeName: a pod that names its node goes there. Such pods count as assigned; the filter remains for what-if questions. */
import { type Filter, rejection } from './filter.ts'

const NAME = 'NodeName'
const REJECTION = rejection(NAME, "node(s) didn't match the requested node name", true)

export const nodeName: Filter = {
  name: NAME,
  prepare({ pod }) {
    const wanted = pod.spec?.nodeName ?? ''
    return wanted === '' ? undefined : { check: (node) => (node.name === wanted ? undefined : REJECTION) }
  },
  listens: ['node'],
  isHelpedBy: (change, { pod }) =>
    change.kind === 'node' && change.old === undefined && change.now?.metadata.name === (pod.spec?.nodeName ?? ''),
}
