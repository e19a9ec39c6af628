/**
 * Writes the text of every Note into a ConfigMap of the same name. Sole writer of: that ConfigMap. Runs again when the Note
 * or the ConfigMap changes. Deletion: the ConfigMap follows by its owner reference.
 */
import { CONFIG_MAPS } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan, via } from '../../src/runtime/controller.ts'
import { Note } from './note.ts'

interface Observed {
  note: Note | undefined
  suffix: string
}

export const noteController = (suffix: () => string): Controller =>
  defineController<Observed, Note>({
    name: 'toy.note',
    for: Note.resource,
    watches: [via(CONFIG_MAPS, ({ metadata: { namespace = '', name = '' } }) => [{ namespace, name }])],
    writes: [{ resource: CONFIG_MAPS, verbs: ['create', 'patch'] }],
    observe: (_key, note) => ({ note, suffix: suffix() }),
    plan,
  })

function plan({ note, suffix }: Observed): Plan {
  if (note === undefined || note.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const { name = '', namespace, uid = '' } = note.metadata
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ownerReferences: [{ apiVersion: note.apiVersion, kind: note.kind, name, uid, controller: true }] },
    data: { text: `${note.spec.text}${suffix}` },
  }
  return { actions: [{ do: 'apply', resource: CONFIG_MAPS, object }] }
}
