/**
 * What a source says about itself: what it stands for, which namespace made it, in which run. Whatever an annotation
 * contains, and whatever a definition of somebody else lets in, is read without failing.
 */
import { type DataName, dataKey } from '../../kinds/volcano/annotations.ts'
import type { DataSource } from '../../kinds/volcano/index.ts'
import { PRODUCER_NAMESPACE, PROVISIONED_BY, SOURCE_RUN } from '../../kinds/volcano/well-known.ts'
import { fieldAt, fieldsAt, textAt } from '../../kube/fields.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { parseRun, type Run } from './run.ts'

const BY_WORKLOAD = 'output/'

/** `output/jobs.batch/daily`: which workload made it. */
export const provisionedBy = ({ metadata }: KubeObject, { plural, group }: Resource): string =>
  `${BY_WORKLOAD}${plural}${group === '' ? '' : `.${group}`}/${metadata.name ?? ''}`

export const dataNameOf = (source: DataSource): DataName => ({
  system: textAt(source, 'spec', 'system') ?? '',
  type: textAt(source, 'spec', 'type') ?? '',
  name: textAt(source, 'spec', 'name') ?? '',
})

/** For an index: sources without attributes, by what they stand for. Workloads make no others. */
export const plainDataKeys = (source: DataSource): readonly string[] =>
  Object.keys(fieldsAt(source, 'spec', 'attributes')).length === 0 ? [dataKey(dataNameOf(source))] : []

/** The namespace whose workload made it; undefined for a source that no workload made. */
export function makerOf({ metadata }: DataSource): string | undefined {
  const { [PROVISIONED_BY]: by, [PRODUCER_NAMESPACE]: namespace } = metadata.annotations ?? {}
  return by?.startsWith(BY_WORKLOAD) === true && namespace !== '' ? namespace : undefined
}

/** The latest run that made it; undefined when there is none, or it cannot be read. */
export const recordedRun = ({ metadata }: DataSource): Run | undefined => parseRun(metadata.annotations?.[SOURCE_RUN])

export function clusterNamesOf(source: DataSource): readonly string[] {
  const names = fieldAt(source, 'spec', 'locality', 'clusterNames')
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

export const isGoing = ({ metadata }: DataSource): boolean => metadata.deletionTimestamp !== undefined
