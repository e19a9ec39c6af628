/** What the steps ask the cache and its readers themselves: how much was read from the source, what a worker handed over, what a pod says. */
import { type Clock, sleep } from '../../base/clock.ts'
import { isJsonObject } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import { execInPod } from '../../client/exec-in-pod.ts'
import { readAll } from '../../client/transport.ts'
import { sizeText } from '../../kinds/fluid/sizes.ts'
import { EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { Event, Pod } from '../../kinds/kubernetes/types.ts'
import { DATASET, FILM_BYTES, NAMESPACE } from './manifests.ts'

/** Bytes since the workers started, in all that serve. */
export interface Figures {
  served: number
  source: number
}

export interface Asking {
  client: Client
  clock: Clock
  signal: AbortSignal
}

const ASK_MS = 15_000
const MOST_BYTES = 65_536

export async function figuresOf({ client, clock, signal }: Asking): Promise<Figures> {
  const of = { namespace: NAMESPACE, pod: `${DATASET}-master-0`, command: ['sluice', 'cache', 'report-summary'] }
  const { stdout } = await execInPod(client, of, { clock, signal, timeoutMs: ASK_MS, maxBytes: MOST_BYTES })
  return figuresIn(stdout)
}

export function figuresIn(report: string): Figures {
  const { workers } = JSON.parse(report) as { workers?: unknown }
  const serving = (Array.isArray(workers) ? workers : []).filter(isJsonObject).filter(({ state }) => state === 'serving')
  const sum = (name: string): number => serving.reduce((all, worker) => all + Number(worker[name] ?? 0), 0)
  return { served: sum('servedBytes'), source: sum('sourceBytes') }
}

/** Workers tell the master every two seconds what they count. */
const LOOK_MS = 250
const MOST_LOOKS = 20

/** What a pod that has read the dataset cost its source: once its reading shows, or must have been told. */
export async function fetchedSince(asking: Asking, before: Figures): Promise<string> {
  let now = await figuresOf(asking)
  for (let looks = 0; looks < MOST_LOOKS && now.served - before.served < FILM_BYTES; looks++) {
    await sleep(asking.clock, LOOK_MS, asking.signal)
    now = await figuresOf(asking)
  }
  const fetched = now.source - before.source
  return `of these bytes ${fetched === 0 ? 'none was' : `${sizeText(fetched)} were`} fetched from the source: they come from the cache that is there`
}

/** What is said of the worker that left last. */
export async function leavingOf(client: Client): Promise<string | undefined> {
  const { items } = await client.list(EVENTS, { namespace: NAMESPACE })
  const said = (items as Event[]).filter(({ reason, involvedObject }) => reason === 'WorkerLeaves' && involvedObject?.name === DATASET)
  return said.at(-1)?.message
}

export async function logOf(client: Client, pod: Pod | undefined): Promise<string> {
  const { namespace = NAMESPACE, name = '' } = pod?.metadata ?? {}
  return (await readAll(await client.log({ namespace, name }))).toString('utf8').trim()
}
