/** The masters, workers and clients of a runtime: how many of them are ready, and what each of the others waits for. Pure. */
import { LABELS } from '../../kinds/fluid/well-known.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Link } from '../../runtime/seams/explainer.ts'
import type { ComponentType } from '../engines/engine.ts'
import { mountAdvice } from '../mount-advice.ts'
import type { Commands } from './commands.ts'
import type { DatasetInput } from './input.ts'
import { firstWaiting, podLines, short, simulatedBecause, unschedulableFix, waitingOf } from './pods.ts'

/** A link, and what to do if it is the first that does not hold. */
export interface Step {
  link: Link
  fix?: string
}

const TYPES: readonly ComponentType[] = ['master', 'worker', 'client']

export function componentSteps({ dataset, runtimes, components, commands }: DatasetInput): Step[] {
  const [runtime, second] = runtimes
  if (runtime === undefined || second !== undefined) return []
  if (components.isForbidden) return [{ link: { what: 'pods', state: 'ok', says: 'pods may not be read by you' } }]
  const isShared = dataset.spec?.placement === 'Shared'
  return TYPES.flatMap((type) =>
    stepOf(type, { runtime, isShared, commands, pods: components.items.filter((pod) => typeOf(pod) === type) }),
  )
}

/** A client of another kind of runtime is called fuse. */
function typeOf({ metadata }: Pod): ComponentType | undefined {
  if (metadata.labels?.[LABELS.dataset] !== undefined) return 'worker'
  const component = metadata.labels?.[LABELS.cacheRuntimeComponent] ?? ''
  if (component.endsWith('-fuse')) return 'client'
  return TYPES.find((type) => component.endsWith(`-${type}`))
}

interface Component {
  runtime: KubeObject
  isShared: boolean
  pods: readonly Pod[]
  commands: Commands
}

function stepOf(what: ComponentType, { runtime, isShared, pods, commands }: Component): Step[] {
  const desired = desiredOf(what, runtime) ?? pods.length
  if (desired === 0 && pods.length === 0) return []
  const ready = pods.filter((pod) => waitingOf(pod) === undefined).length
  const simulated = pods.find((pod) => simulatedBecause(pod) !== undefined)
  const because = simulated === undefined ? undefined : simulatedBecause(simulated)
  const more = [...podLines(pods), ...(because === undefined ? [] : [short(`nothing is cached, because pods are simulated: ${because}`)])]
  const first = firstWaiting(pods)
  const isOk = ready >= desired
  const says = `${ready} of ${desired} ready${first === undefined ? '' : `; ${first.pod.metadata.name} ${first.waiting.says}`}`
  const link: Link = { what, state: isOk ? 'ok' : 'waits', says: short(says), ...(more.length === 0 ? {} : { more }) }
  if (isOk) return [{ link }]
  if (first === undefined) return [{ link, fix: `wait a moment; if the pods do not come: ${commands.here('kubectl get events')}` }]
  return [{ link, fix: fixOf(first, commands, isShared) }]
}

function fixOf({ pod, waiting }: NonNullable<ReturnType<typeof firstWaiting>>, commands: Commands, isShared: boolean): string {
  const advice = mountAdvice(waiting.says)
  if (advice !== undefined) return advice
  if (waiting.unschedulable !== undefined) return unschedulableFix(waiting.unschedulable, isShared)
  const name = `pod/${pod.metadata.name}`
  const logs = commands.here(`kubectl logs ${name}`)
  return waiting.isStarting
    ? `wait a moment; if it stays like this, see what it says: ${logs}`
    : `see what it says: ${logs}, ${commands.here(`kubectl describe ${name}`)}`
}

interface Status {
  master?: { desiredReplicas?: number }
  worker?: { desiredReplicas?: number }
  client?: { desiredReplicas?: number }
  desiredMasterNumberScheduled?: number
  desiredWorkerNumberScheduled?: number
  desiredFuseNumberScheduled?: number
}

/** CacheRuntimes say it in another place than the others. */
function desiredOf(type: ComponentType, { status }: KubeObject): number | undefined {
  const of = (status ?? {}) as Status
  const others = { master: of.desiredMasterNumberScheduled, worker: of.desiredWorkerNumberScheduled, client: of.desiredFuseNumberScheduled }
  return of[type]?.desiredReplicas ?? others[type]
}
