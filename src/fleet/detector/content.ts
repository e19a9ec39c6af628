/**
 * What counts as the content of a template: everything but its status and the server's bookkeeping. A binding remembers the
 * content it was made from, so that neither a status that comes back to the template nor a restart changes anything, and a
 * lazy policy knows whether users have changed the template since.
 */
import { createHash } from 'node:crypto'
import { deepEqual, isJsonObject } from '../../base/json.ts'
import { SKIP_NAMESPACE_LABEL } from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { CLAIM_KEYS } from './claim.ts'

/** On a binding: the content of the template it was made from, `<users' part>.<fleet's part>`. */
export const CONTENT_ANNOTATION = 'sluice.dev/template-content'

export interface Content {
  /** Everything that users and their tools write. */
  people: string
  /** Labels and annotations written by the fleet, claims aside. */
  fleet: string
}

export const contentText = ({ people, fleet }: Content): string => `${people}.${fleet}`

/** The users' part of a remembered content. */
export const userPart = (text: string): string => text.slice(0, text.indexOf('.'))

export type ContentOf = (template: KubeObject) => Content

/** Cached objects never change, so each is hashed once. */
export function rememberedContent(): ContentOf {
  const known = new WeakMap<KubeObject, Content>()
  return (template) => {
    let content = known.get(template)
    if (content === undefined) {
      content = contentOf(template)
      known.set(template, content)
    }
    return content
  }
}

export function contentOf({ status: _status, metadata, ...rest }: KubeObject): Content {
  const labels = parted(metadata.labels)
  const annotations = parted(metadata.annotations)
  return {
    people: hashOf([rest, labels.people, annotations.people]),
    fleet: hashOf([labels.fleet, annotations.fleet]),
  }
}

const isOfFleet = (key: string): boolean => (key.includes('.karmada.io') || key.startsWith('sluice.dev/')) && key !== SKIP_NAMESPACE_LABEL

function parted(texts: Record<string, string> | undefined): { people: Record<string, string>; fleet: Record<string, string> } {
  const entries = Object.entries(texts ?? {})
  return {
    people: Object.fromEntries(entries.filter(([key]) => !isOfFleet(key))),
    fleet: Object.fromEntries(entries.filter(([key]) => isOfFleet(key) && !CLAIM_KEYS.has(key) && !key.startsWith('sluice.dev/'))),
  }
}

const hashOf = (value: unknown): string => createHash('sha256').update(canonicalText(value)).digest('base64url').slice(0, 16)

/** Equal values give equal text, whatever the order of their fields. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`)
  return `{${fields.join()}}`
}

/** Whether an update changed only status and bookkeeping. */
export function isSameContent(old: KubeObject, object: KubeObject): boolean {
  const { status: _old, metadata: before, ...oldRest } = old
  const { status: _new, metadata: after, ...rest } = object
  return (
    before.uid === after.uid &&
    before.deletionTimestamp === after.deletionTimestamp &&
    deepEqual(before.labels ?? {}, after.labels ?? {}) &&
    deepEqual(before.annotations ?? {}, after.annotations ?? {}) &&
    deepEqual(oldRest, rest)
  )
}
