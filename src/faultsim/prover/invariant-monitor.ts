/** Monitors what is stored in a cluster: what was created and deleted, what leaked, and whether an invariant was ever broken. */
import type { KubeObject } from '../../kube/meta.ts'
import type { Change, Invariant, InvariantView } from '../../runtime/seams/seeded.ts'
import type { ClusterStore, StoreEvent } from '../../store/index.ts'
import { labelOf, storedIn } from './end-state.ts'

/** The other clusters around the monitored one (default: none). */
export interface MonitorDeps {
  cluster: string
  others: ReadonlyMap<string, InvariantView>
  isPeoples(resource: string, object: KubeObject): boolean
}

export interface InvariantMonitor {
  /** How often something of this kind and label was created and deleted. */
  readonly comings: ReadonlyMap<string, { created: number; deleted: number }>
  /** The first invariant that was broken, as text. */
  readonly broken: string | undefined
  stop(): void
}

const UNCOUNTED = /^(events|events\.events\.k8s\.io|leases\.coordination\.k8s\.io)\//

const ALONE: MonitorDeps = { cluster: '', others: new Map(), isPeoples: () => false }

export function monitorInvariants(store: ClusterStore, invariants: readonly Invariant[], deps = ALONE): InvariantMonitor {
  const memories = new Map(invariants.map((invariant) => [invariant, invariant.memory?.()]))
  const comings = new Map<string, { created: number; deleted: number }>()
  const view = viewOf(store)
  let broken: string | undefined

  const onEvent = (event: StoreEvent): void => {
    const { key, type, version, previous, revision } = event
    if (UNCOUNTED.test(key)) return
    if (type === 'delete' || previous === undefined) {
      const object = version.object() as KubeObject
      const label = `${key.slice(0, key.indexOf('/'))}/${object.metadata.namespace ?? ''}/${labelOf(object)}`
      const count = comings.get(label) ?? { created: 0, deleted: 0 }
      comings.set(label, count)
      count[type === 'delete' ? 'deleted' : 'created']++
    }
    const resource = key.slice(0, key.indexOf('/'))
    for (const invariant of broken === undefined ? invariants : []) {
      if (invariant.about?.some((plural) => isOf(resource, plural)) === false) continue
      const wrong = ask(invariant, memories.get(invariant), view, changeOf(event, resource, view, deps))
      if (wrong !== undefined) broken = `"${invariant.says}" does not hold at revision ${revision} (${type} ${key}): ${wrong}`
    }
  }
  const stop = store.watch('', { after: store.revision, onEvent })
  return {
    comings,
    get broken() {
      return broken
    },
    stop,
  }
}

function changeOf({ type, version, previous }: StoreEvent, resource: string, own: InvariantView, around: MonitorDeps): Change {
  const object = version.object() as KubeObject
  return {
    cluster: around.cluster,
    resource,
    isDeletion: type === 'delete',
    object,
    previous: previous?.object() as KubeObject | undefined,
    isPeoples: around.isPeoples(resource, object),
    in(cluster) {
      const found = cluster === around.cluster ? own : around.others.get(cluster)
      if (found === undefined) throw new Error(`there is no cluster ${cluster}`)
      return found
    },
  }
}

function ask(invariant: Invariant, memory: unknown, view: InvariantView, change: Change): string | undefined {
  try {
    return invariant.broken(view, change, memory)
  } catch (error) {
    return `it cannot be judged: ${error instanceof Error ? error.stack : String(error)}`
  }
}

const isOf = (bucket: string, plural: string): boolean => bucket === plural || bucket.startsWith(`${plural}.`)

export function viewOf(store: ClusterStore): InvariantView {
  const bucketsOf = (plural: string): string[] => store.buckets().filter((bucket) => isOf(bucket, plural))
  return {
    list: (plural) =>
      bucketsOf(plural).flatMap((bucket) => store.range(`${bucket}/`).versions.map((version) => version.object() as KubeObject)),
    get(plural, where) {
      for (const bucket of bucketsOf(plural)) {
        const version = store.get(`${bucket}/${where.includes('/') ? '' : '/'}${where}`)
        if (version !== undefined) return version.object() as KubeObject
      }
      return undefined
    },
  }
}

/** Objects whose owners are all gone. */
export function orphansIn(store: ClusterStore): string[] {
  const stored = storedIn(store)
  const uids = new Set(stored.map(({ object }) => object.metadata.uid))
  return stored
    .filter(({ object }) => (object.metadata.ownerReferences?.length ?? 0) > 0)
    .filter(({ object }) => !object.metadata.ownerReferences?.some(({ uid }) => uids.has(uid)))
    .map(({ bucket, object }) => `${bucket}/${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`)
}
