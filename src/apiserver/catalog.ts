/**
 * Which resources are served right now: the built-in kinds, our own, and whatever CustomResourceDefinitions add.
 * Lookups are by path (group, version, resource); changes bump `epoch`, which invalidates the discovery and OpenAPI caches.
 */
import type { KindDefinition, KindVersion } from '../kinds/kind.ts'
import { groupVersion } from '../kube/meta.ts'
import type { GroupResource } from '../kube/status.ts'

/** One kind in one served version: what a request's path names. */
export interface Served {
  definition: KindDefinition
  version: KindVersion
  /** apiVersion objects have at this path. */
  apiVersion: string
  /** apiVersion they have in the store. */
  storageApiVersion: string
  bucket: string
  groupResource: GroupResource
}

export interface Catalog {
  /** Grows with every change. */
  readonly epoch: number
  find(group: string, version: string, resource: string): Served | undefined
  /** By kind, for owner references and bodies. */
  findKind(group: string, version: string, kind: string): Served | undefined
  /** The storage version of a resource. */
  findStored(group: string, resource: string): Served | undefined
  /** In the order they were added; the same list until something changes. */
  definitions(): readonly KindDefinition[]
  /** Whether the group has built-in kinds: its unknown resources are answered with a different message. */
  hasBuiltinGroup(group: string): boolean
  /**
   * A kind that the server was given when it was made: built in, or one of our own. It is never replaced or removed, and what
   * is added later neither takes its kind nor, in discovery, comes before its group.
   */
  fixed(group: string, plural: string): KindDefinition | undefined
  /** Adds or replaces; without effect for a kind that is fixed. */
  put(definition: KindDefinition): void
  remove(group: string, plural: string): void
  onChange(callback: () => void): () => void
}

export function createCatalog(initial: readonly KindDefinition[]): Catalog {
  const definitions = new Map<string, KindDefinition>()
  const byPath = new Map<string, Served>()
  const byKind = new Map<string, Served>()
  const listeners = new Set<() => void>()
  const fixed = new Map(initial.map((definition) => [`${definition.group}/${definition.plural}`, definition]))
  const builtinGroups = new Set(initial.filter((definition) => definition.builtin).map((definition) => definition.group))
  let all: readonly KindDefinition[] | undefined
  let epoch = 1

  const isFixed = ({ group, plural }: Pick<KindDefinition, 'group' | 'plural'>): boolean => fixed.has(`${group}/${plural}`)
  const index = (definition: KindDefinition): void => {
    definitions.set(`${definition.group}/${definition.plural}`, definition)
    for (const version of definition.versions) {
      if (!version.served) continue
      const served = serve(definition, version)
      byPath.set(`${definition.group}/${version.name}/${definition.plural}`, served)
      const kind = `${definition.group}/${version.name}/${definition.kind}`
      const holder = byKind.get(kind)?.definition
      if (holder === undefined || holder.plural === definition.plural || !isFixed(holder)) byKind.set(kind, served)
    }
  }
  const drop = (definition: KindDefinition): void => {
    definitions.delete(`${definition.group}/${definition.plural}`)
    for (const version of definition.versions) {
      byPath.delete(`${definition.group}/${version.name}/${definition.plural}`)
      const kind = `${definition.group}/${version.name}/${definition.kind}`
      if (byKind.get(kind)?.definition === definition) byKind.delete(kind)
    }
  }
  const changed = (): void => {
    epoch++
    all = undefined
    for (const listener of listeners) listener()
  }
  for (const definition of initial) index(definition)

  return {
    get epoch() {
      return epoch
    },
    find: (group, version, resource) => byPath.get(`${group}/${version}/${resource}`),
    findKind: (group, version, kind) => byKind.get(`${group}/${version}/${kind}`),
    findStored(group, resource) {
      const definition = definitions.get(`${group}/${resource}`)
      const version = definition?.versions.find((v) => v.name === definition.storageVersion) ?? definition?.versions[0]
      return definition === undefined || version === undefined ? undefined : serve(definition, version)
    },
    definitions() {
      all ??= [...definitions.values()]
      return all
    },
    hasBuiltinGroup: (group) => builtinGroups.has(group),
    fixed: (group, plural) => fixed.get(`${group}/${plural}`),
    put(definition) {
      if (isFixed(definition)) return
      const old = definitions.get(`${definition.group}/${definition.plural}`)
      if (old !== undefined) drop(old)
      index(definition)
      changed()
    },
    remove(group, plural) {
      const old = definitions.get(`${group}/${plural}`)
      if (old === undefined || isFixed(old)) return
      drop(old)
      changed()
    },
    onChange(callback) {
      listeners.add(callback)
      return () => listeners.delete(callback)
    },
  }
}

function serve(definition: KindDefinition, version: KindVersion): Served {
  return {
    definition,
    version,
    apiVersion: groupVersion(definition.group, version.name),
    storageApiVersion: definition.storageApiVersion ?? groupVersion(definition.group, definition.storageVersion),
    bucket: definition.storageKey ?? bucketOf(definition.group, definition.plural),
    groupResource: { group: definition.group, resource: definition.plural },
  }
}

/** The store's bucket of a resource: `pods`, `deployments.apps`. */
export function bucketOf(group: string, plural: string): string {
  return group === '' ? plural : `${plural}.${group}`
}
