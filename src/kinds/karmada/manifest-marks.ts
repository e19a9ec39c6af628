/**
 * What the manifest of a Work records about its origin: the id of the Work, and which labels and annotations are
 * ours, so that a key that the template dropped is dropped in the member too. Before a manifest is compared with the stored
 * one, these marks must be added: the same input gives the same manifest, in any order of keys.
 */
import { maybeObject, stringEntries } from '../kubernetes/rules/fields.ts'
import { MANAGED_ANNOTATIONS, MANAGED_LABELS, WORK_ID } from './well-known.ts'

type Manifest = Readonly<Record<string, unknown>>

/** A copy with the marks; `workId` is empty for a Work that has none yet. */
export function markedManifest<M extends Manifest>(manifest: M, workId: string): M {
  const metadata = maybeObject(manifest, 'metadata') ?? {}
  const labels = textsOf(metadata, 'labels')
  if (workId !== '') labels[WORK_ID] = workId
  const annotations = textsOf(metadata, 'annotations')
  const keys = new Set([...Object.keys(annotations), MANAGED_ANNOTATIONS, MANAGED_LABELS])
  annotations[MANAGED_ANNOTATIONS] = [...keys].sort().join(',')
  annotations[MANAGED_LABELS] = Object.keys(labels).sort().join(',')
  return {
    ...manifest,
    metadata: { ...metadata, ...(Object.keys(labels).length === 0 ? {} : { labels }), annotations },
  }
}

const textsOf = (metadata: Manifest, key: string): Record<string, string> => Object.fromEntries(stringEntries(metadata, key))
