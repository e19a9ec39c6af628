/**
 * The documents of a catalog by their place (`api/v1`, `apis/apps/v1`, `version`), and the v2 document of everything.
 * Each is made on first request and kept as bytes; a change of the catalog replaces only the documents of the group
 * versions it touched. Documents of built-in kinds are identical in every catalog of the process and shared.
 */
import { createHash } from 'node:crypto'
import type { KindDefinition, PublishedVersion } from '../../kinds/kind.ts'
import type { Catalog } from '../catalog.ts'
import { builtinPaths, rootPaths } from './builtin-paths.ts'
import { customPaths } from './custom-paths.ts'
import { toV2 } from './definitions.ts'
import { documentV2 } from './document-v2.ts'
import { documentV3 } from './document-v3.ts'
import type { PathItem, Paths } from './operations.ts'
import { encodeV2, encodeV3 } from './protobuf.ts'

export interface Document {
  /** Hash of the JSON form; the index needs all of them, so asking for it does not keep the bytes. */
  hash(): string
  json(): Uint8Array
  protobuf(): Uint8Array
}

export interface Documents {
  v2(): Document
  v3(place: string): Document | undefined
  /** In the order of the index. */
  places(): string[]
}

/** The kinds of one group version. */
interface Part {
  group: string
  version: string
  kinds: KindDefinition[]
}

interface Held extends Part {
  document: Document
}

export function createDocuments(catalog: Catalog): Documents {
  let epoch = 0
  let held: ReadonlyMap<string, Held> = new Map()
  let roots: ReadonlyMap<string, Document> = new Map()
  let v2: Document | undefined

  const refresh = (): void => {
    if (epoch === catalog.epoch) return
    const parts = partsOf(catalog.definitions())
    held = new Map(parts.map((part) => [placeOf(part), hold(part, held.get(placeOf(part)))]))
    roots = new Map([...rootPaths(builtinGroups(parts)).keys()].map((place) => [place, builtinRoot(place)]))
    v2 = undefined
    epoch = catalog.epoch
  }
  return {
    v2() {
      refresh()
      v2 ??= createDocument(() => wholeV2([...held.values()]), encodeV2)
      return v2
    },
    v3(place) {
      refresh()
      return held.get(place)?.document ?? roots.get(place)
    },
    places() {
      refresh()
      return [...held.keys(), ...roots.keys()].sort()
    },
  }
}

function createDocument(make: () => string, encode: (text: string) => Uint8Array): Document {
  let hash: string | undefined
  let json: Uint8Array | undefined
  let protobuf: Uint8Array | undefined
  const remember = (bytes: Uint8Array): Uint8Array => {
    hash ??= createHash('sha512').update(bytes).digest('hex').toUpperCase()
    return bytes
  }
  return {
    hash() {
      if (hash === undefined) remember(Buffer.from(make()))
      return hash ?? ''
    },
    json() {
      json ??= remember(Buffer.from(make()))
      return json
    },
    protobuf() {
      protobuf ??= encode(Buffer.from(json ?? remember(Buffer.from(make()))).toString())
      return protobuf
    },
  }
}

function partsOf(definitions: readonly KindDefinition[]): Part[] {
  const parts = new Map<string, Part>()
  for (const definition of definitions) {
    for (const { name, served } of definition.versions) {
      if (!served) continue
      const place = placeOf({ group: definition.group, version: name })
      const part = parts.get(place) ?? { group: definition.group, version: name, kinds: [] }
      part.kinds.push(definition)
      parts.set(place, part)
    }
  }
  return [...parts.values()]
}

const placeOf = ({ group, version }: Pick<Part, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`

const isBuiltin = (part: Part): boolean => part.kinds.some((kind) => kind.builtin)

function builtinGroups(parts: readonly Part[]): string[] {
  return [...new Set(parts.filter((part) => part.group !== '' && isBuiltin(part)).map((part) => part.group))]
}

/** The previous document if it was made from the same definitions: a changed definition is always a new object. */
function hold(part: Part, before: Held | undefined): Held {
  if (before !== undefined && before.kinds.length === part.kinds.length && before.kinds.every((kind, i) => kind === part.kinds[i]))
    return before
  if (part.kinds.every((kind) => kind.builtin)) return { ...part, document: shared(placeOf(part), () => textV3(part)) }
  return { ...part, document: createDocument(() => textV3(part), encodeV3) }
}

/** Write-once results of a pure computation: these documents depend on the facts alone. */
const sharedDocuments = new Map<string, Document>()

function shared(place: string, make: () => string): Document {
  const document = sharedDocuments.get(place) ?? createDocument(make, encodeV3)
  sharedDocuments.set(place, document)
  return document
}

function builtinRoot(place: string): Document {
  return shared(place, () => {
    const group = place.startsWith('apis/') ? [place.slice('apis/'.length)] : []
    return documentV3({ builtin: { group: '', version: 'v1' }, paths: rootPaths(group).get(place) ?? new Map(), own: new Map() })
  })
}

function textV3(part: Part): string {
  const published = publishedIn(part)
  const own = new Map(published.flatMap(({ it }) => Object.entries(it.v3).map(([name, schema]) => [name, JSON.stringify(schema)] as const)))
  const builtin = isBuiltin(part) ? { group: part.group, version: part.version } : undefined
  return documentV3({ builtin, paths: pathsOf(part, published), own })
}

interface PublishedKind {
  definition: KindDefinition
  it: PublishedVersion
}

function publishedIn({ kinds, version }: Part): PublishedKind[] {
  return kinds.flatMap((definition) => {
    const it = definition.publish?.().find((published) => published.version === version)
    return it === undefined ? [] : [{ definition, it }]
  })
}

function pathsOf(part: Part, published: readonly PublishedKind[]): Paths {
  const paths = new Map<string, PathItem>(isBuiltin(part) ? builtinPaths(part.group, part.version) : undefined)
  for (const { definition, it } of published) for (const [path, item] of customPaths(definition, it)) paths.set(path, item)
  return paths
}

function wholeV2(parts: readonly Part[]): string {
  const paths = new Map<string, PathItem>()
  const own = new Map<string, string>()
  for (const rootItems of rootPaths(builtinGroups(parts)).values()) for (const [path, item] of rootItems) paths.set(path, item)
  for (const part of parts) {
    const published = publishedIn(part)
    for (const { it } of published) for (const [name, schema] of Object.entries(it.v2)) own.set(name, JSON.stringify(toV2(schema)))
    for (const [path, item] of pathsOf(part, published)) paths.set(path, item)
  }
  return documentV2({ paths, own })
}
