/** When pods became ready and datasets bound, by watches of one namespace. */
import type { Client, WatchEvent } from '../src/client/client.ts'
import type { Dataset } from '../src/kinds/fluid/index.ts'
import { DATASETS } from '../src/kinds/fluid/resources.ts'
import { LABELS } from '../src/kinds/fluid/well-known.ts'
import { PODS } from '../src/kinds/kubernetes/resources.ts'
import type { Pod } from '../src/kinds/kubernetes/types.ts'
import { follow } from './gate-follow.ts'
import { Told } from './told.ts'

export interface FollowedDatasets {
  bound(): number
  isBound(name: string): boolean
  readyPods(): number
  /** When the last of its pods became ready, and when the dataset was bound; of those that are bound, in the order of that. */
  times(): { name: string; readyMs: number; boundMs: number }[]
  /** Resolves when it is so; says from time to time how far it is. */
  until(what: string, isSo: () => boolean, withinMs: number): Promise<void>
  stop(): void
}

export function followDatasets(member: Client, namespace: string): FollowedDatasets {
  const stop = new AbortController()
  const bound = new Map<string, number>()
  /** By dataset, by pod. */
  const ready = new Map<string, Map<string, number>>()
  let readyPods = 0
  const note = ({ object }: WatchEvent): void => {
    const { name = '', labels } = object.metadata
    if (object.kind === DATASETS.kind) {
      if ((object as Dataset).status?.phase === 'Bound' && !bound.has(name)) bound.set(name, performance.now())
      return
    }
    if (!((object as Pod).status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')) return
    const dataset = labels?.[LABELS.cacheRuntimeName] ?? ''
    const pods = ready.get(dataset) ?? new Map<string, number>()
    ready.set(dataset, pods)
    if (pods.has(name)) return
    pods.set(name, performance.now())
    readyPods++
  }
  const told = new Told(() => `${readyPods} pods are ready, ${bound.size} datasets are bound`)
  for (const resource of [DATASETS, PODS])
    follow(member, {
      resource,
      namespace,
      signal: stop.signal,
      note(event) {
        note(event)
        told.tell()
      },
    }).catch((reason: unknown) => told.fail(reason))
  return {
    bound: () => bound.size,
    isBound: (name) => bound.has(name),
    readyPods: () => readyPods,
    times: () =>
      [...bound].map(([name, boundMs]) => ({ name, boundMs, readyMs: Math.max(...(ready.get(name)?.values() ?? [Number.NaN])) })),
    until: (what, isSo, withinMs) => told.until(what, isSo, withinMs),
    stop: () => stop.abort(),
  }
}
