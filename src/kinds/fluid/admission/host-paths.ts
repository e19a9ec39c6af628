/**
 * Directories of nodes that fields of tenants name. Who can name any directory of a node can read and write everything there, so
 * an administrator lists the directories below which they may be.
 */
import { type FieldError, forbidden } from '../../../kube/field-error.ts'
import { quoted } from '../../volcano/annotations.ts'
import { isBelow } from '../paths.ts'

/** Absolute directories; an empty list allows none. */
export type HostPathPrefixes = readonly string[] | 'all'

const SHOWN = 3

export function hostPathErrors(field: string, path: string, prefixes: HostPathPrefixes): FieldError[] {
  if (prefixes === 'all' || prefixes.some((prefix) => isBelow(path, prefix))) return []
  const more = prefixes.length > SHOWN ? `, and ${prefixes.length - SHOWN} more` : ''
  const allowed =
    prefixes.length === 0 ? 'allows none here' : `allows only those below ${prefixes.slice(0, SHOWN).map(quoted).join(', ')}${more}`
  return [
    forbidden(
      field,
      `${quoted(path)} is a directory of the node, and the administrator ${allowed}: use a claim or an emptyDir instead, or ask for it to be listed`,
    ),
  ]
}
