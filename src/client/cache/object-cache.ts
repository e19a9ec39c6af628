/**
 * The objects of one resource as a cache holds them: by name, by namespace and by declared indexes, all updated together
 * with every change. Costs one map entry per object, per namespace it is in and per index value; work per change is the
 * number of index values of that object, whatever the size of the cache.
 */
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject } from '../../kube/object-reference.ts'

type ObjectKey = string

export interface CacheEvent {
  type: 'added' | 'updated' | 'deleted'
  /** As it is now; for a deletion, as it last was. */
  object: KubeObject
  old: KubeObject | undefined
}

/** Index values of an object; may be empty. */
export type IndexFunction = (object: KubeObject) => readonly string[]

interface Index {
  of: IndexFunction
  entries: Map<string, Map<ObjectKey, KubeObject>>
}

export class ObjectCache {
  readonly #objects = new Map<ObjectKey, KubeObject>()
  readonly #indexes = new Map<string, Index>()
  readonly #byNamespace: Index = { of: (object) => [object.metadata.namespace ?? ''], entries: new Map() }
  readonly #handlers = new Set<(event: CacheEvent) => void>()

  get size(): number {
    return this.#objects.size
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(`${namespace}/${name}`)
  }

  list(namespace?: string): KubeObject[] {
    const found = namespace === undefined ? this.#objects : this.#byNamespace.entries.get(namespace)
    return [...(found?.values() ?? [])]
  }

  byIndex(name: string, value: string): KubeObject[] | undefined {
    const index = this.#indexes.get(name)
    return index === undefined ? undefined : [...(index.entries.get(value)?.values() ?? [])]
  }

  addIndex(name: string, of: IndexFunction): void {
    if (this.#indexes.has(name)) return
    const index: Index = { of, entries: new Map() }
    this.#indexes.set(name, index)
    for (const [key, object] of this.#objects) insert(index, key, object)
  }

  subscribe(handler: (event: CacheEvent) => void): () => void {
    this.#handlers.add(handler)
    for (const object of this.#objects.values()) handler({ type: 'added', object, old: undefined })
    return () => this.#handlers.delete(handler)
  }

  /** The same revision of the same object again is not a change. */
  put(object: KubeObject): void {
    const key = keyOfObject(object)
    const old = this.#objects.get(key)
    if (old !== undefined && old.metadata.resourceVersion === object.metadata.resourceVersion && old.metadata.uid === object.metadata.uid)
      return
    // Same name, new object: subscribers that track owners by uid must see the first one deleted.
    const isAnother = old !== undefined && old.metadata.uid !== object.metadata.uid
    if (isAnother) this.remove(old)
    else if (old !== undefined) this.#eachIndex((index) => withdraw(index, key, old))
    this.#objects.set(key, object)
    this.#eachIndex((index) => insert(index, key, object))
    this.#emit(old === undefined || isAnother ? { type: 'added', object, old: undefined } : { type: 'updated', object, old })
  }

  remove(object: KubeObject): void {
    const key = keyOfObject(object)
    const old = this.#objects.get(key)
    if (old === undefined) return
    this.#eachIndex((index) => withdraw(index, key, old))
    this.#objects.delete(key)
    this.#emit({ type: 'deleted', object, old })
  }

  /** Replaces the content of the cache, and reports the difference. */
  replace(objects: readonly KubeObject[]): void {
    const present = new Set<ObjectKey>()
    for (const object of objects) present.add(keyOfObject(object))
    for (const [key, object] of [...this.#objects]) if (!present.has(key)) this.remove(object)
    for (const object of objects) this.put(object)
  }

  #eachIndex(visit: (index: Index) => void): void {
    visit(this.#byNamespace)
    for (const index of this.#indexes.values()) visit(index)
  }

  #emit(event: CacheEvent): void {
    for (const handler of [...this.#handlers]) handler(event)
  }
}

function insert(index: Index, key: ObjectKey, object: KubeObject): void {
  for (const value of index.of(object)) {
    const found = index.entries.get(value)
    if (found === undefined) index.entries.set(value, new Map([[key, object]]))
    else found.set(key, object)
  }
}

function withdraw(index: Index, key: ObjectKey, old: KubeObject): void {
  for (const value of index.of(old)) {
    const found = index.entries.get(value)
    found?.delete(key)
    if (found?.size === 0) index.entries.delete(value)
  }
}
