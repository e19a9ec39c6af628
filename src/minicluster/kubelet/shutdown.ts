/**
 * The graceful shutdown of a process node (Ctrl-C, `down`): every program is stopped as if its pod were deleted, the pod
 * objects stay, and their status says why. On the next start the restart policy decides what runs again.
 */
import type { ContainerMachine } from './container-machine.ts'

export interface NodeShutdown {
  readonly hasBegun: boolean
  /** Stops everything; resolves when nothing runs any more and the status is written. */
  begin(): Promise<void>
  onBegin(listener: () => void): () => void
  /** Starts a program, unless the shutdown has begun. The shutdown waits for starts that are under way, and stops what they started. */
  whileUp(start: () => Promise<void>): Promise<void>
  /** What a pass over a pod found: whether there is nothing left to do about it. */
  report(podUid: string, isAtRest: boolean): void
}

export function createNodeShutdown(machine: Pick<ContainerMachine, 'pods' | 'runsOf'>): NodeShutdown {
  const listeners = new Set<() => void>()
  let hasBegun = false
  /** Until the pods to stop are known, no report counts. */
  let pending = new Set<string>()
  const starts = new Set<Promise<void>>()
  let resolveAll: () => void = () => undefined
  const all = new Promise<void>((resolve) => {
    resolveAll = resolve
  })

  function stopAll(): void {
    pending = new Set(
      machine.pods().filter((uid) => machine.runsOf(uid).some(({ state }) => state.phase === 'starting' || state.phase === 'running')),
    )
    for (const listener of listeners) listener()
    if (pending.size === 0) resolveAll()
  }

  return {
    get hasBegun() {
      return hasBegun
    },
    begin() {
      if (hasBegun) return all
      hasBegun = true
      if (starts.size === 0) stopAll()
      else void Promise.allSettled(starts).then(stopAll)
      return all
    },
    async whileUp(start) {
      if (hasBegun) return
      const started = start()
      starts.add(started)
      try {
        await started
      } finally {
        starts.delete(started)
      }
    },
    onBegin(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    report(podUid, isAtRest) {
      if (!hasBegun || !isAtRest || !pending.delete(podUid)) return
      if (pending.size === 0) resolveAll()
    },
  }
}
