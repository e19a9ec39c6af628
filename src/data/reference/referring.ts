/**
 * The references of an original: those that are in its list (`status.datasetRef`), those that hold its deletion, and those that
 * lost their consent. Recomputed whole from the datasets that refer. The list has room for so many; who is in it stays in it, and
 * only who is in it is served.
 */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { findCondition } from '../../kube/conditions.ts'
import { keyOfObject, refOf } from '../../kube/object-reference.ts'
import type { ConsentSource } from '../../runtime/reference-consent.ts'
import { mayRefer } from './consent.ts'
import { referencesOf, WITHDRAWN } from './indexes.ts'

export const MOST_REFERENCES = 1000
/** Beyond these: one for each namespace that has none, so that nobody alone keeps others out. */
export const MOST_FIRST_REFERENCES = 100

export interface References {
  /** `namespace/name`, sorted: what the list is to be. */
  listed: readonly string[]
  /** How many have consent, and no room in the list. */
  unlisted: number
  /** Sorted: those that could use the original before, and still refer to it. */
  withdrawn: readonly string[]
  /** Sorted: those without which it may go. */
  holding: readonly string[]
}

export const NO_REFERENCES: References = Object.freeze({ listed: [], unlisted: 0, withdrawn: [], holding: [] })

export function referencesTo(original: Dataset, source: ConsentSource & { read: Parameters<typeof referencesOf>[1] }): References {
  const own = keyOfObject(original)
  const all = referencesOf(refOf(original), source.read).filter((one) => keyOfObject(one) !== own)
  if (all.length === 0) return NO_REFERENCES
  const before = new Set(original.status?.datasetRef ?? [])
  const mayFrom = consentOnce(original, source)
  const [holding, withdrawn]: [string[], string[]] = [[], []]
  for (const one of all) {
    const key = keyOfObject(one)
    if (!mayFrom(one.metadata.namespace ?? '')) {
      if (findCondition(one.status?.conditions, WITHDRAWN)?.status === 'True') withdrawn.push(key)
    } else if (before.has(key) || isNotLater(one, original)) {
      holding.push(key)
    }
  }
  holding.sort()
  // Also one that is to be deleted, until its pods have ended.
  const listed = holding.length <= MOST_REFERENCES ? holding : bounded(holding, before)
  return {
    listed,
    unlisted: holding.length - listed.length,
    withdrawn: withdrawn.sort(),
    holding,
  }
}

/** Each namespace is looked up once, however many references it has. */
function consentOnce(original: Dataset, source: ConsentSource): (namespace: string) => boolean {
  const known = new Map<string, boolean>()
  return (namespace) => {
    const may = known.get(namespace) ?? mayRefer(namespace, refOf(original), source)
    known.set(namespace, may)
    return may
  }
}

/** Of sorted ones. Who is in the list stays in it; others in the order of their names. */
function bounded(wanted: readonly string[], before: ReadonlySet<string>): string[] {
  const listed = wanted.filter((key) => before.has(key)).slice(0, MOST_REFERENCES + MOST_FIRST_REFERENCES)
  const namespaces = new Set(listed.map(namespaceIn))
  for (const key of wanted) {
    const most = namespaces.has(namespaceIn(key)) ? MOST_REFERENCES : MOST_REFERENCES + MOST_FIRST_REFERENCES
    if (before.has(key) || listed.length >= most) continue
    listed.push(key)
    namespaces.add(namespaceIn(key))
  }
  return listed.sort()
}

const namespaceIn = (key: string): string => key.slice(0, key.indexOf('/'))

/** One that comes when its original is to be deleted already does not keep it. */
const isNotLater = ({ metadata: { creationTimestamp } }: Dataset, { metadata: { deletionTimestamp } }: Dataset): boolean =>
  deletionTimestamp === undefined || Date.parse(creationTimestamp ?? '') <= Date.parse(deletionTimestamp)

const MOST_SHOWN = 10

/** `a/x, b/y and 7 more`. */
export const shownKeys = (keys: readonly string[], separator = ', '): string =>
  `${keys.slice(0, MOST_SHOWN).join(separator)}${keys.length > MOST_SHOWN ? ` and ${keys.length - MOST_SHOWN} more` : ''}`
