/**
 * Which templates declare to make which data (`sluice.dev/produces`): a view derived from the templates. Work per event:
 * constant, plus the names that the template declares; a template without the annotation costs a look at its annotations
 * and no memory. Only objects of a namespace that policies do not ignore are producers: nothing else is propagated for a
 * tenant, so nothing else can have succeeded.
 */
import { deepEqual } from '../../base/json.ts'
import type { Located } from '../../client/cache/cluster-cache.ts'
import { bindingName } from '../../kinds/karmada/names.ts'
import { type DataName, dataKey, parseProduces } from '../../kinds/volcano/annotations.ts'
import { sourceObjectName } from '../../kinds/volcano/source-name.ts'
import { PRODUCES_ANNOTATION } from '../../kinds/volcano/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject, type ObjectRef, refOf } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Templates } from '../../runtime/templates.ts'

export interface Producer {
  /** As it is now. */
  template: KubeObject
  resource: Resource
  /** Where its binding is, or will be. */
  binding: ObjectRef
}

export interface Producers {
  /** Templates that declare to make this data, oldest first (creationTimestamp, then namespace/name, then kind). */
  of(name: DataName): readonly Producer[]
  /** What a template declares to make; empty when the annotation is absent or unreadable, or the template is no producer. */
  madeBy(template: KubeObject): readonly DataName[]
  /** Called when producers of a name come, go or change in their labels or annotations; not for those that exist already. */
  subscribe(handler: (name: DataName) => void): () => void
}

/** What publishing needs besides. */
export interface ProducerIndex extends Producers {
  /** Bindings of the templates whose data is published as a DataSource of this name. */
  publishedAs(objectName: string): readonly ObjectRef[]
  /** Called with the binding of a template whose declaration comes, goes or changes, readable or not; not for existing ones. */
  onDeclaration(handler: (binding: ObjectRef) => void): () => void
}

export function createProducers(templates: Templates): ProducerIndex {
  return new ProducerView(templates)
}

/** Whether it says that it makes something: not whether this can be read. */
export const declares = ({ metadata }: KubeObject): boolean => metadata.annotations?.[PRODUCES_ANNOTATION] !== undefined

interface Entry {
  producer: Producer
  makes: readonly DataName[]
  /** The names of the DataSources, in the same order. */
  objects: readonly string[]
}

const NOTHING: readonly never[] = Object.freeze([])

class ProducerView implements ProducerIndex {
  readonly #templates: Templates
  readonly #entries = new Map<string, Entry>()
  readonly #byName = new Groups<Producer>()
  readonly #byObject = new Groups<ObjectRef>()
  readonly #handlers = new Set<(name: DataName) => void>()
  readonly #declarationHandlers = new Set<(binding: ObjectRef) => void>()

  constructor(templates: Templates) {
    this.#templates = templates
    templates.subscribe((located, { type, old }) => {
      if (located.resource.namespaced && (declares(located.object) || (old !== undefined && declares(old))))
        this.#take(located, type === 'deleted')
    })
    templates.onComplete(() => this.#forgetLeft())
  }

  of(name: DataName): readonly Producer[] {
    return this.#byName.of(dataKey(name)).sort(byAge)
  }

  madeBy(template: KubeObject): readonly DataName[] {
    const text = template.metadata.annotations?.[PRODUCES_ANNOTATION]
    if (text === undefined || refOf(template).namespace === '' || this.#templates.isSkipped(template)) return NOTHING
    return parseProduces(text).value ?? NOTHING
  }

  publishedAs(objectName: string): readonly ObjectRef[] {
    return this.#byObject.of(objectName)
  }

  subscribe(handler: (name: DataName) => void): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  onDeclaration(handler: (binding: ObjectRef) => void): () => void {
    this.#declarationHandlers.add(handler)
    return () => this.#declarationHandlers.delete(handler)
  }

  /** Also of a template whose declaration cannot be read: it makes nothing, which somebody should be told. */
  #take({ resource, object }: Located, isGone: boolean): void {
    const id = idOf(resource, object)
    const before = this.#entries.get(id)
    const after = isGone || !declares(object) ? undefined : this.#entryOf(resource, object, before)
    if (after === undefined) this.#entries.delete(id)
    else this.#entries.set(id, after)
    const names = new Map([...(before?.makes ?? []), ...(after?.makes ?? [])].map((name) => [dataKey(name), name]))
    const now = new Set(after?.makes.map(dataKey))
    if (before?.objects !== after?.objects) {
      for (const name of before?.objects ?? []) this.#byObject.remove(name, id)
      for (const name of after?.objects ?? []) this.#byObject.put(name, id, bindingOf(object))
    }
    for (const key of names.keys()) {
      if (after !== undefined && now.has(key)) this.#byName.put(key, id, after.producer)
      else this.#byName.remove(key, id)
    }
    const isAlike = before !== undefined && after !== undefined && isSame(before.producer.template, after.producer.template)
    if (!isAlike) this.#announce(names.values(), bindingOf(object))
  }

  #entryOf(resource: Resource, template: KubeObject, before: Entry | undefined): Entry {
    const producer = { template, resource, binding: bindingOf(template) }
    // The status of a template changes often, what it makes hardly ever.
    if (before !== undefined && isSame(before.producer.template, template)) return { ...before, producer }
    const makes = this.madeBy(template)
    const { namespace } = producer.binding
    return { producer, makes, objects: makes.map((name) => sourceObjectName(name, namespace)) }
  }

  /** Templates of a kind that is no longer served disappear without an event. */
  #forgetLeft(): void {
    for (const { producer } of [...this.#entries.values()]) {
      const { template, resource } = producer
      const { apiVersion, kind } = template
      const isThere = this.#templates.get({ apiVersion, kind, ...refOf(template) }) !== undefined
      if (!isThere) this.#take({ resource, object: template }, true)
    }
  }

  #announce(names: Iterable<DataName>, binding: ObjectRef): void {
    for (const name of names) for (const handler of [...this.#handlers]) handler(name)
    for (const handler of [...this.#declarationHandlers]) handler(binding)
  }
}

/** Values by a key and an id; the cost of a change does not depend on their number. */
class Groups<Value> {
  readonly #groups = new Map<string, Map<string, Value>>()

  put(key: string, id: string, value: Value): void {
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, new Map([[id, value]]))
    else group.set(id, value)
  }

  remove(key: string, id: string): void {
    const group = this.#groups.get(key)
    group?.delete(id)
    if (group?.size === 0) this.#groups.delete(key)
  }

  of(key: string): Value[] {
    return [...(this.#groups.get(key)?.values() ?? [])]
  }
}

/** Without the version: the same object may come to be followed in another one. */
const idOf = ({ group, kind }: Resource, object: KubeObject): string => `${group}/${kind} ${keyOfObject(object)}`

const bindingOf = ({ kind, metadata }: KubeObject): ObjectRef => ({
  namespace: metadata.namespace ?? '',
  name: bindingName(kind, metadata.name ?? ''),
})

/** In everything that decides whether it is a producer, of what, and which claims concern it. */
const isSame = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean =>
  a.uid === b.uid &&
  a.deletionTimestamp === b.deletionTimestamp &&
  deepEqual(a.labels ?? {}, b.labels ?? {}) &&
  deepEqual(a.annotations ?? {}, b.annotations ?? {})

/** Times of one format, to the second, compare as texts. */
const byAge = ({ template: a }: Producer, { template: b }: Producer): number =>
  compareStrings(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  compareStrings(keyOfObject(a), keyOfObject(b)) ||
  compareStrings(a.kind, b.kind) ||
  compareStrings(a.apiVersion, b.apiVersion)
