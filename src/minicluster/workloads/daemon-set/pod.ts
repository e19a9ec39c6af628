/** The pods of a DaemonSet: created for one node each, and identified by it. */
import type { Affinity, DaemonSet, Pod } from '../../../kinds/kubernetes/types.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { podFromTemplate } from '../../../runtime/workloads/pod/from-template.ts'
import { REVISION_LABEL } from '../../../runtime/workloads/revision/history.ts'
import { daemonTolerations } from './eligibility.ts'

const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation'
const GENERATION_LABEL = 'pod-template-generation'
const NAME_FIELD = 'metadata.name'

/** How often the template was changed, by the deprecated counter; undefined when it is not set. */
function templateGeneration(set: DaemonSet): string | undefined {
  const { annotations } = set.metadata
  const text =
    annotations !== undefined && Object.hasOwn(annotations, GENERATION_ANNOTATION) ? annotations[GENERATION_ANNOTATION] : undefined
  return text !== undefined && /^[+-]?[0-9]+$/.test(text) ? BigInt(text).toString() : undefined
}

export interface DaemonPodInput {
  set: DaemonSet
  node: string
  name: string
  hash: string
}

export function daemonPod({ set, node, name, hash }: DaemonPodInput): Pod {
  const pod = podFromTemplate({ template: set.spec?.template, owner: set, name })
  const generation = templateGeneration(set)
  const labels = {
    ...pod.metadata.labels,
    ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }),
    [REVISION_LABEL]: hash,
  }
  const spec = { ...pod.spec, tolerations: daemonTolerations(pod.spec), affinity: boundTo(node, pod.spec?.affinity) }
  return { ...pod, metadata: { ...pod.metadata, labels }, spec }
}

/** The template's node requirements were checked when this node was chosen; now it is this one or none. */
function boundTo(node: string, affinity: Affinity | undefined): Affinity {
  const nodeSelectorTerms = [{ matchFields: [{ key: NAME_FIELD, operator: 'In', values: [node] }] }]
  return {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  }
}

/** The node a daemon pod is on or meant for; undefined when it names none. */
export function targetNode(pod: Pod): string | undefined {
  const { nodeName = '', affinity } = pod.spec ?? {}
  if (nodeName !== '') return nodeName
  for (const term of affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []) {
    const field = term.matchFields?.find(({ key, operator }) => key === NAME_FIELD && operator === 'In')
    if (field !== undefined) return field.values?.length === 1 ? field.values[0] : undefined
  }
  return undefined
}

export function isUpToDate(pod: Pod, set: DaemonSet, hash: string): boolean {
  const labels = pod.metadata.labels ?? {}
  const generation = templateGeneration(set)
  const hasLabel = (key: string, value: string): boolean => Object.hasOwn(labels, key) && labels[key] === value
  return (hash !== '' && hasLabel(REVISION_LABEL, hash)) || (generation !== undefined && hasLabel(GENERATION_LABEL, generation))
}

/** Bound ones first, then the oldest. */
export function byAge(a: Pod, b: Pod): number {
  const isPlaced = (pod: Pod): boolean => (pod.spec?.nodeName ?? '') !== ''
  const created = (pod: Pod): number => timeToMs(pod.metadata.creationTimestamp) ?? 0
  return (
    Number(isPlaced(b)) - Number(isPlaced(a)) || created(a) - created(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? '')
  )
}
