/**
 * Every field of every kind of ours through which an object can name something of another namespace, and every label and annotation of
 * ours: found in schemas and sources, so that nobody has to remember to add one. Fields of Kubernetes' own types are found once for
 * each type, with the places that have the type.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { structuralType } from '../../src/kinds/kubernetes/structural-types.ts'
import { kubernetesTypeOf, referenceOf } from '../../src/kinds/schema/builder.ts'
import type { OwnKind } from '../../src/kinds/schema/define-kind.ts'
import type { Schema } from '../../src/kube/schema.ts'
import { MODULES } from '../../src/modules.ts'

/** Of all modules, each once, whichever cluster serves it. */
export function ownKinds(): OwnKind[] {
  const all = MODULES.flatMap(({ kinds = {} }) => Object.values(kinds)).flat()
  return [...new Map(all.map((kind) => [`${kind.kind}.${kind.group}`, kind])).values()]
}

export interface Found {
  /** `Dataset spec.mounts[].mountPoint`. */
  fields: readonly string[]
  /** `Volume ephemeral.volumeClaimTemplate.metadata.namespace`: of types of Kubernetes that a kind of ours contains. */
  ofTypes: readonly string[]
  /** `Volume`: the fields of ours that are of such a type. */
  places: ReadonlyMap<string, readonly string[]>
}

export function fieldsThatName(kinds: readonly OwnKind[] = ownKinds()): Found {
  const fields = new Set<string>()
  const places = new Map<string, Set<string>>()
  for (const { kind, versions } of kinds)
    for (const { schema } of Object.values(versions))
      for (const { at, node } of nodesIn(schema)) {
        const type = kubernetesTypeOf(node)
        if (type !== undefined) places.set(type, (places.get(type) ?? new Set()).add(`${kind} ${at}`))
        else if (canName(at, node)) fields.add(`${kind} ${at}`)
      }
  const ofTypes = [...places.keys()].flatMap((type) =>
    nodesIn(structuralType(type as Parameters<typeof structuralType>[0]))
      .filter(({ at, node }) => isLeaf(node) && /namespace/i.test(at))
      .map(({ at }) => `${type} ${shortened(at)}`),
  )
  const named = new Set(ofTypes.map((one) => one.slice(0, one.indexOf(' '))))
  return {
    fields: [...fields].sort(),
    ofTypes: [...new Set(ofTypes)].sort(),
    places: new Map([...places].filter(([type]) => named.has(type)).map(([type, found]) => [type, [...found].sort()])),
  }
}

/** The four kinds of terms of an affinity say the same about namespaces, and so does each part of a selector. */
const shortened = (at: string): string =>
  at.replace(/pod(?:Anti)?Affinity\.[^.]+\.(?:podAffinityTerm\.)?/, 'podAffinity…').replace(/namespaceSelector\..*$/, 'namespaceSelector')

interface Node {
  at: string
  node: Schema
}

function nodesIn(node: Schema, at = ''): Node[] {
  const { properties = {}, items, additionalProperties } = node
  return [
    { at, node },
    ...Object.entries(properties).flatMap(([name, field]) => nodesIn(field, at === '' ? name : `${at}.${name}`)),
    ...(items === undefined ? [] : nodesIn(items, `${at}[]`)),
    ...(typeof additionalProperties === 'object' ? nodesIn(additionalProperties, `${at}{}`) : []),
  ]
}

/** Addresses can name anything, and so can what no schema describes. */
const ADDRESS = /^(?:mountPoint|uri|url|endpoint|address|apiEndpoint|backupPath|dataset)$/i

const isLeaf = ({ properties, items, additionalProperties }: Schema): boolean =>
  properties === undefined && items === undefined && typeof additionalProperties !== 'object'

function canName(at: string, node: Schema): boolean {
  if (referenceOf(node) !== undefined || node['x-kubernetes-preserve-unknown-fields'] === true) return true
  const name = at.slice(at.lastIndexOf('.') + 1).replace(/(?:\[\]|\{\})+$/, '')
  return isLeaf(node) && (/namespace/i.test(at) || /Refs?$/.test(name) || ADDRESS.test(name))
}

/** Tests run in the root of the repository. */
const SOURCES = path.resolve('src')
const DOMAINS = '(?:sluice\\.dev|fluid\\.io|volcano\\.sh|karmada\\.io)'
const KEY = new RegExp(`[\`'"]((?:[a-z0-9-]+\\.)*${DOMAINS}/[A-Za-z0-9._-]*)(?:\\$\\{[^}]*\\})?[\`'"]`, 'g')
/** Fluid's names are written with what they share left out. */
const SHARED = /\$\{PREFIX\}/g
const API_VERSION = /\/v[0-9]+(?:(?:alpha|beta)[0-9]+)?$/

/** Keys of labels and annotations in the program's sources, with or without something that varies behind them. */
export function keysOfLabels(): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  const own = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/(?:^|\/)(?:testing\.ts|faultsim\/)/.test(file))
  const keys = own.flatMap((file) => {
    const text = readFileSync(path.join(SOURCES, file), 'utf8')
    const [, prefix = ''] = /const PREFIX = '([a-z.]+\/)'/.exec(text) ?? []
    return [...text.replace(SHARED, prefix).matchAll(KEY)].map(([, key = '']) => key)
  })
  return [...new Set(keys)].filter((key) => !API_VERSION.test(key)).sort()
}
