/**
 * What is said about a scale-in. Pods of the runtime's own namespace are named; of others only their namespace and number are,
 * because whoever may read the runtime need not be allowed to see them. All lists are bounded. Pure.
 */
import type { Choice, Worker } from './choose.ts'
import type { HandoverEnd } from './decide.ts'
import type { Leaving } from './handover.ts'
import type { DatasetReader } from './readers.ts'

/** The condition of a runtime whose workers are to leave and cannot. There only while it is so. */
export const SCALE_IN_HELD = 'ScaleInHeld'

/** Why they cannot. */
export interface Held {
  reason: 'ReadersBesideWorkers' | 'AwaitsMaster'
  message: string
}

const MOST_NODES = 4
const MOST_PODS = 3

export function heldMessage({ surplus, held }: { surplus: number; held: readonly Worker[] }, namespace: string): string {
  const nodes = held
    .slice(0, MOST_NODES)
    .map(({ pod, node, readers }) => `${pod} on node ${node ?? ''} (${readersText(readers, namespace)})`)
  const more = held.length > MOST_NODES ? `, and ${held.length - MOST_NODES} more` : ''
  const who = surplus === 1 ? '1 worker that is to leave stays' : `${surplus} workers that are to leave stay`
  return `${who}, because pods read beside every worker: ${nodes.join(', ')}${more}. It goes on by itself when the pods of a node have ended`
}

/** The mark stays until then: it is what remembers that the worker was led out. */
export const awaitsMasterMessage = ({ pod }: Pick<Leaving, 'pod'>): string =>
  `worker ${pod} stays after all, and serves again as soon as the master runs and can be told so: until then no other worker leaves`

/** `pod reader`, `pods a, b and 2 more`, `2 pods of namespace other`. */
function readersText(readers: readonly DatasetReader[], namespace: string): string {
  const own = readers.filter((reader) => reader.namespace === namespace).map(({ pod }) => pod)
  const shown = own.slice(0, MOST_PODS).join(', ')
  const named =
    own.length === 0
      ? []
      : [`${own.length === 1 ? 'pod' : 'pods'} ${shown}${own.length > MOST_PODS ? ` and ${own.length - MOST_PODS} more` : ''}`]
  const others = new Map<string, number>()
  for (const reader of readers) if (reader.namespace !== namespace) others.set(reader.namespace, (others.get(reader.namespace) ?? 0) + 1)
  const counted = [...others].slice(0, MOST_PODS).map(([of, count]) => `${count} ${count === 1 ? 'pod' : 'pods'} of namespace ${of}`)
  const rest = others.size > MOST_PODS ? [`pods of ${others.size - MOST_PODS} more namespaces`] : []
  return [...named, ...counted, ...rest].join('; ')
}

const WHY: Readonly<Record<Choice['because'], string>> = {
  'not-placed': 'it has no node yet',
  leaving: 'it was led out',
  least: 'it holds the least',
  only: 'it is the only one that may leave',
  highest:
    'the cache does not say what each worker holds, so it is the one with the highest ordinal of those that may leave and have the fewest readers',
}

/** Why this one goes, and what becomes of what it holds. */
export function leavesMessage({ worker: { pod, node }, because, cachedBytes }: Choice, end: HandoverEnd | undefined): string {
  const where = node === undefined ? '' : ` on node ${node}`
  const holds = because === 'least' && cachedBytes !== undefined ? `: ${cachedBytes} bytes` : ''
  return `Worker ${pod}${where} leaves: ${WHY[because]}${holds}${end === undefined ? '' : `; ${endText(end)}`}`
}

function endText({ amounts, problem }: HandoverEnd): string {
  const figures =
    amounts === undefined
      ? 'what it handed over is not known'
      : `${amounts.moved} bytes were handed over, ${amounts.dropped} found no room, ${amounts.left} were left`
  return problem === undefined ? figures : `${figures} (${problem})`
}
