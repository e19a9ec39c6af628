/** What a load follows of the hub while it is measured, by watches: lists of thousands of objects would be a load of their own. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, WatchEvent } from '../src/client/client.ts'
import type { Binding } from '../src/kinds/karmada/index.ts'
import { RESOURCE_BINDINGS } from '../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS } from '../src/kinds/kubernetes/resources.ts'
import type { DataSourceClaim } from '../src/kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS } from '../src/kinds/volcano/resources.ts'
import { findCondition, isConditionTrue } from '../src/kube/conditions.ts'
import type { Resource } from '../src/kube/resource.ts'
import { HELD_REASON, RELEASED } from '../src/runtime/seams/narrowing.ts'

const STATES = ['looked-at', 'bound', 'held', 'released', 'applied'] as const
/** Of claims: looked at, bound. Of bindings: held, released, applied in every cluster. */
export type State = (typeof STATES)[number]

export interface Followed {
  /** When objects first came into this state, in order. */
  timesOf(state: State): readonly number[]
  /** Resolves when so many have been in this state, with the time of the last. */
  reached(state: State, count: number): Promise<number>
  /** Resolves when nothing has changed for a while. */
  rest(): Promise<void>
  stop(): void
}

const LOOK_EVERY_MS = 50
const AT_REST_AFTER_MS = 2000
const WITHIN_MS = 30 * 60_000

export async function followNamespace(hub: Client, namespace: string): Promise<Followed> {
  const times = new Map<State, Map<string, number>>(STATES.map((state) => [state, new Map()]))
  let changedMs = performance.now()
  const stop = new AbortController()
  const note = ({ object }: WatchEvent): void => {
    changedMs = performance.now()
    for (const state of statesOf(object as Binding & DataSourceClaim)) {
      const known = times.get(state)
      if (known?.has(object.metadata.name ?? '') === false) known.set(object.metadata.name ?? '', changedMs)
    }
  }
  for (const resource of [RESOURCE_BINDINGS, DATA_SOURCE_CLAIMS, DEPLOYMENTS])
    void follow(hub, { resource, namespace, signal: stop.signal, note })
  const timesOf = (state: State): readonly number[] => [...(times.get(state)?.values() ?? [])]
  const until = async (what: string, check: () => boolean): Promise<void> => {
    const deadline = performance.now() + WITHIN_MS
    while (!check()) {
      if (performance.now() > deadline) throw new Error(`not within ${WITHIN_MS / 60_000} minutes: ${what} in ${namespace}`)
      await sleep(LOOK_EVERY_MS)
    }
  }
  return {
    timesOf,
    async reached(state, count) {
      await until(`${count} ${state}`, () => (times.get(state)?.size ?? 0) >= count)
      return timesOf(state).at(-1) ?? Number.NaN
    },
    rest: () => until('rest', () => performance.now() - changedMs > AT_REST_AFTER_MS),
    stop: () => stop.abort(),
  }
}

function statesOf({ kind, metadata: { annotations }, status }: Binding & DataSourceClaim): State[] {
  if (kind === DATA_SOURCE_CLAIMS.kind) {
    if (findCondition(status?.conditions, 'Resolved') === undefined) return []
    return status?.phase === 'Bound' ? ['looked-at', 'bound'] : ['looked-at']
  }
  if (kind !== RESOURCE_BINDINGS.kind) return []
  return [
    ...(annotations?.[HELD_REASON] === undefined ? [] : (['held'] as const)),
    ...(annotations?.[RELEASED] === undefined ? [] : (['released'] as const)),
    ...(isConditionTrue(status?.conditions, 'FullyApplied') ? (['applied'] as const) : []),
  ]
}

interface Following {
  resource: Resource
  /** Default: all. */
  namespace?: string
  signal: AbortSignal
  note(event: WatchEvent): void
}

/** Until the signal aborts. */
export async function follow(hub: Client, { resource, namespace, signal, note }: Following): Promise<void> {
  let { resourceVersion } = await hub.list(resource, { namespace })
  while (!signal.aborted) {
    try {
      for await (const event of hub.watch(resource, { namespace, resourceVersion, signal })) {
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
        if (event.type !== 'BOOKMARK') note(event)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}
