/** What a Deployment records on its ReplicaSets: revisions, their history, and the numbers that sizes were based on. */
import { setOwn } from '../../../base/json.ts'
import type { Deployment, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Goal, Sized } from './sizes.ts'

export const REVISION = 'deployment.kubernetes.io/revision'
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'

const NOT_COPIED: ReadonlySet<string> = new Set([
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
])
const MAX_HISTORY = 2000

type Annotations = Record<string, string>

export function annotationOf(object: KubeObject, key: string): string | undefined {
  const { annotations } = object.metadata
  return annotations !== undefined && Object.hasOwn(annotations, key) ? annotations[key] : undefined
}

/** 0 when there is none, undefined when it is not a number. */
export function revisionOf(object: KubeObject): number | undefined {
  const text = annotationOf(object, REVISION) ?? ''
  if (text === '') return 0
  return /^[+-]?[0-9]{1,15}$/.test(text) ? Number(text) : undefined
}

export const nextRevision = (olds: readonly ReplicaSet[]): number => Math.max(0, ...olds.map((set) => revisionOf(set) ?? 0)) + 1

function countOf(set: ReplicaSet, key: string): number | undefined {
  const text = annotationOf(set, key) ?? ''
  return /^[0-9]{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined
}

export const sizeOf = (set: ReplicaSet): number => set.spec?.replicas ?? 1

export const sized = (set: ReplicaSet): Sized => ({
  name: set.metadata.name ?? '',
  size: sizeOf(set),
  available: set.status?.availableReplicas ?? 0,
  createdMs: timeToMs(set.metadata.creationTimestamp) ?? 0,
  maxReplicas: countOf(set, MAX_REPLICAS),
  desired: countOf(set, DESIRED_REPLICAS),
})

/** Recorded on each ReplicaSet when its size is decided. */
export const replicasAnnotations = ({ replicas, maxSurge }: Goal): Annotations => ({
  [DESIRED_REPLICAS]: String(replicas),
  [MAX_REPLICAS]: String(replicas + maxSurge),
})

/** The annotations of the newest ReplicaSet that have to change. `set` is undefined before it exists. */
export function newestAnnotations(deployment: Deployment, set: ReplicaSet | undefined, revision: number): Annotations {
  const held = set === undefined ? 0 : revisionOf(set)
  if (held === undefined) return {}
  const wanted: Annotations = {}
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) if (!NOT_COPIED.has(key)) setOwn(wanted, key, value)
  // Older ones may have been deleted since, and then `revision` is too low: numbers never go back.
  if (held < revision) {
    wanted[REVISION] = String(revision)
    const before = set === undefined ? undefined : annotationOf(set, REVISION)
    const history = set === undefined || before === undefined ? undefined : withRevision(annotationOf(set, REVISION_HISTORY) ?? '', before)
    if (history !== undefined) wanted[REVISION_HISTORY] = history
  }
  return set === undefined ? wanted : changedAnnotations(set, wanted)
}

export function changedAnnotations(set: ReplicaSet, wanted: Annotations): Annotations {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => annotationOf(set, key) !== value))
}

/** The oldest revisions are dropped when the list becomes too long. */
function withRevision(history: string, revision: string): string | undefined {
  if (history === '' || history.startsWith(',')) return revision
  const revisions = history.split(',')
  while (revisions.length > 0 && [...revisions, revision].join(',').length > MAX_HISTORY) revisions.shift()
  const text = [...revisions, revision].join(',')
  return text.length > MAX_HISTORY ? undefined : text
}
