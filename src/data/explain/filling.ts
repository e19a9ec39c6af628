/** What to do about a pod that waits for the files of a dataset, by what the driver and the client of its node say. Pure. */
import { FORBIDDEN, type Got } from '../../client/read-as-caller.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { barIn } from '../bar.ts'
import type { Commands } from './commands.ts'

/** The volume as the pod calls it. */
const VOLUME = /waiting for volume "([^"]{1,63})": (.*)$/s

interface Waits {
  /** Of the pod. */
  node: string
  /** Opens the runtime, where its kind is known. */
  edit: string
  /** Shows the whole dataset. */
  why: string
}

interface Filling {
  pod: Pod
  volumes: readonly { name: string; dataset: Got<Dataset> }[]
  commands: Commands
}

/** The runtime of a dataset that refers to another is in the namespace of that one. */
function editOf({ metadata, status }: Dataset, commands: Commands): string {
  const { type, name = metadata.name, namespace = metadata.namespace } = status?.runtimes?.[0] ?? {}
  return type === undefined ? '' : ` (${commands.inCluster(`kubectl edit ${type}runtime/${name} -n ${namespace}`)})`
}

/** The first that fits. */
const FIXES: readonly (readonly [RegExp, (waits: Waits) => string])[] = [
  [
    /option nodeQuota leaves/,
    ({ node, edit }) =>
      `raise nodeQuota in client.options of the runtime${edit}, or delete pods of node ${node} that hold other files of the dataset`,
  ],
  [/node's disk/, ({ node }) => `make room on the disk of node ${node}: it goes on by itself`],
  [/unchanged for a while/, ({ node, why }) => `see why no more files come to node ${node}: ${why}`],
  [/waiting for the client of the node/, ({ node, why }) => `wait a moment; if no client comes to node ${node}, see why: ${why}`],
  [/being listed/, ({ why }) => `wait until the sources are listed: ${why}`],
]

/** Undefined: it waits for something else. */
export function fillingFix(says: string, { pod, volumes, commands }: Filling): string | undefined {
  const [, volume, text = ''] = VOLUME.exec(says) ?? []
  const claim = pod.spec?.volumes?.find(({ name }) => name === volume)?.persistentVolumeClaim?.claimName
  if (claim === undefined) return undefined
  const dataset = volumes.find(({ name }) => name === claim)?.dataset
  const waits = {
    node: pod.spec?.nodeName ?? '',
    why: commands.here(`sluice why dataset/${claim}`),
    edit: dataset === undefined || dataset === FORBIDDEN ? '' : editOf(dataset, commands),
  }
  const found = FIXES.find(([pattern]) => pattern.test(text))
  if (found !== undefined) return found[1](waits)
  return barIn(text) === undefined
    ? `see what the Dataset waits for: ${waits.why}`
    : `wait: its files are on their way to node ${waits.node}, and it starts when they are complete`
}
