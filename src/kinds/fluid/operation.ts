/**
 * What all four kinds of data operations have in common, read in one way: their dataset, what they run after, whether they wait.
 * They read the names that Fluid built; admission has written them beside the others. Pure.
 */
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { type DataBackup, type DataLoad, type DataMigrate, type DataProcess, operationKinds } from './index.ts'
import type { OperationKind, OperationStatus, RunAfter } from './operation-parts.ts'

export type Operation = DataLoad | DataMigrate | DataBackup | DataProcess

export const OPERATIONS: readonly Resource<Operation>[] = operationKinds.map(({ resource }) => resource as Resource<Operation>)

export const operationResource = (kind: OperationKind): Resource<Operation> => {
  const found = OPERATIONS.find((resource) => resource.kind === kind)
  if (found === undefined) throw new Error(`${kind} is no data operation`)
  return found
}

/** Names an operation, in whatever namespace. */
export interface OperationName {
  kind: OperationKind
  namespace: string
  name: string
}

export const nameOfOperation = ({ kind, metadata: { namespace = '', name = '' } }: KubeObject): OperationName => ({
  kind: kind as OperationKind,
  namespace,
  name,
})

/** The form in which messages name one: `DataLoad default/warm`. */
export const operationText = ({ kind, namespace, name }: OperationName): string => `${kind} ${namespace}/${name}`

const statusOf = ({ status }: KubeObject): Partial<OperationStatus> => (status ?? {}) as Partial<OperationStatus>

/** An object that no defaults and no schema have seen yet is read as well. */
export const runAfterOf = ({ spec }: KubeObject): Partial<RunAfter> | undefined =>
  (spec as { runAfter?: Partial<RunAfter> } | undefined)?.runAfter

/** What an operation runs after; undefined: nothing. */
export function predecessorOf(operation: KubeObject): OperationName | undefined {
  const { kind, operationKind, name, namespace } = runAfterOf(operation) ?? {}
  const of = kind ?? operationKind
  if (of === undefined || name === undefined) return undefined
  return { kind: of, name, namespace: orOwn(namespace, operation) }
}

/** Absent counts as false: only who was told to wait waits. */
export const isWaiting = (operation: KubeObject): boolean => {
  const { waitingFor, waitFor } = statusOf(operation)
  return (waitingFor?.operationComplete ?? waitFor?.operationComplete) === true
}

/** The field of the spec that names the dataset, and the dataset: that which counts as worked on. */
export interface Target {
  field: string
  namespace: string
  name: string
}

/** Undefined: the spec names none. */
export function targetOf(operation: KubeObject): Target | undefined {
  const spec = (operation.spec ?? {}) as Record<string, unknown>
  const own = { namespace: operation.metadata.namespace ?? '' }
  if (operation.kind === 'DataBackup')
    return typeof spec.dataset === 'string' && spec.dataset !== '' ? { field: 'spec.dataset', ...own, name: spec.dataset } : undefined
  const ends = operation.kind === 'DataMigrate' ? (['to', 'from'] as const).map((end) => [`spec.${end}.dataset`, spec[end]] as const) : []
  const named =
    operation.kind === 'DataMigrate'
      ? ends.map(([field, end]) => ({ field, of: datasetIn(end) }))
      : [{ field: 'spec.dataset', of: datasetIn(spec) }]
  for (const { field, of } of named) if (of !== undefined) return { field, name: of.name, namespace: orOwn(of.namespace, operation) }
  return undefined
}

interface NamedDataset {
  name: string
  namespace?: string
}

function datasetIn(holder: unknown): NamedDataset | undefined {
  const of = (holder as { dataset?: Partial<NamedDataset> } | undefined)?.dataset
  return of?.name === undefined || of.name === '' ? undefined : { name: of.name, namespace: of.namespace }
}

const orOwn = (namespace: string | undefined, { metadata }: KubeObject): string =>
  namespace === undefined || namespace === '' ? (metadata.namespace ?? '') : namespace
