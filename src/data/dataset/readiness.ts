/**
 * Whether the components of a runtime are ready, from its status and its pods: what a dataset waits for before it is bound, and
 * what breaks it afterwards, as one sentence each. Pure.
 */
import { isJsonObject } from '../../base/json.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Prepared, SERVED_CONDITION } from '../engines/engine.ts'
import { mountAdvice } from '../mount-advice.ts'
import { isOfComponent, isRunning, type Trouble, troubleOf } from './pods.ts'
import { shown } from './text.ts'

export interface Served {
  dataset: Dataset
  runtime: KubeObject
  prepared: Prepared
  /** Of the runtime: masters, workers and clients. */
  pods: readonly Pod[]
}

/** Clients run where somebody reads: nothing waits for them. */
const WAITED_FOR = ['master', 'worker'] as const
type Type = (typeof WAITED_FOR)[number]

interface Component {
  type: Type
  name: string
  replicas: number
  /** Empty: the runtime does not know of it. */
  phase: string
  ready: number
  pods: readonly Pod[]
}

/** Why the runtime is not served, as its own condition says. */
export function refusalIn({ status }: KubeObject): string | undefined {
  const conditions = isJsonObject(status) && Array.isArray(status.conditions) ? status.conditions : []
  const served = conditions.find((one) => isJsonObject(one) && one.type === SERVED_CONDITION)
  if (!isJsonObject(served) || served.status !== 'False') return undefined
  return shown(typeof served.message === 'string' ? served.message : '')
}

/**
 * What the dataset still waits for; undefined when its masters are ready, and a worker where there are to be any. One that has
 * neither waits until its clients can come.
 */
export function waitedFor(served: Served): string | undefined {
  const components = componentsOf(served)
  const unready = components.find((component) => !isReady(component))
  if (unready === undefined) return components.length === 0 ? unpreparedClient(served) : undefined
  const trouble = unready.pods.map(troubleOf).find((one) => one !== undefined)
  if (trouble !== undefined) return sentenceOf(trouble, unready, served.dataset)
  const { type, name, replicas, ready } = unready
  return `waits for the ${type}s: ${ready} of ${replicas} pods of ${name} are ready`
}

function unpreparedClient({ runtime, prepared: { components } }: Served): string | undefined {
  const { client } = components
  return client === undefined || phaseOfClient(runtime) !== '' ? undefined : `waits for its clients: DaemonSet ${client.name} is being made`
}

export interface Broken {
  sentence: string
  /** None of its pods runs, and none says that it cannot: so they are as if they were being replaced. */
  isPassing: boolean
}

/** What is missing of a runtime that was complete; pods that are only restarted do not count. What does not pass comes first. */
export function brokenBy(served: Served): Broken | undefined {
  const all = componentsOf(served).flatMap((component) => brokenIn(component, served.dataset) ?? [])
  return all.find(({ isPassing }) => !isPassing) ?? all[0]
}

function brokenIn(component: Component, dataset: Dataset): Broken | undefined {
  const { type, name, replicas, phase, pods } = component
  if (phase === '') return { sentence: `the ${type} "${name}" is missing: it is made again`, isPassing: false }
  if (replicas === 0 || pods.some(isRunning)) return undefined
  const trouble = pods.map(troubleOf).find((one) => one !== undefined)
  if (trouble !== undefined) return { sentence: sentenceOf(trouble, component, dataset), isPassing: false }
  return { sentence: `the ${type} "${name}" is not healthy, expect at least one replica is ready`, isPassing: true }
}

const isReady = ({ type, phase, replicas }: Component): boolean =>
  phase === 'Ready' || (type === 'worker' && (phase === 'PartialReady' || (replicas === 0 && phase !== '')))

function sentenceOf({ pod, message, isUnschedulable }: Trouble, { type }: Component, { spec }: Dataset): string {
  const todo = mountAdvice(message)
  if (todo !== undefined) return `${type} ${pod} does not start: ${todo}: ${message}`
  if (!isUnschedulable) return `${type} ${pod} does not start: ${message}`
  // Only workers keep away from each other.
  const isExclusive = type === 'worker' && spec?.placement !== 'Shared' && message.includes('anti-affinity')
  const advice = isExclusive
    ? ', because a node holds the workers of one dataset only: set `placement: Shared` in this dataset and in the others, or add nodes (sluice up --process-nodes)'
    : ''
  return `${type} ${pod} finds no node${advice}: ${message}`
}

function componentsOf({ runtime, prepared, pods }: Served): Component[] {
  return WAITED_FOR.flatMap((type): Component[] => {
    const component = prepared.components[type]
    if (component === undefined) return []
    const own = pods.filter((pod) => isOfComponent(pod, component.name))
    return [{ type, ...component, ...statusOf(runtime, type), pods: own }]
  })
}

function phaseOfClient({ status }: KubeObject): string {
  const fields = isJsonObject(status) ? status : {}
  const phase = isJsonObject(fields.client) ? fields.client.phase : fields.fusePhase
  return typeof phase === 'string' ? phase : ''
}

/** CacheRuntimes have an object for each component, the others a field for each of its figures. */
function statusOf({ status }: KubeObject, type: Type): Pick<Component, 'phase' | 'ready'> {
  const fields = isJsonObject(status) ? status : {}
  const own = fields[type]
  const [phase, ready] = isJsonObject(own) ? [own.phase, own.readyReplicas] : [fields[`${type}Phase`], fields[`${type}NumberReady`]]
  return { phase: typeof phase === 'string' ? phase : '', ready: typeof ready === 'number' ? ready : 0 }
}
