/**
 * What is asked of a data operation beyond its own spec: that its spellings agree, that it runs after no operation that waits for
 * it, that a dataset which refers to another is not loaded, filled or saved, and which directories of the node it names.
 */
import { type FieldError, forbidden, invalid, omittedValue } from '../../../kube/field-error.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { AdmissionReader } from '../../admission.ts'
import { cycleOf, cycleProblem } from '../flow-cycle.ts'
import type { DataBackup, DataMigrate, Dataset } from '../index.ts'
import { parseMountPoint } from '../mount-point.ts'
import { type Operation, operationResource, predecessorOf, targetOf } from '../operation.ts'
import { operationProblems } from '../operation-problems.ts'
import { referenceProblemOf } from '../operation-target.ts'
import { DATASETS } from '../resources.ts'
import { disagreements } from '../spellings.ts'
import { type HostPathPrefixes, hostPathErrors } from './host-paths.ts'

export const specErrors = (operation: Operation, prefixes: HostPathPrefixes): FieldError[] => [
  ...disagreements(operation).map(({ field, detail }) => invalid(field, omittedValue, detail)),
  ...operationProblems(operation).map(({ field, reason, message }) => invalid(field, omittedValue, `${message} (${reason})`)),
  ...directoryErrors(operation, prefixes),
]

function directoryErrors(operation: Operation, prefixes: HostPathPrefixes): FieldError[] {
  const addresses: [string, string | undefined][] =
    operation.kind === 'DataMigrate'
      ? (['from', 'to'] as const).map((end) => [
          `spec.${end}.externalStorage.uri`,
          (operation as DataMigrate).spec?.[end]?.externalStorage?.uri,
        ])
      : operation.kind === 'DataBackup'
        ? [['spec.backupPath', (operation as DataBackup).spec?.backupPath]]
        : []
  return addresses.flatMap(([field, address = '']) => {
    const { value } = parseMountPoint(address)
    return value?.kind === 'local' ? hostPathErrors(field, value.path, prefixes) : []
  })
}

/** Only a change of what it runs after can close a circle. */
export function cycleErrors(operation: KubeObject, old: KubeObject | undefined, read: AdmissionReader): FieldError[] {
  if (old !== undefined && sameName(operation, old)) return []
  // Nothing is said about what other namespaces have.
  const own = operation.metadata.namespace ?? ''
  const cycle = cycleOf(operation, ({ kind, namespace, name }) => {
    const { group, plural } = operationResource(kind)
    return namespace === own ? read.get({ group, resource: plural }, namespace, name) : undefined
  })
  return cycle === undefined ? [] : [forbidden('spec.runAfter', cycleProblem(cycle))]
}

const sameName = (one: KubeObject, other: KubeObject): boolean => {
  const [a, b] = [predecessorOf(one), predecessorOf(other)]
  return a?.kind === b?.kind && a?.namespace === b?.namespace && a?.name === b?.name
}

/** Of what it brings in: a dataset may have become a reference after the operation came. */
export function targetErrors(operation: Operation, old: KubeObject | undefined, read: AdmissionReader): FieldError[] {
  const [target, before] = [targetOf(operation), old === undefined ? undefined : targetOf(old)]
  if (target === undefined || (target.name === before?.name && target.namespace === before.namespace)) return []
  if (target.namespace !== operation.metadata.namespace) return []
  const dataset = read.get({ group: DATASETS.group, resource: DATASETS.plural }, target.namespace, target.name)
  const problem = dataset === undefined ? undefined : referenceProblemOf(operation.kind, dataset as Dataset)
  return problem === undefined ? [] : [forbidden(target.field, problem)]
}
