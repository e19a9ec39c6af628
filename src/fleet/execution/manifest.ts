/**
 * A manifest of a Work as it is sent to its member: without what belongs to the hub, with the marks by which it is found
 * again. The two lists of managed keys record which labels and annotations are ours there, so that a key the template
 * dropped can be distinguished from one that somebody in the member added. Idempotent.
 */

import { markedManifest } from '../../kinds/karmada/manifest-marks.ts'
import {
  CONFLICT_OVERWRITE,
  CONFLICT_RESOLUTION_ANNOTATION,
  MANAGED_LABEL,
  MANAGED_VALUE,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from '../../kinds/karmada/well-known.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import { pruneForMember } from '../interpreter/native/prune.ts'

export const manifestsOf = ({ spec }: Work): readonly KubeObject[] =>
  (spec?.workload?.manifests ?? []) as unknown[] as readonly KubeObject[]

/** What admission makes of a manifest: pruned, with the Work's id and the lists of managed keys. */
export const recordedManifest = (manifest: KubeObject, work: Work): KubeObject =>
  markedManifest(pruneForMember(manifest), work.metadata.labels?.[WORK_ID] ?? '')

/** What is sent: a manifest that none of our controllers made carries the marks of managed objects too. */
export function preparedManifest(manifest: KubeObject, work: Work): KubeObject {
  const { namespace = '', name = '' } = work.metadata
  const { metadata } = manifest
  const labels = { ...metadata.labels, [MANAGED_LABEL]: MANAGED_VALUE }
  const annotations = { ...metadata.annotations, [WORK_NAMESPACE]: namespace, [WORK_NAME]: name }
  return recordedManifest({ ...manifest, metadata: { ...metadata, labels, annotations } }, work)
}

/** The keys of such a list. */
export const keysListed = (list: string | undefined): string[] => (list === undefined || list === '' ? [] : list.split(','))

export const isManaged = ({ metadata }: KubeObject): boolean => metadata.labels?.[MANAGED_LABEL] === MANAGED_VALUE

export const mayOverwrite = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[CONFLICT_RESOLUTION_ANNOTATION] === CONFLICT_OVERWRITE

/** The Work that an object in a member came from, according to its annotations. */
export function workOf({ metadata: { annotations = {} } }: KubeObject): ObjectRef | undefined {
  const namespace = annotations[WORK_NAMESPACE]
  const name = annotations[WORK_NAME]
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

export function isFrom(object: KubeObject, { metadata }: Work): boolean {
  const work = workOf(object)
  return work !== undefined && work.namespace === metadata.namespace && work.name === metadata.name
}
