/** What to write about a reference: finalizer and label first, then its status, then the ThinRuntime that it is bound to. Pure. */
import { type Dataset, ThinRuntime } from '../../../kinds/fluid/index.ts'
import { datasetId } from '../../../kinds/fluid/names.ts'
import { DATASETS, THIN_RUNTIMES } from '../../../kinds/fluid/resources.ts'
import { DATASET_FINALIZER, LABELS } from '../../../kinds/fluid/well-known.ts'
import { findCondition } from '../../../kube/conditions.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Action, type EventIntent, NOTHING_TO_DO, type Plan } from '../../../runtime/controller.ts'
import { hasFinalizer, removeFinalizer } from '../../../runtime/finalizer.ts'
import { controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import type { Said } from '../../dataset/conditions.ts'
import { identity, statusWrite } from '../../dataset/plan.ts'
import { isGoing, WITHDRAWN } from '../indexes.ts'
import { shownKeys } from '../referring.ts'
import { decide, type Standing } from './decide.ts'
import { consentWithdrawn, deletionHeld, nameTaken, originalLost } from './events.ts'
import type { Observed } from './observe.ts'
import { statusOf } from './status.ts'

export function plan(observed: Observed): Plan {
  const { dataset, isCertain } = observed
  if (isGoing(dataset) && !hasFinalizer(dataset, DATASET_FINALIZER)) return NOTHING_TO_DO
  // The key is queued again when the cache has caught up.
  if (!isCertain) return NOTHING_TO_DO
  if (!isGoing(dataset)) return identity(dataset) ?? planLife(observed)
  const held = holdOf(observed)
  return held === undefined ? { actions: [removeFinalizer(DATASETS, dataset, DATASET_FINALIZER)] } : planLife(observed, held)
}

/** Of a reference, only its own pods. */
function holdOf({ dataset, pods }: Observed): Said | undefined {
  if (pods.length === 0) return undefined
  const message = `Failed to delete dataset because err: can not delete dataset because Pod ${shownKeys(pods)} in Namespace ${dataset.metadata.namespace ?? ''} is using it`
  return { type: 'DeletionHeld', status: 'True', reason: 'PodsUseIt', message }
}

function planLife(observed: Observed, held?: Said): Plan {
  const { dataset } = observed
  const standing = decide(observed)
  const isMissing = standing.is === 'waiting' && standing.needsRuntime === true
  return {
    actions: [
      ...statusWrite(dataset, statusOf(observed, standing, held), eventsOf(observed, standing, held)),
      // After the status: a creation that is refused must not keep the reason from being seen.
      ...(isMissing ? [{ do: 'create', resource: THIN_RUNTIMES, object: thinRuntimeOf(dataset) } satisfies Action] : []),
    ],
  }
}

/** Nothing is cached for a reference: its runtime stands for that of the original. */
function thinRuntimeOf(dataset: Dataset): KubeObject {
  const { namespace = '', name = '', uid = '' } = dataset.metadata
  const { group, storageVersion, kind } = ThinRuntime
  return {
    apiVersion: `${group}/${storageVersion}`,
    kind,
    metadata: {
      namespace,
      name,
      labels: { [LABELS.datasetId]: datasetId({ namespace, name, uid }) },
      ownerReferences: [controllerReference(dataset)],
    },
    spec: {},
  }
}

function eventsOf({ dataset, taken }: Observed, standing: Standing, held: Said | undefined): EventIntent[] {
  const { conditions } = dataset.status ?? {}
  const isNew = (type: string): boolean => findCondition(conditions, type)?.status !== 'True'
  const isWithdrawn = standing.is === 'waiting' && standing.isWithdrawn === true
  return [
    ...(held !== undefined && isNew('DeletionHeld') ? [deletionHeld(dataset, held.message)] : []),
    ...(isWithdrawn && isNew(WITHDRAWN) ? [consentWithdrawn(dataset, standing.sentence)] : []),
    ...(standing.is === 'lost' && dataset.status?.phase !== 'Failed' ? [originalLost(dataset, standing.sentence)] : []),
    ...(taken !== undefined && standing.is !== 'waiting' && isNew('NameTaken') ? [nameTaken(dataset, taken)] : []),
  ]
}
