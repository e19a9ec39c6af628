/**
 * What the operations of a dataset mean for its status: who holds it, computed whole, so that nothing has to be taken back. Pure.
 * `data.dataset` is the only writer of a Dataset, and is to call this.
 */
import { nameOfOperation, type Operation } from '../../kinds/fluid/operation.ts'
import { statusOf } from './spec.ts'

/** By kind, the names of those at work, sorted and separated by commas; undefined: none. */
export function operationRefOf(operations: readonly Operation[]): Record<string, string> | undefined {
  const working = operations.filter((operation) => statusOf(operation).phase === 'Executing').map(nameOfOperation)
  const kinds = [...new Set(working.map(({ kind }) => kind))].sort()
  if (kinds.length === 0) return undefined
  return Object.fromEntries(
    kinds.map((kind) => [
      kind,
      working
        .filter((one) => one.kind === kind)
        .map(({ name }) => name)
        .sort()
        .join(),
    ]),
  )
}

/** Files may come and go while it is so. */
export const isMigrating = (operations: readonly Operation[]): boolean => operationRefOf(operations)?.DataMigrate !== undefined
