/**
 * Directories of nodes that pods share: made for the first one that has them, and taken away with the last. Both happen one after
 * the other, so that none is taken away that a new pod has just been given.
 */
export interface SharedDirectories {
  /** No pod is given a directory while the work goes on. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** The pod has it from now on, also if the work fails. */
  use<T>(podUid: string, path: string, work: () => Promise<T>): Promise<T>
  /** The pod has none any more. `remove` is called for each of the paths that no other pod has, or has a part of. */
  leave(podUid: string, paths: readonly string[], remove: (path: string) => Promise<void>): Promise<void>
}

export function createSharedDirectories(): SharedDirectories {
  const pathsOf = new Map<string, Set<string>>()
  let last: Promise<unknown> = Promise.resolve()
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work)
    // Its failure is that of whoever asked for it.
    last = mine.catch(() => undefined)
    return mine
  }
  const isUsed = (path: string): boolean =>
    [...pathsOf.values()].some((paths) => [...paths].some((used) => isWithin(used, path) || isWithin(path, used)))
  return {
    alone,
    use: (podUid, path, work) =>
      alone(() => {
        pathsOf.set(podUid, (pathsOf.get(podUid) ?? new Set()).add(path))
        return work()
      }),
    leave: (podUid, paths, remove) =>
      alone(async () => {
        pathsOf.delete(podUid)
        for (const path of paths) if (!isUsed(path)) await remove(path)
      }),
  }
}

const isWithin = (path: string, directory: string): boolean => `${path}/`.startsWith(`${directory}/`)
