/**
 * What makes a runtime that of its dataset: an owner reference, so that it goes with the dataset; the label with the dataset's
 * id; and our finalizer. One write, and the first. Pure.
 */
import type { Dataset } from '../../kinds/fluid/index.ts'
import { datasetId, runtimeFinalizer } from '../../kinds/fluid/names.ts'
import { LABELS, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import type { KubeObject, OwnerReference } from '../../kube/meta.ts'
import type { Action } from '../../runtime/controller.ts'
import { hasFinalizer } from '../../runtime/finalizer.ts'
import type { Engine } from '../engines/engine.ts'

export function isJoined(runtime: KubeObject, dataset: Dataset, type: RuntimeType): boolean {
  const { ownerReferences = [], labels = {} } = runtime.metadata
  return (
    hasFinalizer(runtime, runtimeFinalizer(type)) &&
    labels[LABELS.datasetId] === idOf(dataset) &&
    ownerReferences.some(({ uid }) => uid === dataset.metadata.uid)
  )
}

export function join({ resource, type }: Pick<Engine, 'resource' | 'type'>, runtime: KubeObject, dataset: Dataset): Action {
  const { ownerReferences = [], finalizers = [] } = runtime.metadata
  const { name = '', uid = '' } = dataset.metadata
  // Without a flag: it is no controller of the runtime.
  const owner: OwnerReference = { apiVersion: dataset.apiVersion, kind: dataset.kind, name, uid }
  const finalizer = runtimeFinalizer(type)
  return {
    do: 'patch',
    resource,
    of: runtime,
    patch: {
      metadata: {
        labels: { [LABELS.datasetId]: idOf(dataset) },
        ...(ownerReferences.some((one) => one.uid === uid) ? {} : { ownerReferences: [...ownerReferences, owner] }),
        ...(finalizers.includes(finalizer) ? {} : { finalizers: [...finalizers, finalizer] }),
      },
    },
  }
}

const idOf = ({ metadata: { namespace = '', name = '', uid = '' } }: Dataset): string => datasetId({ namespace, name, uid })
