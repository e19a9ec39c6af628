/** How a pod is, in a few words, and what to do when it waits. Pure. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { ContainerStatus, Pod } from '../../kinds/kubernetes/types.ts'
import { findCondition } from '../../kube/conditions.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { barIn } from '../bar.ts'

interface Waiting {
  says: string
  /** The scheduler finds no node, in its own words. */
  unschedulable?: string
  /** Nothing has gone wrong so far. */
  isStarting?: true
}

/** Lines of an explanation that name one pod each, and the length of a text that others wrote. */
export const MOST_SHOWN = 5
const LONGEST_TEXT = 500

export const short = (text: string): string => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text)

/** Why a dataset has no bytes, though it is bound. */
export const simulationIn = ({ status }: Dataset): string | undefined => {
  const said = findCondition(status?.conditions, 'Simulated')
  return said?.status === 'True' ? (said.message ?? 'its pods run nothing') : undefined
}

/** Said by the node or by admission: nothing runs in such a pod. */
export const simulatedBecause = ({ metadata }: Pod): string | undefined => metadata.annotations?.['sluice.dev/simulated-because']

/** What it waits for; undefined: it is ready, or has done its work. */
export function waitingOf(pod: Pod): Waiting | undefined {
  const { metadata, status = {} } = pod
  if (metadata.deletionTimestamp !== undefined) return { says: 'is being deleted' }
  if (status.phase === 'Succeeded') return undefined
  if (status.phase === 'Failed') return { says: worded('has failed', status.reason, status.message) }
  const condition = (type: string) => status.conditions?.find((one) => one.type === type)
  const scheduled = condition('PodScheduled')
  if (pod.spec?.nodeName === undefined && scheduled?.status === 'False')
    return { says: worded('waits for a node', scheduled.message), unschedulable: scheduled.message ?? '' }
  if (pod.spec?.nodeName === undefined) return { says: 'waits for the scheduler', isStarting: true }
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  // A container that says why comes before those that wait for it.
  const stuck = all.filter(({ state }) => state?.waiting !== undefined).sort((a, b) => clarity(b) - clarity(a))[0]?.state?.waiting
  if (stuck !== undefined) {
    const says = worded(`waits on ${pod.spec.nodeName}`, stuck.reason, stuck.message)
    return STARTING.includes(stuck.reason ?? '') && stuck.message === undefined ? { says, isStarting: true } : { says }
  }
  const ready = condition('Ready')
  if (ready?.status === 'True') return undefined
  return { says: worded(status.phase === 'Running' ? 'runs, and is not ready' : 'is starting', ready?.message), isStarting: true }
}

const STARTING = ['ContainerCreating', 'PodInitializing']

const clarity = ({ state }: ContainerStatus): number =>
  (state?.waiting?.message === undefined ? 0 : 1) + (STARTING.includes(state?.waiting?.reason ?? '') ? 0 : 2)

const worded = (...parts: (string | undefined)[]): string => short(parts.filter((part) => part !== undefined && part !== '').join(': '))

const nameOf = ({ metadata }: Pod): string => metadata.name ?? ''

/** Those that wait, where the first of them is named already: a bar for each that fills, and a line for each of several. */
export function podLines(pods: readonly Pod[]): string[] {
  const waiting = [...pods]
    .sort((a, b) => compareStrings(nameOf(a), nameOf(b)))
    .flatMap((pod) => {
      const says = waitingOf(pod)?.says
      return says === undefined ? [] : [{ name: nameOf(pod), says, bar: barIn(says) }]
    })
  const lines = waiting.slice(0, MOST_SHOWN).flatMap(({ name, says, bar }) => {
    const filled = bar === undefined ? [] : [`${bar} ${name}`]
    return waiting.length === 1 ? filled : [`${name} ${says}`, ...filled]
  })
  return waiting.length > MOST_SHOWN ? [...lines, `and ${waiting.length - MOST_SHOWN} more that wait`] : lines
}

/** The first pod that waits, by name. */
export function firstWaiting(pods: readonly Pod[]): { pod: Pod; waiting: Waiting } | undefined {
  for (const pod of [...pods].sort((a, b) => compareStrings(nameOf(a), nameOf(b)))) {
    const waiting = waitingOf(pod)
    if (waiting !== undefined) return { pod, waiting }
  }
  return undefined
}

/** What to do about a master or a worker that no node takes. */
export function unschedulableFix(message: string, isShared: boolean): string {
  const more = 'add nodes (sluice up: --process-nodes, or --nodes for simulated ones)'
  if (message.includes('anti-affinity') && !isShared)
    return `let nodes hold several datasets, with placement: Shared in this Dataset and in those that have the nodes now, or ${more}`
  if (message.includes('anti-affinity')) return `give the Datasets that have the nodes placement: Shared as well, or ${more}`
  if (message.includes('Insufficient')) return `make its resources or its tiered store smaller, or ${more}`
  if (message.includes('node affinity') || message.includes('node selector'))
    return `label a node as nodeAffinity of the Dataset and nodeSelector of the runtime want it, or change them`
  if (message.includes('taint')) return `give the Dataset tolerations for the taints of a node, or ${more}`
  return more
}
