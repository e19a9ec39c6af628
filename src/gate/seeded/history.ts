/**
 * Where each workload was ever allowed to go. A decision is always a little older than what is stored when it is written, so
 * it is right if it was right at some moment since the workload became what it was decided about.
 */
import type { Binding } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Change, InvariantView } from '../../runtime/seams/seeded.ts'
import { allowedNow, allowOf, BINDINGS, CLAIMS, CLUSTERS, claimsOn, namesOf, releasedFor, SOURCES, WORKLOADS, whereOf } from './judge.ts'

/** A workload between two changes of what it needs. */
interface Version {
  template: KubeObject
  revision: number
  /** Clusters in which it was allowed at some moment. */
  allowed: Set<string>
  /** At some moment nothing was claimed for it. */
  wasFree: boolean
}

const PLURALS = Object.values(WORKLOADS)
/** Changes of these can allow something. */
export const WATCHED: readonly string[] = [CLAIMS, SOURCES, CLUSTERS, ...PLURALS]

export class History {
  /** Of each workload, oldest first: only of the one that exists. */
  readonly #versions = new Map<string, Version[]>()

  #hasBegun = false

  /** Takes note of a write on the hub. */
  note(hub: InvariantView, change: Change): void {
    const { resource, object, previous, isDeletion } = change
    if (!this.#hasBegun) this.#begin(hub, change)
    if (resource === BINDINGS && !isDeletion && previous !== undefined) this.#noteBinding(hub, previous as Binding, object as Binding)
    if (!WATCHED.includes(resource)) return
    if (PLURALS.includes(resource)) this.#noteWorkload(hub, object, isDeletion)
    else if (resource !== CLUSTERS || previous === undefined || isDeletion || isOtherPlace(previous, object)) this.#noteAllowed(hub)
  }

  /** Whether the workload of a binding was allowed in a cluster, since it became what the binding was made from. */
  mayBeIn(binding: Binding, cluster: string): boolean {
    const { versions, from } = this.#versionsOf(binding)
    return versions.length === 0 || versions.slice(from).some(({ allowed, wasFree }) => wasFree || allowed.has(cluster))
  }

  /** Of the workload that a binding is about, and which of them the binding was made from; none where that is not known. */
  #versionsOf({ spec: { resource } }: Binding): { versions: readonly Version[]; from: number } {
    const { kind, namespace, name, uid } = resource
    const versions = this.#versions.get(`${kind} ${namespace}/${name}`) ?? []
    if (versions[0]?.template.metadata.uid !== uid) return { versions: [], from: 0 }
    const made = Number(resource.resourceVersion)
    const from = versions.findLastIndex(({ revision }) => revision <= made)
    return { versions, from: Math.max(0, from) }
  }

  /** A version in between that nobody has seen ends nothing: what was allowed before it stays allowed where the same claims concern it. */
  #noteBinding(hub: InvariantView, previous: Binding, binding: Binding): void {
    const [before, after] = [previous, binding].map((one) => {
      const { versions, from } = this.#versionsOf(one)
      return versions[from]
    })
    if (before === undefined || after === undefined || before === after) return
    if (!concernsSame(hub, before.template, after.template)) return
    for (const cluster of before.allowed) after.allowed.add(cluster)
    after.wasFree ||= before.wasFree
  }

  /** What was released before this write was allowed then. */
  #begin(hub: InvariantView, { object, previous }: Change): void {
    this.#hasBegun = true
    for (const plural of PLURALS) for (const template of hub.list(plural)) this.#noteWorkload(hub, template, false)
    for (const found of hub.list(BINDINGS) as Binding[]) {
      const binding = found.metadata.uid === object.metadata.uid ? (previous as Binding | undefined) : found
      if (binding === undefined) continue
      const { kind, namespace, name } = binding.spec.resource
      for (const version of this.#versions.get(`${kind} ${namespace}/${name}`) ?? [])
        for (const cluster of [...(allowOf(binding) ?? []), ...namesOf(binding)]) version.allowed.add(cluster)
    }
  }

  #noteWorkload(hub: InvariantView, template: KubeObject, isDeletion: boolean): void {
    const key = `${template.kind} ${whereOf(template)}`
    if (isDeletion) {
      this.#versions.delete(key)
      return
    }
    const before = this.#versions.get(key) ?? []
    const last = before.at(-1)
    if (last?.template.metadata.uid !== template.metadata.uid) this.#versions.set(key, [versionOf(hub, template)])
    else if (last !== undefined && needsText(last.template) !== needsText(template))
      before.push(versionOf(hub, template, concernsSame(hub, last.template, template) ? last : undefined))
  }

  #noteAllowed(hub: InvariantView): void {
    for (const versions of this.#versions.values()) for (const version of versions) allow(hub, version)
  }
}

/** What of a workload decides which claims concern it. */
const needsText = ({ metadata: { labels, annotations } }: KubeObject): string =>
  JSON.stringify([Object.entries(labels ?? {}).sort(), annotations?.['sluice.dev/claims']])

function concernsSame(hub: InvariantView, one: KubeObject, other: KubeObject): boolean {
  const textOf = (template: KubeObject): string => {
    const { claims, missing } = claimsOn(hub, template)
    return JSON.stringify([claims.map(whereOf).sort(), [...missing].sort()])
  }
  return textOf(one) === textOf(other)
}

/** What was allowed stays allowed where the same claims concern it. */
function versionOf(hub: InvariantView, template: KubeObject, last?: Version): Version {
  const version = {
    template,
    revision: Number(template.metadata.resourceVersion),
    allowed: new Set(last?.allowed),
    wasFree: last?.wasFree ?? false,
  }
  for (const name of releasedTo(hub, template)) version.allowed.add(name)
  allow(hub, version)
  return version
}

function allow(hub: InvariantView, version: Version): void {
  const names = allowedNow(hub, version.template)
  if (names === undefined) version.wasFree = true
  for (const name of names ?? []) version.allowed.add(name)
}

/** A release stays while the workload needs something else for a while, or a claim that it names is gone: each was judged when it was written. */
function releasedTo(hub: InvariantView, template: KubeObject): readonly string[] {
  const { claims, missing } = claimsOn(hub, template)
  const needed = [...claims.map(({ metadata }) => metadata.name ?? ''), ...missing].sort()
  const binding = (hub.list(BINDINGS) as Binding[]).find(({ spec }) => spec.resource.uid === template.metadata.uid)
  const isSame = binding !== undefined && JSON.stringify(releasedFor(binding)) === JSON.stringify(needed)
  return isSame ? (allowOf(binding) ?? []) : []
}

const isOtherPlace = ({ metadata: before }: KubeObject, { metadata: after }: KubeObject): boolean =>
  JSON.stringify(before.labels) !== JSON.stringify(after.labels)
