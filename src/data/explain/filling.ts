/** What to do about a pod that waits for the files of a dataset, by what the driver and the client of its node say. Pure. */
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { barIn } from '../bar.ts'
import type { Commands } from './commands.ts'

/** The volume as the pod calls it. */
const VOLUME = /waiting for volume "([^"]{1,63})": (.*)$/s

interface Waits {
  /** Of the pod. */
  node: string
  /** Shows the whole dataset. */
  why: string
}

/** The first that fits. */
const FIXES: readonly (readonly [RegExp, (waits: Waits) => string])[] = [
  [
    /option nodeQuota leaves/,
    ({ node }) => `raise nodeQuota in client.options of the runtime, or delete pods of node ${node} that hold other files of the dataset`,
  ],
  [/node's disk/, ({ node }) => `make room on the disk of node ${node}: it goes on by itself`],
  [/unchanged for a while/, ({ node, why }) => `see why no more files come to node ${node}: ${why}`],
  [/waiting for the client of the node/, ({ node, why }) => `wait a moment; if no client comes to node ${node}, see why: ${why}`],
  [/being listed/, ({ why }) => `wait until the sources are listed: ${why}`],
]

/** Undefined: it waits for something else. */
export function fillingFix(says: string, pod: Pod, commands: Commands): string | undefined {
  const [, volume, text = ''] = VOLUME.exec(says) ?? []
  const claim = pod.spec?.volumes?.find(({ name }) => name === volume)?.persistentVolumeClaim?.claimName
  if (claim === undefined) return undefined
  const waits = { node: pod.spec?.nodeName ?? '', why: commands.here(`sluice why dataset/${claim}`) }
  const found = FIXES.find(([pattern]) => pattern.test(text))
  if (found !== undefined) return found[1](waits)
  return barIn(text) === undefined
    ? `see what the Dataset waits for: ${waits.why}`
    : `wait: its files are on their way to node ${waits.node}, and it starts when they are complete`
}
