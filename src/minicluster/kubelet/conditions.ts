/** The conditions that a kubelet keeps on a pod, next to those of others. Pure. */
import type { ContainerStatus, Pod, PodCondition } from '../../kinds/kubernetes/types.ts'
import type { ContainerView } from './containers.ts'

export interface ConditionsInput {
  pod: Pod
  views: readonly ContainerView[]
  statuses: ReadonlyMap<string, ContainerStatus>
  phase: string
  /** Volumes and address are ready, and the pod has not finished. */
  hasSandbox: boolean
  isInitialized: boolean
  now: string
  /** Whether volumes that should be in memory are. */
  memory: { areVolumesReady: boolean; memoryRefusal: string | undefined }
}

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>

const TRUE: Verdict = Object.freeze({ status: 'True' })
/** On a pod whose volumes should be in memory and are not. */
const MEMORY_VOLUME = 'sluice.dev/MemoryVolume'
const OWN = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled', MEMORY_VOLUME]

export function conditionsOf(input: ConditionsInput): PodCondition[] {
  const { pod, now } = input
  const old = pod.status?.conditions ?? []
  const ready = containersReady(input)
  const verdicts: [string, Verdict][] = [
    ['PodReadyToStartContainers', sandbox(input.hasSandbox, pod)],
    ['Initialized', initialized(input)],
    ['Ready', ready.status === 'True' ? gates(pod) : ready],
    ['ContainersReady', ready],
    ['PodScheduled', TRUE],
    ...memoryVolume(input),
  ]
  const own = verdicts.map(([type, { status, reason, message }]): PodCondition => {
    const before = old.find((condition) => condition.type === type)
    const lastTransitionTime = before !== undefined && before.status === status ? before.lastTransitionTime : now
    return { type, observedGeneration: pod.metadata.generation, status, lastTransitionTime, reason, message }
  })
  return [...old.filter(({ type }) => !OWN.includes(type ?? '')), ...own].map(withoutAbsent)
}

/** While the volumes are not known, what was said stands. */
function memoryVolume({ memory, pod }: ConditionsInput): [string, Verdict][] {
  const { memoryRefusal: message, areVolumesReady } = memory
  if (message !== undefined) return [[MEMORY_VOLUME, { status: 'False', reason: 'Refused', message }]]
  const said = areVolumesReady ? undefined : pod.status?.conditions?.find(({ type }) => type === MEMORY_VOLUME)
  return said === undefined ? [] : [[MEMORY_VOLUME, { status: said.status, reason: said.reason, message: said.message }]]
}

/** As it comes back from the server, which drops absent fields. */
function withoutAbsent(condition: PodCondition): PodCondition {
  return Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== undefined))
}

function sandbox(isThere: boolean, { status }: Pod): Verdict {
  if (isThere) return TRUE
  const before = status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')
  const wasThere = before?.status === 'True' || before?.message === 'pod sandbox is not ready'
  return { status: 'False', reason: 'PodSandboxNotReady', message: wasThere ? 'pod sandbox is not ready' : 'no pod sandbox exists' }
}

function initialized({ views, statuses, phase, isInitialized }: ConditionsInput): Verdict {
  const incomplete = views.filter((view) => {
    const status = statuses.get(view.name)
    return view.role === 'init' ? status?.ready !== true : view.role === 'sidecar' && status?.started !== true
  })
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' }
  if (isInitialized || incomplete.length === 0) return TRUE
  const message = `containers with incomplete status: [${incomplete.map(({ name }) => name).join(' ')}]`
  return { status: 'False', reason: 'ContainersNotInitialized', message }
}

function containersReady({ views, statuses, phase }: ConditionsInput): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  const unready = views.filter((view) => view.role !== 'init' && statuses.get(view.name)?.ready !== true)
  if (unready.length === 0) return TRUE
  const message = `containers with unready status: [${unready.map(({ name }) => name).join(' ')}]`
  return { status: 'False', reason: 'ContainersNotReady', message }
}

function gates({ spec, status }: Pod): Verdict {
  const messages = (spec?.readinessGates ?? []).flatMap(({ conditionType = '' }) => {
    const condition = status?.conditions?.find(({ type }) => type === conditionType)
    if (condition === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    if (condition.status === 'True') return []
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status ?? ''}`]
  })
  return messages.length === 0 ? TRUE : { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') }
}
