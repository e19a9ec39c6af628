/** What pods tell about a dataset: which claims they use, which component they are, whether commands can be run in them. Pure. */
import { AdvancedStatefulSet } from '../../kinds/fluid/index.ts'
import { LABELS } from '../../kinds/fluid/well-known.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { objectKey } from '../../kube/object-reference.ts'
import { controllerOf } from '../../runtime/workloads/pod/ownership.ts'
import { sidecarsOf } from '../sidecar/labels.ts'
import { shown } from './text.ts'

/** On a pod that runs nothing: why. */
const SIMULATED_BECAUSE = 'sluice.dev/simulated-because'

/** `namespace/name` of the claims that a pod mounts. */
export const claimKeys = ({ metadata, spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : [objectKey(metadata.namespace, persistentVolumeClaim.claimName)],
  )

/** `namespace/name` of the datasets whose clients a pod has as containers of its own. */
export const sidecarKeys = (pod: Pod): string[] => sidecarsOf(pod).map(({ namespace, name }) => objectKey(namespace, name))

/** `namespace/name` of the runtime that a pod is part of. */
export function runtimeKeys({ metadata }: Pod): string[] {
  const name = metadata.labels?.[LABELS.cacheRuntimeName]
  return name === undefined || name === '' ? [] : [objectKey(metadata.namespace, name)]
}

/** Labels alone make no part of a cache: whoever may create a pod may set them. The set of the component has made it. */
export function isOfComponent(pod: Pod, component: string): boolean {
  const owner = controllerOf(pod)
  const isMade = owner?.kind === AdvancedStatefulSet.kind && owner.apiVersion?.startsWith(`${AdvancedStatefulSet.group}/`) === true
  return isMade && owner.name === component && pod.metadata.labels?.[LABELS.cacheRuntimeComponent] === component
}

/** The component that made the first of its pods. */
const componentOf = (pod: string): string => pod.replace(/-0$/, '')

/** The pod that a command is run in; undefined: another one has its name. */
export const entryPod = (pod: Pod | undefined, name: string): Pod | undefined =>
  pod !== undefined && isOfComponent(pod, componentOf(name)) ? pod : undefined

/** It uses nothing any more, or is about to: then it does not hold a dataset. */
export const isComplete = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'

export const isRunning = (pod: Pod): boolean => pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined

/** Which run of a container it is; undefined while it does not run. */
export function runOf(pod: Pod | undefined, container: string): string | undefined {
  if (pod === undefined || !isRunning(pod)) return undefined
  const startedAt = pod.status?.containerStatuses?.find(({ name }) => name === container)?.state?.running?.startedAt
  return startedAt === undefined ? undefined : `${pod.metadata.uid ?? ''} ${startedAt}`
}

export const simulatedBecause = ({ metadata }: Pod): string | undefined => metadata.annotations?.[SIMULATED_BECAUSE]

export interface Trouble {
  pod: string
  message: string
  isUnschedulable: boolean
}

/** What keeps a pod from being ready, where it can be told; undefined: nothing, or nothing known. */
export function troubleOf({ metadata: { name = '' }, status }: Pod): Trouble | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable')
    return { pod: name, message: shown(scheduled.message ?? ''), isUnschedulable: true }
  for (const { state } of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { reason = '', message = '' } = state?.waiting ?? {}
    if (reason !== '' && (!ORDINARY.has(reason) || MOUNT_FAILED.test(message)))
      return { pod: name, message: shown(message === '' ? reason : `${reason}: ${message}`), isUnschedulable: false }
  }
  return undefined
}

/** As kubelets put it in events, and process nodes beside the reason. */
const MOUNT_FAILED = /^MountVolume\.\w+ failed /

/** Every container waits for these reasons at first. */
const ORDINARY: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])
