/**
 * Directories that a node made for its pods because they were missing, where caches serve files: they go with the last pod that has
 * them, if they are empty. What is stored below other paths of the node is not looked at. Pure.
 */
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { isAbsoluteClean, isNodePath, SERVED_PREFIX } from '../../../kube/node-path.ts'

export function usedByNobodyElse(pod: Pod, podsOfNode: () => readonly Pod[]): string[] {
  const made = (pod.spec?.volumes ?? []).flatMap(({ hostPath }) => {
    const path = hostPath?.path ?? ''
    const isServed = isAbsoluteClean(path) && isNodePath(path) && path.startsWith(`${SERVED_PREFIX}/`)
    return isServed && hostPath?.type === 'DirectoryOrCreate' ? [path] : []
  })
  if (made.length === 0) return []
  const others = podsOfNode().filter(({ metadata }) => metadata.uid !== pod.metadata.uid)
  const used = others.flatMap(({ spec }) => (spec?.volumes ?? []).flatMap(({ hostPath }) => hostPath?.path ?? []))
  return made.filter((path) => !used.some((other) => isWithin(other, path) || isWithin(path, other)))
}

const isWithin = (path: string, directory: string): boolean => `${path}/`.startsWith(`${directory}/`)
