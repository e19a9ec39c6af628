/**
 * The seam for modules that know more about where a template may go than its policy says: a narrowing names the clusters
 * that are allowed, or holds the binding back with a reason. Placement = policy ∩ narrowings. A hold suspends scheduling,
 * with its reason on the binding, from the binding's creation until the hold ends.
 *
 * A narrowing declares what it reads, as a controller does: nothing is decided before its caches have synced. What a narrowing
 * has put on a binding stays there while the narrowing does not run: only it can tell whether the restriction still holds.
 */

import { isJsonObject } from '../../base/json.ts'
import type { Binding, ClusterAffinity, Placement, Policy } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { TypedObjectRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Index, Reader, Signal, Watch } from '../controller.ts'
import type { Needs } from '../needs.ts'

/** On a binding: why we suspended its scheduling, as a sentence; absent when we have not. */
export const HELD_BECAUSE = 'sluice.dev/held-because'
/** The same as one word. */
export const HELD_REASON = 'sluice.dev/held-reason'
/** The objects it comes from: `DataSourceClaim/sales, DataSource/sales-1`. */
export const HELD_BY = 'sluice.dev/held-by'
/** The narrowings whose answer is in the binding, by name. */
export const NARROWED_BY = 'sluice.dev/narrowed-by'
/** On a binding that was released: JSON whose `allow` lists the clusters that were allowed then. Whoever allows must write it. */
export const RELEASED = 'sluice.dev/released'

/** Placeholder for a list of clusters of which none is left: an empty list would mean all. No cluster can have this name. */
export const NO_CLUSTER_ALLOWED = '(no cluster is allowed)'

export interface NarrowingSubject {
  template: KubeObject
  policy: Policy
  /** As it is now; undefined before it is created. */
  binding: Binding | undefined
  /** What the interpreter says it needs. Undefined: not known, because the interpreter was not called or failed. */
  needs: Needs | undefined
}

/** Why a binding must not be scheduled yet. Neither text may contain what changes by itself: positions, amounts, times. */
export interface Hold {
  /** One word, CamelCase. */
  reason: string
  /** One sentence for users. */
  message: string
  /** The objects it comes from. */
  by: readonly TypedObjectRef[]
}

export interface NarrowingAnswer {
  /** The only clusters it may go to; absent: any. */
  allow?: readonly string[]
  hold?: Hold
  /** Annotations of the narrowing's own, written with the same patch; null removes. */
  annotations?: Readonly<Record<string, string | null>>
  /** Recorded on the template with the write that carries the answer; not when there is nothing to write. */
  event?: { reason: string; message: string }
}

export interface Narrowing {
  /** For messages and documentation. Recorded on bindings, so never change it. */
  name: string
  /** What it reads. `keysFor` names the bindings (an empty namespace for cluster-scoped ones) whose answer may have changed. */
  watches: readonly Watch[]
  indexes?: readonly Index[]
  /**
   * Resources of which everything in the template's namespace that is older than the template, or than its policy, must be known
   * before the template is scheduled: a late event must not let it through.
   */
  olderThanTemplate?: readonly Resource[]
  /**
   * The same for templates that it allows somewhere: what allows them must not be older than they are. Of cluster-scoped
   * resources, all of them.
   */
  olderThanAllowed?: readonly Resource[]
  /** From caches, synchronously, and without side effects. Undefined: no restriction. */
  of(subject: NarrowingSubject, read: Reader): NarrowingAnswer | undefined
  /** Enqueues bindings for reasons other than the watches. */
  changes?: Signal
}

/** What all narrowings say together. */
export interface Narrowed extends Omit<NarrowingAnswer, 'event'> {
  events: readonly { reason: string; message: string }[]
  /** Names of the narrowings that restrict or hold it, in order. */
  narrowedBy: readonly string[]
  /** Those of them that only hold it. */
  heldOnlyBy: readonly string[]
}

export const NOT_NARROWED: Narrowed = Object.freeze({ events: [], narrowedBy: [], heldOnlyBy: [] })

/** Allowed is what each allows, and one hold is enough. Linear in what the answers contain. */
export function narrowed(narrowings: readonly Narrowing[], subject: NarrowingSubject, read: Reader): Narrowed {
  const running = narrowings.map((narrowing) => ({ name: narrowing.name, answer: narrowing.of(subject, read) }))
  // What is recorded of a hold is the text of all that held then: it counts only where nobody who runs says more.
  const isHeld = running.some(({ answer }) => answer?.hold !== undefined)
  const absent = retained(subject.binding, narrowings, isHeld)
  const answers = [...running, ...absent].flatMap(({ name, answer }) => (answer === undefined ? [] : [{ name, answer }]))
  if (answers.length === 0) return NOT_NARROWED
  let allow: readonly string[] | undefined
  const holds: Hold[] = []
  for (const { answer } of answers) {
    if (answer.allow !== undefined) allow = allow === undefined ? answer.allow : common(allow, answer.allow)
    if (answer.hold !== undefined) holds.push(answer.hold)
  }
  const [first] = holds
  return {
    ...(allow === undefined ? {} : { allow: [...new Set(allow)].sort() }),
    ...(first === undefined ? {} : { hold: holds.length === 1 ? first : joined(first, holds) }),
    annotations: Object.assign({}, ...answers.map(({ answer }) => answer.annotations)),
    events: answers.flatMap(({ answer }) => (answer.event === undefined ? [] : [answer.event])),
    narrowedBy: [
      ...running.flatMap(({ name, answer }) => (answer?.allow === undefined && answer?.hold === undefined ? [] : [name])),
      ...absent.map(({ name }) => name),
    ],
    heldOnlyBy: [
      ...running.flatMap(({ name, answer }) => (answer?.allow === undefined && answer?.hold !== undefined ? [name] : [])),
      ...absent.flatMap(({ name, answer }) => (answer.allow === undefined ? [name] : [])),
    ],
  }
}

