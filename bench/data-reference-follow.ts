/** What references of a member show, and how often anything that belongs to them was written, by watches of all namespaces. */
import type { Client, WatchEvent } from '../src/client/client.ts'
import type { Dataset } from '../src/kinds/fluid/index.ts'
import { CACHE_RUNTIMES, DATASETS, THIN_RUNTIMES } from '../src/kinds/fluid/resources.ts'
import { CONFIG_MAPS, DAEMON_SETS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../src/kinds/kubernetes/resources.ts'
import type { PersistentVolumeClaim } from '../src/kinds/kubernetes/types.ts'
import { keyOfObject } from '../src/kube/object-reference.ts'
import { follow } from './gate-follow.ts'
import { Told } from './told.ts'

/** Each is an event of a watch, so it was stored. */
export interface Written {
  /** By name of the resource; of datasets only the references. */
  byResource: ReadonlyMap<string, number>
  original: number
  /** Of the original, those that changed its list of references. */
  list: number
}

export interface FollowedReferences {
  /** Datasets, the original among them, that are bound. */
  bound(): number
  /** Claims in the phase Bound. */
  boundClaims(): number
  /** When a dataset first showed an address as that of its first mount; undefined: not yet. */
  shownAtMs(key: string, address: string): number | undefined
  /** How many references show it. */
  showing(address: string): number
  /** When references first showed it, in order. */
  timesOf(address: string): readonly number[]
  written(): Written
  until(what: string, isSo: () => boolean, withinMs: number): Promise<void>
  stop(): void
}

const FOLLOWED = [DATASETS, THIN_RUNTIMES, CACHE_RUNTIMES, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, CONFIG_MAPS, DAEMON_SETS]

export function followReferences(member: Client, original: string): FollowedReferences {
  const stop = new AbortController()
  const [bound, boundClaims] = [new Set<string>(), new Set<string>()]
  /** By address, by key. */
  const shown = new Map<string, Map<string, number>>()
  const byResource = new Map<string, number>()
  let [originalWrites, listWrites, list] = [0, 0, '']
  const noteDataset = (dataset: Dataset): void => {
    const key = keyOfObject(dataset)
    const { phase, mounts, datasetRef = [] } = dataset.status ?? {}
    if (phase === 'Bound') bound.add(key)
    const address = mounts?.[0]?.mountPoint ?? ''
    const showing = shown.get(address) ?? new Map<string, number>()
    shown.set(address, showing)
    if (!showing.has(key)) showing.set(key, performance.now())
    if (key !== original) {
      byResource.set(DATASETS.plural, (byResource.get(DATASETS.plural) ?? 0) + 1)
      return
    }
    originalWrites++
    if (datasetRef.join() !== list) listWrites++
    list = datasetRef.join()
  }
  const note = ({ type, object }: WatchEvent, plural: string): void => {
    if (plural === DATASETS.plural) {
      if (type === 'DELETED') bound.delete(keyOfObject(object))
      else noteDataset(object as Dataset)
      return
    }
    byResource.set(plural, (byResource.get(plural) ?? 0) + 1)
    if (plural === PERSISTENT_VOLUME_CLAIMS.plural && (object as PersistentVolumeClaim).status?.phase === 'Bound')
      boundClaims.add(keyOfObject(object))
  }
  const timesOf = (address: string): number[] => [...(shown.get(address) ?? [])].filter(([key]) => key !== original).map(([, ms]) => ms)
  const told = new Told(() => `${bound.size} datasets are bound, ${boundClaims.size} claims`)
  for (const resource of FOLLOWED)
    follow(member, {
      resource,
      signal: stop.signal,
      note(event) {
        note(event, resource.plural)
        told.tell()
      },
    }).catch((reason: unknown) => told.fail(reason))
  return {
    bound: () => bound.size,
    boundClaims: () => boundClaims.size,
    shownAtMs: (key, address) => shown.get(address)?.get(key),
    showing: (address) => (shown.get(address)?.size ?? 0) - (shown.get(address)?.has(original) === true ? 1 : 0),
    timesOf,
    written: () => ({ byResource: new Map(byResource), original: originalWrites, list: listWrites }),
    until: (what, isSo, withinMs) => told.until(what, isSo, withinMs),
    stop: () => stop.abort(),
  }
}
