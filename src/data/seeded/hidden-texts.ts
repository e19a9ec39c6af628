/** What must not leave its namespace: contents of Secrets, and options of mounts and runtimes. Found by what they say, wherever that is. */
import type { KubeObject } from '../../kube/meta.ts'
import type { Invariant } from '../../runtime/seams/seeded.ts'
import { DATASETS, RUNTIMES } from './judge.ts'

/** As seeds write them: the text says whose it is. */
const HIDDEN = /hidden-in-([a-z-]+[a-z])/g
/** The same as the value of a Secret. */
const ENCODED = /aGlkZGVuLWlu[A-Za-z0-9+/]*={0,2}/g

const WHERE = ['configmaps', 'secrets', 'pods', 'daemonsets', 'persistentvolumes', 'persistentvolumeclaims', DATASETS]

export const nothingCrosses: Invariant = {
  says: 'no content of a Secret, and no option of a mount or a runtime, is in another namespace or in a volume',
  about: [...WHERE, ...Object.values(RUNTIMES)],
  broken(_view, { object, isDeletion }) {
    if (isDeletion) return undefined
    const { namespace = '', name } = object.metadata
    const foreign = ownersOfTexts(object).find((owner) => owner !== namespace)
    return foreign === undefined ? undefined : `${object.kind} ${namespace}/${name} has what is hidden in ${foreign}`
  },
}

function ownersOfTexts(object: KubeObject): string[] {
  const text = JSON.stringify(object)
  const decoded = [...text.matchAll(ENCODED)].map(([encoded]) => Buffer.from(encoded, 'base64').toString('utf8')).join(' ')
  return [...`${text} ${decoded}`.matchAll(HIDDEN)].map(([, owner = '']) => owner)
}
