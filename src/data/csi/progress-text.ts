/** What a pod says while it waits for its files. Pure. */
import type { VolumeState } from '../../kube/materialised-volume.ts'
import type { Place } from './place.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `undefined`: there is no state; `unreadable`: there is one that is none. */
export type Seen = VolumeState | 'unreadable' | undefined

export function waitingText(seen: Seen, place: Pick<Place, 'client' | 'namespace' | 'isForeign'>): string {
  const pod = `pod ${place.client}-… in namespace ${place.namespace}`
  if (seen === undefined) return `waiting for the client of the node (${pod})`
  if (seen === 'unreadable') return `waiting for the client of the node (${pod}): what it said last cannot be read`
  // Sources and their troubles concern the namespace of the dataset.
  const message = place.isForeign ? undefined : seen.message
  if (seen.state === 'waiting') return message ?? `the client of the node has begun (${pod})`
  if (seen.state === 'ready') return `waiting for the client of the node (${pod}): its files are being replaced`
  const { doneBytes, totalBytes, doneFiles, totalFiles } = seen
  const text = `${bytesOf(doneBytes, totalBytes)}, ${doneFiles} of ${totalFiles} files`
  return message === undefined ? text : `${text}; ${message}`
}

export const stuckText = (text: string, { client, namespace }: Pick<Place, 'client' | 'namespace'>): string =>
  `${text}; unchanged for a while: see pod ${client}-… in namespace ${namespace}`

/** Why no file will come, and what the pod's owner can do; the dataset's own sentence says what its owner can. */
export const simulatedText = (
  { namespace, name, node, isForeign }: Pick<Place, 'namespace' | 'name' | 'isForeign'> & { node: string },
  because: string,
): string =>
  `no file of dataset ${namespace}/${name} comes to node ${node}, because the dataset is simulated${isForeign ? '' : `: ${because}`}. A pod with the annotation sluice.dev/run: simulated starts without files`

/** `1.2 of 2.0 GiB`, in the unit of the whole. */
export function bytesOf(done: number, total: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, total)) / 10))
  const shown = (bytes: number): string => (power === 0 ? String(bytes) : (bytes / 1024 ** power).toFixed(1))
  return `${shown(Math.min(done, total))} of ${shown(total)} ${UNITS[power]}`
}
