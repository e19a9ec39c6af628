/**
 * Where everything of a client lies, below one directory of the runtime: what it shares with the CSI driver, and records/ and
 * partial/, which are its own. Pure.
 */
import path from 'node:path'
import { type VolumePlaces, volumePlaces } from '../../kube/materialised-volume.ts'

export interface Layout extends VolumePlaces {
  partial: string
  /** The directory of a generation is not this program's own: it stays open to others. */
  hasForeignRoot?: true
  records(id: string): string
  record(id: string, number: number): string
}

export function layoutOf(root: string): Layout {
  const at = (...parts: string[]) => path.join(root, ...parts)
  return {
    ...volumePlaces(path.normalize(root)),
    partial: at('partial'),
    records: (id) => at('records', id),
    record: (id, number) => at('records', id, `${number}.ndjson`),
  }
}
