/**
 * What a process remembers of each Work while it runs; losing it does no harm. First, what a member made of an object we
 * sent, if it stores something else (a default, a normalized form): the same need not be sent again. Second, when the
 * reflected status last changed, so that a rollout is not written step by step. Third, which kinds it contains, so that it
 * is queued again when their rules change.
 */
import { createHash } from 'node:crypto'
import { deepEqual, isJsonObject } from '../../base/json.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type GroupVersionKind, keyOfRef, type ObjectRef } from '../../kube/object-reference.ts'

export interface Form {
  /** Digest of what was sent last. */
  sent: string
  /** Digest of what the member had afterwards; undefined until it was read. */
  left?: string
}

export interface Memory {
  form(ref: ObjectRef, ordinal: number): Form | undefined
  keepForm(ref: ObjectRef, ordinal: number, form: Form): void
  /** When the status that the Work carries now was first seen on it. */
  reflectedAtMs(ref: ObjectRef, work: Work, nowMs: number): number
  noteKinds(ref: ObjectRef, manifests: readonly KubeObject[]): void
  /** Works that have one of these kinds; all of them when `kinds` is undefined. */
  withKinds(kinds: readonly GroupVersionKind[] | undefined): ObjectRef[]
  forget(ref: ObjectRef): void
}

interface Remembered {
  ref: ObjectRef
  forms: Map<number, Form>
  kinds: readonly string[]
  reflected?: { statuses: unknown; atMs: number }
}

export function createMemory(): Memory {
  const works = new Map<string, Remembered>()
  const byKind = new Map<string, Set<string>>()
  function rememberedOf(ref: ObjectRef): Remembered {
    const key = keyOfRef(ref)
    const known = works.get(key)
    if (known !== undefined) return known
    const fresh: Remembered = { ref, forms: new Map(), kinds: [] }
    works.set(key, fresh)
    return fresh
  }

  function unlist(key: string, kinds: readonly string[]): void {
    for (const kind of kinds) {
      const listed = byKind.get(kind)
      listed?.delete(key)
      if (listed?.size === 0) byKind.delete(kind)
    }
  }

  return {
    form: (ref, ordinal) => works.get(keyOfRef(ref))?.forms.get(ordinal),
    keepForm: (ref, ordinal, form) => void rememberedOf(ref).forms.set(ordinal, form),
    reflectedAtMs(ref, { status }, nowMs) {
      const remembered = rememberedOf(ref)
      const statuses = status?.manifestStatuses
      if (remembered.reflected === undefined || !deepEqual(remembered.reflected.statuses, statuses))
        remembered.reflected = { statuses, atMs: nowMs }
      // If the clock was set back, a time in the future counts as now.
      remembered.reflected.atMs = Math.min(remembered.reflected.atMs, nowMs)
      return remembered.reflected.atMs
    },
    noteKinds(ref, manifests) {
      const remembered = rememberedOf(ref)
      const key = keyOfRef(ref)
      const kinds = [...new Set(manifests.map(kindOf))]
      if (deepEqual(kinds, remembered.kinds)) return
      unlist(key, remembered.kinds)
      remembered.kinds = kinds
      for (const kind of kinds) byKind.set(kind, (byKind.get(kind) ?? new Set()).add(key))
    },
    withKinds(kinds) {
      if (kinds === undefined) return [...works.values()].map(({ ref }) => ref)
      const keys = new Set(kinds.flatMap((kind) => [...(byKind.get(kindOf(kind)) ?? [])]))
      return [...keys].flatMap((key) => works.get(key)?.ref ?? [])
    },
    forget(ref) {
      const key = keyOfRef(ref)
      unlist(key, works.get(key)?.kinds ?? [])
      works.delete(key)
    },
  }
}

const kindOf = ({ apiVersion, kind }: GroupVersionKind): string => `${apiVersion} ${kind}`

/** Equal content gives equal digests, whatever the order of keys; null counts as absent. */
export const digestOf = (content: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(ordered(content)))
    .digest('base64')

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isJsonObject(value)) return value
  return Object.keys(value)
    .sort()
    .filter((key) => value[key] !== undefined && value[key] !== null)
    .map((key) => [key, ordered(value[key])])
}
