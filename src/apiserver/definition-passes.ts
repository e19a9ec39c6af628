/**
 * The bookkeeping of work on CustomResourceDefinitions: which definition is next, and which names compete. One pass per
 * definition at a time; requests during a pass cause one more pass; a failed pass is reported and retried after a while.
 */
import type { Clock } from '../base/clock.ts'
import { deepEqual } from '../base/json.ts'
import { ownNames } from '../kinds/custom/crd-status.ts'
import type { KindDefinition } from '../kinds/kind.ts'
import type { KubeObject } from '../kube/meta.ts'

const RETRY_MS = 1000

export interface Passes {
  request(name: string): void
  stop(): void
}

interface PassOptions {
  settle(name: string): Promise<void>
  clock: Clock
  onError(error: unknown, name: string): void
}

export function createPasses({ settle, clock, onError }: PassOptions): Passes {
  const running = new Set<string>()
  const requested = new Set<string>()
  const retries = new Map<string, () => void>()
  let isStopped = false

  async function run(name: string): Promise<void> {
    running.add(name)
    try {
      // Requests are made from inside the store's own event callbacks: work begins when those have returned.
      await Promise.resolve()
      while (requested.delete(name) && !isStopped) await settle(name)
    } catch (error) {
      if (isStopped) return
      onError(error, name)
      retries.get(name)?.()
      retries.set(
        name,
        clock.after(RETRY_MS, () => {
          retries.delete(name)
          request(name)
        }),
      )
    } finally {
      running.delete(name)
    }
  }

  function request(name: string): void {
    requested.add(name)
    if (!isStopped && !running.has(name)) void run(name)
  }

  return {
    request,
    stop() {
      isStopped = true
      for (const cancel of retries.values()) cancel()
      retries.clear()
    },
  }
}

export const identityOf = (crd: KubeObject): { group: string; plural: string } => {
  const { group, names } = crd.spec as { group: string; names: { plural: string } }
  return { group, plural: names.plural }
}

export interface NameIndex {
  /** Whether it had other names before, so that some may be free now. */
  put(crd: KubeObject): boolean
  remove(crd: KubeObject): void
  /** What `settleCrd` looks at in the definitions of a group. */
  ofGroup(group: string): KubeObject[]
}

/**
 * The names, and nothing else, of all definitions by group: they compete only within a group. The names of the server's own
 * kinds are always taken; what a definition of the same name asks for does not count.
 */
export function createNameIndex(own: readonly KindDefinition[]): NameIndex {
  const groups = new Map<string, Map<string, KubeObject>>()
  const isOwn = new Set<string>()
  for (const kind of own) {
    const names = ownNames(kind)
    const { name = '' } = names.metadata
    isOwn.add(name)
    groups.set(kind.group, (groups.get(kind.group) ?? new Map<string, KubeObject>()).set(name, names))
  }
  return {
    put(crd) {
      if (isOwn.has(crd.metadata.name ?? '')) return false
      const { kind, apiVersion } = crd
      const { group } = identityOf(crd)
      const { name = '' } = crd.metadata
      const { acceptedNames } = (crd.status ?? {}) as { acceptedNames?: unknown }
      const members = groups.get(group) ?? new Map<string, KubeObject>()
      const before = members.get(name)?.status as { acceptedNames?: unknown } | undefined
      groups.set(group, members.set(name, { kind, apiVersion, metadata: { name }, spec: { group }, status: { acceptedNames } }))
      return before?.acceptedNames !== undefined && !deepEqual(before.acceptedNames, acceptedNames)
    },
    remove(crd) {
      if (isOwn.has(crd.metadata.name ?? '')) return
      const { group } = identityOf(crd)
      const members = groups.get(group)
      members?.delete(crd.metadata.name ?? '')
      if (members?.size === 0) groups.delete(group)
    },
    ofGroup: (group) => [...(groups.get(group)?.values() ?? [])],
  }
}
