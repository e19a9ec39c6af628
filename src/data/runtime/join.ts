/**
 * What makes a runtime that of its dataset: an owner reference, so that it goes with the dataset; the label with the dataset's
 * id; and our finalizer. One write, and the first. A runtime that is not served gets the owner reference alone. Pure.
 */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { datasetId, runtimeFinalizer } from '../../kinds/fluid/names.ts'
import { LABELS, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Action } from '../../runtime/controller.ts'
import { hasFinalizer } from '../../runtime/finalizer.ts'
import { datasetReference, isOwnedBy } from '../dataset-owner.ts'
import type { Engine } from '../engines/engine.ts'

export function isJoined(runtime: KubeObject, dataset: Dataset, type: RuntimeType): boolean {
  const { labels = {} } = runtime.metadata
  return hasFinalizer(runtime, runtimeFinalizer(type)) && labels[LABELS.datasetId] === idOf(dataset) && isOwnedBy(runtime, dataset)
}

export const belong = ({ resource }: Pick<Engine, 'resource'>, runtime: KubeObject, dataset: Dataset): Action => ({
  do: 'patch',
  resource,
  of: runtime,
  patch: { metadata: ownedBy(runtime, dataset) },
})

export function join({ resource, type }: Pick<Engine, 'resource' | 'type'>, runtime: KubeObject, dataset: Dataset): Action {
  const { finalizers = [] } = runtime.metadata
  const finalizer = runtimeFinalizer(type)
  return {
    do: 'patch',
    resource,
    of: runtime,
    patch: {
      metadata: {
        labels: { [LABELS.datasetId]: idOf(dataset) },
        ...ownedBy(runtime, dataset),
        ...(finalizers.includes(finalizer) ? {} : { finalizers: [...finalizers, finalizer] }),
      },
    },
  }
}

const ownedBy = (runtime: KubeObject, dataset: Dataset): Pick<KubeObject['metadata'], 'ownerReferences'> =>
  isOwnedBy(runtime, dataset) ? {} : { ownerReferences: [...(runtime.metadata.ownerReferences ?? []), datasetReference(dataset)] }

const idOf = ({ metadata: { namespace = '', name = '', uid = '' } }: Dataset): string => datasetId({ namespace, name, uid })
