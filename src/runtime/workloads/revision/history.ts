/**
 * The history of a StatefulSet or DaemonSet: its templates as ControllerRevisions. Pure: from the existing revisions it
 * determines which one represents the current template, which number that one must have, what to create when there is
 * none, and which old ones to delete. The current template always has the highest number, also after a rollback.
 */

import { deepEqual, isJsonObject, setOwn } from '../../../base/json.ts'
import { CONTROLLER_REVISIONS } from '../../../kinds/kubernetes/resources.ts'
import type { ControllerRevision, PodTemplateSpec } from '../../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { Action } from '../../controller.ts'
import { controllerReference } from '../pod/ownership.ts'

type Data = Record<string, unknown>

/** On a pod: which revision it was made from. */
export const REVISION_LABEL = 'controller-revision-hash'

const MAX_PREFIX = 223

/** A strategic merge patch that restores the template; what `kubectl rollout undo` applies. */
export const dataOf = (template: PodTemplateSpec | undefined): Data => ({ spec: { template: { ...template, $patch: 'replace' } } })

/** The template a revision holds; undefined when it holds none. */
export function templateIn(revision: ControllerRevision): PodTemplateSpec | undefined {
  const spec = revision.data?.spec
  const template = isJsonObject(spec) && Object.hasOwn(spec, 'template') ? spec.template : undefined
  if (!isJsonObject(template)) return undefined
  const { $patch: _how, ...rest } = template
  return rest as PodTemplateSpec
}

export interface History {
  /** The one with the current data; the newest when there are several. */
  current: ControllerRevision | undefined
  /** Others with the same data. */
  duplicates: ControllerRevision[]
  /** Those with other data, oldest first. */
  old: ControllerRevision[]
  /** All of them, oldest first. */
  all: ControllerRevision[]
  /** The number the current one must have. */
  number: number
}

export function readHistory(revisions: readonly ControllerRevision[], data: Data): History {
  const sorted = [...revisions].sort(byNumber)
  const equal = sorted.filter((revision) => deepEqual(revision.data, data))
  const current = equal.at(-1)
  const highest = numberOf(sorted.at(-1))
  const isNewest = current !== undefined && current === sorted.at(-1)
  return {
    current,
    duplicates: equal.slice(0, -1),
    old: sorted.filter((revision) => !equal.includes(revision)),
    all: sorted,
    number: isNewest ? highest : highest + 1,
  }
}

const numberOf = (revision: ControllerRevision | undefined): number => revision?.revision ?? 0

/** By number, then age, then name. */
function byNumber(a: ControllerRevision, b: ControllerRevision): number {
  const created = ({ metadata }: ControllerRevision): number => timeToMs(metadata.creationTimestamp) ?? 0
  return numberOf(a) - numberOf(b) || created(a) - created(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? '')
}

/** The write that gives the current revision its number; nothing when it has it. */
export function renumber({ current, number }: History): Action[] {
  if (current === undefined || current.revision === number) return []
  return [{ do: 'patch', resource: CONTROLLER_REVISIONS, of: current, patch: { revision: number } }]
}

/** Whether a revision is to be created or renumbered: then ask `isFresh` first. */
export const changesHistory = ({ current, number }: History): boolean => current === undefined || current.revision !== number

export interface NewRevision {
  owner: KubeObject
  template: PodTemplateSpec | undefined
  data: Data
  number: number
  /** The label that carries the hash. */
  hashLabel: string
  hashOf(collisions: number | undefined): string
  collisions: number | undefined
  /** The revision of that name in the owner's namespace, whoever owns it. */
  lookUp(name: string): ControllerRevision | undefined
}

export interface Found {
  revision: ControllerRevision
  /** False: it has to be created. */
  exists: boolean
  collisions: number | undefined
}

/** The revision to create; if its name is taken by the same data, that one; if by other data, one with another name. */
export function newRevision(input: NewRevision): Found {
  const { owner, data, number, lookUp } = input
  for (let collisions = input.collisions; ; collisions = (collisions ?? 0) + 1) {
    const hash = input.hashOf(collisions)
    const name = `${(owner.metadata.name ?? '').slice(0, MAX_PREFIX)}-${hash}`
    const holder = lookUp(name)
    if (holder !== undefined) {
      if (deepEqual(holder.data, data)) return { revision: holder, exists: true, collisions }
      continue
    }
    const labels = { ...input.template?.metadata?.labels }
    setOwn(labels, input.hashLabel, hash)
    const { namespace, annotations } = owner.metadata
    const metadata = {
      name,
      namespace,
      labels,
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ownerReferences: [controllerReference(owner)],
    }
    return { revision: { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, data, revision: number }, exists: false, collisions }
  }
}

/** Deletes the `excess` oldest of those that are not in use. */
export function truncate(old: readonly ControllerRevision[], excess: number, isLive: (revision: ControllerRevision) => boolean): Action[] {
  if (excess <= 0) return []
  return old
    .filter((revision) => !isLive(revision))
    .slice(0, excess)
    .map((of) => ({ do: 'delete', resource: CONTROLLER_REVISIONS, of }))
}

/** A revision is named `<owner>-<hash>`: the owner whose revision it may block, whoever controls it. */
export function ownerNameIn(revision: ControllerRevision): string | undefined {
  const name = revision.metadata.name ?? ''
  const dash = name.lastIndexOf('-')
  return dash > 0 ? name.slice(0, dash) : undefined
}
