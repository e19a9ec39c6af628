/** Validation of a DataSource. The definition may be somebody else's, so nothing is left to the schema but the types. */
import { child, type FieldError, index, notSupported, required } from '../../../kube/field-error.ts'
import { clusterAffinityErrors, isEmptyAffinity } from '../../karmada/admission/cluster-affinity-rules.ts'
import type { ClusterAffinity } from '../../karmada/index.ts'
import type { DataSourceLocality, DataSourceSpec } from '../data-source.ts'
import { LONGEST_NAME, LONGEST_WORD, MOST_CLUSTERS } from '../limits.ts'
import { selectorErrors } from './selector-rules.ts'
import { attributeErrors, countErrors, isBlank, lengthErrors, textErrors } from './text-rules.ts'

const RECLAIM_POLICIES = ['Retain', 'Delete']

export function dataSourceErrors(spec: Partial<DataSourceSpec> | undefined): FieldError[] {
  if (spec === undefined) return [required('spec', 'say what the data is and where: system, type, name and locality')]
  const { system, type, name, locality, attributes, reclaimPolicy = '' } = spec
  return [
    ...textErrors('spec.system', system, { most: LONGEST_WORD, advice: 'name the data system, for example hive or s3' }),
    ...textErrors('spec.type', type, { most: LONGEST_WORD, advice: 'name the category of the data, for example table or bucket' }),
    ...textErrors('spec.name', name, { most: LONGEST_NAME, advice: 'name the data as its system calls it, for example sales.daily' }),
    ...localityErrors('spec.locality', locality ?? {}),
    ...attributeErrors('spec.attributes', attributes),
    ...(reclaimPolicy === '' || RECLAIM_POLICIES.includes(reclaimPolicy)
      ? []
      : [notSupported('spec.reclaimPolicy', reclaimPolicy, RECLAIM_POLICIES)]),
  ]
}

function localityErrors(path: string, { clusterNames = [], clusterAffinity }: DataSourceLocality): FieldError[] {
  if (clusterNames.length === 0 && clusterAffinity === undefined)
    return [required(path, 'say which clusters hold the data: list them in clusterNames, or select them with clusterAffinity')]
  return [
    ...clusterNameErrors(child(path, 'clusterNames'), clusterNames),
    ...(clusterAffinity === undefined ? [] : affinityErrors(child(path, 'clusterAffinity'), clusterAffinity)),
  ]
}

function affinityErrors(path: string, affinity: ClusterAffinity): FieldError[] {
  const { labelSelector, fieldSelector, clusterNames = [], exclude = [] } = affinity
  const fields = clusterAffinityErrors(path, affinity)
  return [
    ...selectorErrors(child(path, 'labelSelector'), labelSelector),
    ...(fields.length > 0 ? fields : selectorErrors(child(path, 'fieldSelector'), fieldSelector)),
    ...clusterNameErrors(child(path, 'clusterNames'), clusterNames),
    ...clusterNameErrors(child(path, 'exclude'), exclude),
  ]
}

function clusterNameErrors(path: string, names: readonly string[]): FieldError[] {
  const tooMany = countErrors(path, names.length, MOST_CLUSTERS)
  if (tooMany.length > 0) return tooMany
  return names.flatMap((name, i) =>
    isBlank(name) ? [required(index(path, i), 'name a cluster, or remove the entry')] : lengthErrors(index(path, i), name, LONGEST_WORD),
  )
}

/** Legal, but more than most people mean. */
export const meansEveryCluster = ({ clusterNames = [], clusterAffinity }: DataSourceLocality): boolean =>
  clusterNames.length === 0 && clusterAffinity !== undefined && isEmptyAffinity(clusterAffinity)
