/** Keeps count of what is stored in a cluster: what came and went, who leaked, and whether an invariant was ever broken. */
import type { KubeObject } from '../../kube/meta.ts'
import type { ClusterStore, StoreEvent } from '../../store/index.ts'
import { labelOf, storedIn } from './end-state.ts'

export interface Invariant {
  /** A sentence that is true at every moment. */
  says: string
  /** Looks at what is stored; returns what is wrong, undefined when nothing is. */
  broken(objects: InvariantView): string | undefined
}

/** What is stored right now in the cluster the controller runs in. */
export interface InvariantView {
  list(plural: string): readonly KubeObject[]
}

export interface Ledger {
  /** How often something of this kind and label was created and deleted. */
  readonly comings: ReadonlyMap<string, { created: number; deleted: number }>
  /** The first invariant that did not hold, in words. */
  readonly broken: string | undefined
  stop(): void
}

const UNCOUNTED = /^(events|events\.events\.k8s\.io|leases\.coordination\.k8s\.io)\//

export function keepLedger(store: ClusterStore, invariants: readonly Invariant[]): Ledger {
  const comings = new Map<string, { created: number; deleted: number }>()
  const view = viewOf(store)
  let broken: string | undefined

  const onEvent = ({ key, type, version, previous, revision }: StoreEvent): void => {
    if (UNCOUNTED.test(key)) return
    if (type === 'delete' || previous === undefined) {
      const object = version.object() as KubeObject
      const label = `${key.slice(0, key.indexOf('/'))}/${object.metadata.namespace ?? ''}/${labelOf(object)}`
      const count = comings.get(label) ?? { created: 0, deleted: 0 }
      comings.set(label, count)
      count[type === 'delete' ? 'deleted' : 'created']++
    }
    for (const invariant of broken === undefined ? invariants : []) {
      const wrong = ask(invariant, view)
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

function ask(invariant: Invariant, view: InvariantView): string | undefined {
  try {
    return invariant.broken(view)
  } catch (error) {
    return `it cannot be judged: ${error instanceof Error ? error.stack : String(error)}`
  }
}

/** `pods`, or with its group where that matters: `deployments.apps`. */
export function viewOf(store: ClusterStore): InvariantView {
  return {
    list: (plural) =>
      store
        .buckets()
        .filter((bucket) => bucket === plural || bucket.startsWith(`${plural}.`))
        .flatMap((bucket) => store.range(`${bucket}/`).versions.map((version) => version.object() as KubeObject)),
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
