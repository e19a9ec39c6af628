/** The combined status of the Works of a binding: an item per cluster, and whether everything is where it should be. Pure. */
import type { AggregatedStatusItem, BindingSpec, Work } from '../../../kinds/karmada/index.ts'
import { clusterOfExecutionNamespace } from '../../../kinds/karmada/names.ts'
import {
  BINDING_REASONS,
  FULLY_APPLIED,
  FULLY_APPLIED_MESSAGE,
  NOT_FULLY_APPLIED_MESSAGE,
  WORK_APPLIED,
} from '../../../kinds/karmada/well-known.ts'
import { type Condition, findCondition } from '../../../kube/conditions.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { keptClusters } from '../../binding/index.ts'

/** One item per Work that is not being deleted, in the order of clusters; includes clusters that are being left, while they have one. */
export function aggregatedItems(works: readonly Work[]): AggregatedStatusItem[] {
  return works
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(itemOf)
    .sort((a, b) => compareStrings(a.clusterName, b.clusterName))
}

/**
 * As Karmada writes it: false and empty values are omitted, and the reported status counts only while the Work is applied:
 * otherwise it may not be about the wanted object.
 */
function itemOf({ metadata, status }: Work): AggregatedStatusItem {
  const applied = findCondition(status?.conditions, WORK_APPLIED)
  const isApplied = applied?.status === 'True'
  const message = isApplied ? '' : (applied?.message ?? '')
  const [reported] = isApplied ? (status?.manifestStatuses ?? []) : []
  return {
    clusterName: clusterOfExecutionNamespace(metadata.namespace ?? '') ?? '',
    ...(reported?.status === undefined ? {} : { status: reported.status }),
    ...(isApplied ? { applied: true } : {}),
    ...(message === '' ? {} : { appliedMessage: message }),
    health: reported?.health ?? 'Unknown',
  }
}

/** Without the time: the writer knows when it changed. */
export function fullyApplied(spec: BindingSpec, items: readonly AggregatedStatusItem[]): Condition {
  const clusters = keptClusters(spec)
  const isComplete =
    clusters.size > 0 &&
    clusters.size === items.length &&
    items.every(({ clusterName, applied }) => applied === true && clusters.has(clusterName))
  return isComplete
    ? { type: FULLY_APPLIED, status: 'True', reason: BINDING_REASONS.fullyAppliedSuccess, message: FULLY_APPLIED_MESSAGE }
    : { type: FULLY_APPLIED, status: 'False', reason: BINDING_REASONS.fullyAppliedFailed, message: NOT_FULLY_APPLIED_MESSAGE }
}
