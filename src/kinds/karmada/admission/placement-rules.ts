/** Validation of a placement. */
import { child, type FieldError, index, invalid } from '../../../kube/field-error.ts'
import { checkQualifiedName } from '../../../kube/names.ts'
import { invalidEach, unsupported } from '../../kubernetes/rules/pod/errors.ts'
import type { Toleration } from '../kube-schemas.ts'
import type { ClusterAffinityTerm, Placement, ReplicaSchedulingStrategy } from '../placement.ts'
import { clusterAffinityErrors, isEmptyAffinity } from './cluster-affinity-rules.ts'
import { spreadErrors } from './spread-rules.ts'

export function placementErrors(path: string, placement: Placement): FieldError[] {
  const { clusterAffinity, clusterAffinities, clusterTolerations, spreadConstraints, workloadAffinity, replicaScheduling } = placement
  const groups = child(path, 'clusterAffinities')
  return [
    ...(clusterAffinity !== undefined && clusterAffinities !== undefined
      ? [invalid(path, placement, 'clusterAffinities cannot co-exist with clusterAffinity')]
      : []),
    ...(mayOverflow(replicaScheduling) ? [] : noOverflowErrors(groups, clusterAffinities ?? [])),
    ...clusterAffinityErrors(child(path, 'clusterAffinity'), clusterAffinity),
    ...groupErrors(groups, clusterAffinities ?? []),
    ...spreadErrors(child(path, 'spreadConstraints'), spreadConstraints ?? []),
    ...workloadAffinityErrors(child(path, 'workloadAffinity'), workloadAffinity),
    ...tolerationErrors(child(path, 'clusterTolerations'), clusterTolerations ?? []),
  ]
}

/** A group can be full only where replicas are divided by free capacity. */
function mayOverflow(strategy: ReplicaSchedulingStrategy | undefined): boolean {
  if (strategy?.replicaSchedulingType !== 'Divided') return false
  const { replicaDivisionPreference, weightPreference } = strategy
  if (replicaDivisionPreference === 'Aggregated') return true
  return replicaDivisionPreference === 'Weighted' && weightPreference?.dynamicWeight !== undefined
}

const noOverflowErrors = (path: string, groups: readonly ClusterAffinityTerm[]): FieldError[] =>
  groups.flatMap(({ overflowAffinities }, i) =>
    overflowAffinities === undefined
      ? []
      : [
          invalid(
            child(index(path, i), 'overflowAffinities'),
            overflowAffinities,
            'overflowAffinities can only be used together with dynamic weight or aggregated scheduling',
          ),
        ],
  )

function groupErrors(path: string, groups: readonly ClusterAffinityTerm[]): FieldError[] {
  const seen = new Set<string>()
  return groups.flatMap((group, i) => {
    const at = index(path, i)
    const { affinityName } = group
    const isTaken = seen.has(affinityName)
    seen.add(affinityName)
    return [
      ...invalidEach(at, affinityName, checkQualifiedName(affinityName)),
      ...(isTaken ? [invalid(path, groups, 'each affinity term in a policy must have a unique name')] : []),
      ...clusterAffinityErrors(at, group),
      ...overflowErrors(child(at, 'overflowAffinities'), group),
    ]
  })
}

function overflowErrors(path: string, group: ClusterAffinityTerm): FieldError[] {
  const { affinityName: primary, overflowAffinities } = group
  if (overflowAffinities === undefined) return []
  const errors = isEmptyAffinity(group)
    ? [invalid(path, overflowAffinities, 'overflowAffinities can only be used together with the inline ClusterAffinity')]
    : []
  const seen = new Set([primary])
  for (const [i, overflow] of overflowAffinities.entries()) {
    const at = child(index(path, i), 'affinityName')
    errors.push(...invalidEach(at, overflow.affinityName, checkQualifiedName(overflow.affinityName)))
    if (seen.has(overflow.affinityName))
      errors.push(
        invalid(at, overflow.affinityName, "overflow affinity name must be unique and must not duplicate the primary group's affinityName"),
      )
    seen.add(overflow.affinityName)
    errors.push(...clusterAffinityErrors(index(path, i), overflow))
  }
  return errors
}

function workloadAffinityErrors(path: string, rule: Placement['workloadAffinity']): FieldError[] {
  const affinity = rule?.affinity?.groupByLabelKey
  const antiAffinity = rule?.antiAffinity?.groupByLabelKey
  return [
    ...keyErrors(child(path, 'affinity', 'groupByLabelKey'), affinity),
    ...keyErrors(child(path, 'antiAffinity', 'groupByLabelKey'), antiAffinity),
    ...(affinity !== undefined && affinity === antiAffinity
      ? [invalid(path, rule, 'affinity and antiAffinity must not use the same groupByLabelKey')]
      : []),
  ]
}

const keyErrors = (path: string, key: string | undefined): FieldError[] =>
  key === undefined ? [] : invalidEach(path, key, checkQualifiedName(key))

/** Comparison operators are for node taints: their meaning for clusters is not defined. */
const tolerationErrors = (path: string, tolerations: readonly Toleration[]): FieldError[] =>
  tolerations.flatMap(({ operator }, i) =>
    operator === 'Lt' || operator === 'Gt' ? [unsupported(child(index(path, i), 'operator'), operator, ['', 'Exists', 'Equal'])] : [],
  )
