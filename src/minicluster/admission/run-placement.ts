import { NAMESPACES } from '../../kinds/kubernetes/resources.ts'
import type { Container, Pod, PodSpec, Toleration } from '../../kinds/kubernetes/types.ts'
import { type FieldError, invalid } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { PodAdmission } from '../../runtime/seams/pod-admission.ts'
import { type EntryPoints, entryPointOf } from '../kubelet/entry-point.ts'
import { NODE_LABEL, RUN_ANNOTATION, SIMULATED_TAINT } from '../shape.ts'

export interface RunPlacementOptions {
  /** Whether the member has process nodes at all; without them every pod is simulated. */
  hasProcessNodes: boolean
  /** Whether an image is mapped to a local root. */
  isMapped(image: string): boolean
  /** Images whose program is on this machine. */
  entryPoints?: EntryPoints
  /** Whether a command resolves to an executable here. */
  resolves(command: string): boolean
}

export type RunMode = 'simulated' | 'process'

/** On a pod: why it is simulated, and what to do to run it for real; the node repeats it in the pod's status. */
export const BECAUSE_ANNOTATION = 'sluice.dev/simulated-because'

export function runPlacement(options: RunPlacementOptions): PodAdmission {
  return {
    name: 'RunPlacement',
    about: 'Sends a new pod to process nodes when all of its containers can run here, and to simulated nodes otherwise.',
    reads: [NAMESPACES],
    // What others inject decides as well: a container that cannot run here makes the whole pod simulated.
    runsLast: true,
    mutate(pod, namespace, { read }) {
      const decision = decide(pod, read.get({ group: '', resource: 'namespaces' }, '', namespace), options)
      if (decision !== undefined) place(pod, decision)
    },
    validate: (pod) => requestedErrors(pod),
  }
}

/** The pod as this admission would leave it: for callers that must know in advance which nodes it can use. */
export function placedBy(options: RunPlacementOptions): (pod: Pod, namespace: KubeObject | undefined) => Pod {
  return (pod, namespace) => {
    const decision = decide(pod, namespace, options)
    const placed = { ...pod, metadata: { ...pod.metadata }, spec: { ...pod.spec } }
    if (decision !== undefined) place(placed, decision)
    return placed
  }
}

export interface Decision {
  mode: RunMode
  /** For simulated: why. */
  because: string
  /** Whether nodes of both kinds exist, so that the pod must be kept off the wrong ones. */
  isChoice: boolean
}

/** Undefined when the requested mode is invalid: validation rejects it. */
export function decide(pod: Pod, namespace: KubeObject | undefined, options: RunPlacementOptions): Decision | undefined {
  const requested = requestedOf(pod) ?? requestedOf(namespace)
  const isChoice = options.hasProcessNodes
  if (requested === 'simulated') return { mode: 'simulated', because: `${RUN_ANNOTATION}: simulated asks for it`, isChoice }
  if (requested === 'process') return { mode: 'process', because: '', isChoice }
  if (requested !== undefined) return undefined
  if (!options.hasProcessNodes)
    return {
      mode: 'simulated',
      because: 'this cluster has no process node; start it with --process-nodes 1 to run pods for real',
      isChoice,
    }
  const cannot = allContainers(pod.spec)
    .map((container) => whyNot(container, options))
    .find((why) => why !== undefined)
  return cannot === undefined ? { mode: 'process', because: '', isChoice } : { mode: 'simulated', because: cannot, isChoice }
}

const allContainers = (spec: PodSpec | undefined): Container[] => [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]

/** Why a container cannot run as a process, with what to do; undefined when it can. */
function whyNot(container: Container, { isMapped, entryPoints, resolves }: RunPlacementOptions): string | undefined {
  const image = container.image ?? ''
  if (isMapped(image)) return undefined
  const [command] = container.command ?? []
  const entryPoint = entryPointOf(image, entryPoints)
  if (entryPoint !== undefined && (command === undefined || command === entryPoint.name)) return undefined
  if (command === undefined)
    return `container ${container.name} names no command, and images are not pulled; give it a command that exists on this machine, or start with --image ${image}=DIRECTORY`
  if (resolves(command)) return undefined
  return `the command ${JSON.stringify(command)} of container ${container.name} is not on this machine; install it, or start with --image ${image}=DIRECTORY`
}

const requestedOf = (object: KubeObject | undefined): string | undefined =>
  object?.metadata.annotations?.[RUN_ANNOTATION] ?? object?.metadata.labels?.[RUN_ANNOTATION]

function requestedErrors(object: KubeObject): FieldError[] {
  const requested = requestedOf(object)
  if (requested === undefined || requested === 'simulated' || requested === 'process') return []
  return [invalid(`metadata.annotations[${RUN_ANNOTATION}]`, requested, 'must be simulated or process')]
}

function place(pod: Pod, { mode, because, isChoice }: Decision): void {
  pod.spec ??= {}
  const { spec } = pod
  if (mode === 'simulated') {
    pod.metadata.annotations = { ...pod.metadata.annotations, [BECAUSE_ANNOTATION]: because }
    if (!toleratesSimulated(spec.tolerations))
      spec.tolerations = [...(spec.tolerations ?? []), { key: SIMULATED_TAINT, operator: 'Exists', effect: 'NoSchedule' }]
  }
  // The taint keeps other pods off simulated nodes. A pod that tolerates it must not land on the wrong kind because of that.
  const mayStray = mode === 'simulated' || toleratesSimulated(spec.tolerations)
  if (isChoice && mayStray && (spec.nodeName ?? '') === '') spec.nodeSelector = { [NODE_LABEL]: mode, ...spec.nodeSelector }
}

const toleratesSimulated = (tolerations: readonly Toleration[] | undefined): boolean =>
  (tolerations ?? []).some(
    ({ key, operator, effect }) =>
      (effect === undefined || effect === '' || effect === 'NoSchedule') &&
      (key === SIMULATED_TAINT || ((key === undefined || key === '') && operator === 'Exists')),
  )
