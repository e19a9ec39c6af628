/** Fields that someone else owns, and the error that names them. */

import { compareStrings, goQuote } from '../go-print.ts'
import { failure, type StatusError } from '../status.ts'
import { printPath } from './element.ts'
import type { ManagerInfo } from './managed.ts'

export interface Conflict {
  /** The identifier of the entry: what conflicts are grouped and ordered by. */
  readonly id: string
  readonly owner: ManagerInfo
  readonly path: readonly string[]
}

/** Applying would change fields of others. Becomes a 409 unless client-side apply explains it. */
export class ConflictsError extends Error {
  readonly conflicts: readonly Conflict[]
  constructor(conflicts: readonly Conflict[]) {
    super(conflictMessage(conflicts))
    this.name = 'ConflictsError'
    this.conflicts = conflicts
  }
}

export function conflictStatus({ conflicts }: ConflictsError): StatusError {
  return failure(409, 'Conflict', conflictMessage(conflicts), {
    causes: conflicts.map(({ owner, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${printManager(owner)}`,
      field: printPath(path),
    })),
  })
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${printManager(first.owner)}: ${printPath(first.path)}`
  }
  const byOwner = new Map<string, Conflict[]>()
  for (const conflict of conflicts) byOwner.set(conflict.id, [...(byOwner.get(conflict.id) ?? []), conflict])
  const lines: string[] = []
  for (const [, same] of [...byOwner].sort(([a], [b]) => compareStrings(a, b))) {
    const owner = same[0]?.owner
    if (owner !== undefined) lines.push(`conflicts with ${printManager(owner)}:`)
    for (const { path } of same) lines.push(`- ${printPath(path)}`)
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function printManager({ manager, operation, apiVersion, subresource }: ManagerInfo): string {
  let text = goQuote(manager)
  if (subresource !== '') text += ` with subresource ${goQuote(subresource)}`
  return operation === 'Update' ? `${text} using ${apiVersion}` : text
}
