/**
 * Creates the default StorageClass `local` once in the life of a cluster. What a person changes about it stays changed, and
 * if a person deletes it, it stays deleted: an annotation on the namespace kube-system records that it was created.
 * Sole writer of that annotation.
 */
import { NAMESPACES, STORAGE_CLASSES } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { localStorageClass } from '../local/volume.ts'
import { annotationOf } from '../names.ts'

const HOME = 'kube-system'
const REMEMBERED = 'sluice.dev/local-storage-class'

export interface Observed {
  namespace: KubeObject | undefined
}

export function localClass(): Controller {
  return defineController<Observed>({
    name: 'minicluster.storage.class',
    for: NAMESPACES,
    writes: [
      { resource: STORAGE_CLASSES, verbs: ['create'] },
      { resource: NAMESPACES, verbs: ['patch'] },
    ],
    observe: (_ref, namespace) => ({ namespace }),
    plan,
  })
}

function plan({ namespace }: Observed): Plan {
  if (namespace?.metadata.name !== HOME || annotationOf(namespace, REMEMBERED) !== undefined) return NOTHING_TO_DO
  return {
    actions: [
      { do: 'create', resource: STORAGE_CLASSES, object: localStorageClass() },
      { do: 'patch', resource: NAMESPACES, of: namespace, patch: { metadata: { annotations: { [REMEMBERED]: 'created' } } } },
    ],
  }
}