const joined = (first: Hold, holds: readonly Hold[]): Hold => ({
  reason: first.reason,
  message: [...new Set(holds.map(({ message }) => message))].join('; '),
  by: holds.flatMap(({ by }) => by),
})

/** What narrowings that do not run here have put on the binding. Their names stay on it for as long as that does. */
function retained(
  binding: Binding | undefined,
  running: readonly Narrowing[],
  isHeld: boolean,
): { name: string; answer: NarrowingAnswer }[] {
  const { annotations = {} } = binding?.metadata ?? {}
  const names = new Set((annotations[NARROWED_BY] ?? '').split(','))
  const absent = [...names].filter((name) => name !== '' && !running.some((one) => one.name === name))
  if (binding === undefined || absent.length === 0 || (!isHeldByUs(binding) && annotations[RELEASED] === undefined)) return []
  const allow = releasedAllow(annotations[RELEASED])
  const hold = !isHeld && isHeldByUs(binding) && binding.spec?.suspension?.scheduling === true ? recordedHold(annotations) : undefined
  // The record does not tell them apart: one stands for all.
  return absent.map((name, i) => ({
    name,
    answer: { ...(allow === undefined ? {} : { allow }), ...(hold === undefined || i > 0 ? {} : { hold }) },
  }))
}

/**
 * Whether it was a narrowing that suspended the scheduling of a binding. Any of the marks is enough, because users may remove
 * some: what is narrowed and was not released is held.
 */
export const isHeldByUs = ({ metadata: { annotations = {} } }: KubeObject): boolean =>
  [HELD_BECAUSE, HELD_REASON, HELD_BY].some((mark) => annotations[mark] !== undefined) ||
  (annotations[NARROWED_BY] !== undefined && annotations[RELEASED] === undefined)

/** The hold that the marks of a binding describe. */
export function recordedHold(annotations: Readonly<Record<string, string>>): Hold {
  const reason = annotations[HELD_REASON] ?? 'Held'
  return { reason, message: annotations[HELD_BECAUSE] ?? `it is held (${reason})`, by: refsFromText(annotations[HELD_BY]) }
}

/** The annotations of a hold; all null without one. */
export const holdMarks = (hold: Hold | undefined): Record<string, string | null> => ({
  [HELD_BECAUSE]: hold?.message ?? null,
  [HELD_REASON]: hold?.reason ?? null,
  [HELD_BY]: hold === undefined || hold.by.length === 0 ? null : hold.by.map(({ kind, name }) => `${kind}/${name}`).join(', '),
})

const refsFromText = (text = ''): TypedObjectRef[] =>
  text.split(', ').flatMap((one) => {
    const slash = one.indexOf('/')
    return slash <= 0 ? [] : [{ apiVersion: '', kind: one.slice(0, slash), name: one.slice(slash + 1) }]
  })

/** The clusters that a binding was released to; undefined when it was not, or when the record cannot be read. */
export function releasedAllow(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined
  try {
    const record: unknown = JSON.parse(text)
    const allow = isJsonObject(record) ? record.allow : undefined
    return Array.isArray(allow) && allow.every((name) => typeof name === 'string') ? (allow as string[]) : undefined
  } catch {
    // Somebody has edited it: then nothing was recorded.
    return undefined
  }
}

function common(a: readonly string[], b: readonly string[]): string[] {
  const inB = new Set(b)
  return a.filter((name) => inB.has(name))
}

/** The placement restricted to the allowed clusters; unchanged when everything is allowed. Idempotent. */
export function narrowPlacement(placement: Placement | undefined, allow: readonly string[] | undefined): Placement | undefined {
  if (allow === undefined) return placement
  const { clusterAffinity, clusterAffinities } = placement ?? {}
  if (clusterAffinities === undefined || clusterAffinities.length === 0)
    return { ...placement, clusterAffinity: narrowAffinity(clusterAffinity ?? {}, allow) }
  return {
    ...placement,
    clusterAffinities: clusterAffinities.map((term) => ({
      ...narrowAffinity(term, allow),
      ...(term.overflowAffinities === undefined
        ? {}
        : { overflowAffinities: term.overflowAffinities.map((one) => narrowAffinity(one, allow)) }),
    })),
  }
}

function narrowAffinity<T extends ClusterAffinity>(affinity: T, allow: readonly string[]): T {
  const { clusterNames = [] } = affinity
  const left = clusterNames.length === 0 ? [...allow] : common(clusterNames, allow)
  return { ...affinity, clusterNames: left.length === 0 ? [NO_CLUSTER_ALLOWED] : left }
}
