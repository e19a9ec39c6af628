/** Rows of what runs pods: the kinds of apps and batch, replication controllers and pod templates. */
import { humanDuration } from '../../../kube/go-duration.ts'
import { timeToMs } from '../../../kube/go-time.ts'
import { type KubeObject, parseGroupVersion } from '../../../kube/meta.ts'
import { formatLabelSelector, formatSelectorObject, selectorFromObject } from '../../../kube/selector.ts'
import { ageOf, at, type Cells, containerCells, count, labelsText, list, nameOf, selectorOf, since, text } from './fields.ts'

const podSpecOf = (object: KubeObject): unknown => at(object, 'spec', 'template', 'spec')
const selectorText = (object: KubeObject): string => formatSelectorObject(selectorOf(at(object, 'spec', 'selector')))

export const podTemplate: Cells = (object) => [
  nameOf(object),
  ...containerCells(at(object, 'template', 'spec')),
  labelsText(at(object, 'template', 'metadata', 'labels')),
]

const replicaCells = (object: KubeObject, nowMs: number): unknown[] => [
  nameOf(object),
  count(at(object, 'spec', 'replicas')),
  count(at(object, 'status', 'replicas')),
  count(at(object, 'status', 'readyReplicas')),
  ageOf(object, nowMs),
  ...containerCells(podSpecOf(object)),
]

export const replicationController: Cells = (object, nowMs) => [...replicaCells(object, nowMs), labelsText(at(object, 'spec', 'selector'))]

export const replicaSet: Cells = (object, nowMs) => [...replicaCells(object, nowMs), selectorText(object)]

/** `2/3` of the desired replicas. */
const readyText = (object: KubeObject): string => `${count(at(object, 'status', 'readyReplicas'))}/${count(at(object, 'spec', 'replicas'))}`

export const deployment: Cells = (object, nowMs) => {
  const selector = selectorFromObject(selectorOf(at(object, 'spec', 'selector')))
  return [
    nameOf(object),
    readyText(object),
    count(at(object, 'status', 'updatedReplicas')),
    count(at(object, 'status', 'availableReplicas')),
    ageOf(object, nowMs),
    ...containerCells(podSpecOf(object)),
    selector.error !== undefined ? '<invalid>' : formatLabelSelector(selector.value ?? []),
  ]
}

export const statefulSet: Cells = (object, nowMs) => [
  nameOf(object),
  readyText(object),
  ageOf(object, nowMs),
  ...containerCells(podSpecOf(object)),
]

export const daemonSet: Cells = (object, nowMs) => [
  nameOf(object),
  count(at(object, 'status', 'desiredNumberScheduled')),
  count(at(object, 'status', 'currentNumberScheduled')),
  count(at(object, 'status', 'numberReady')),
  count(at(object, 'status', 'updatedNumberScheduled')),
  count(at(object, 'status', 'numberAvailable')),
  labelsText(at(podSpecOf(object), 'nodeSelector')),
  ageOf(object, nowMs),
  ...containerCells(podSpecOf(object)),
  selectorText(object),
]

export const controllerRevision: Cells = (object, nowMs) => {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true)
  return [nameOf(object), owner === undefined ? '<none>' : qualifiedName(owner), count(at(object, 'revision')), ageOf(object, nowMs)]
}

/** `deployment.apps/web`. */
function qualifiedName({ apiVersion, kind, name }: { apiVersion: string; kind: string; name: string }): string {
  const { group } = parseGroupVersion(apiVersion)
  return `${(group === '' ? kind : `${kind}.${group}`).toLowerCase()}/${name}`
}

/** The first of these that is true names the job's state. */
const JOB_STATES: readonly [string, string][] = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
  ['', 'Terminating'],
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
]

export const job: Cells = (object, nowMs) => [
  nameOf(object),
  jobState(object),
  jobCompletions(object),
  jobDuration(object, nowMs),
  ageOf(object, nowMs),
  ...containerCells(podSpecOf(object)),
  selectorText(object),
]

function jobState(object: KubeObject): string {
  const conditions = list(at(object, 'status', 'conditions'))
  const holds = (type: string) =>
    at(
      conditions.find((c) => at(c, 'type') === type),
      'status',
    ) === 'True'
  const state = JOB_STATES.find(([type]) => (type === '' ? object.metadata.deletionTimestamp !== undefined : holds(type)))
  return state?.[1] ?? 'Running'
}

function jobCompletions(object: KubeObject): string {
  const succeeded = count(at(object, 'status', 'succeeded'))
  const completions = at(object, 'spec', 'completions')
  if (completions !== undefined) return `${succeeded}/${count(completions)}`
  const parallelism = count(at(object, 'spec', 'parallelism'))
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(object: KubeObject, nowMs: number): string {
  const started = timeToMs(at(object, 'status', 'startTime'))
  return started === undefined ? '' : humanDuration((timeToMs(at(object, 'status', 'completionTime')) ?? nowMs) - started)
}

export const cronJob: Cells = (object, nowMs) => {
  const suspend = at(object, 'spec', 'suspend')
  const lastSchedule = at(object, 'status', 'lastScheduleTime')
  const jobSpec = at(object, 'spec', 'jobTemplate', 'spec')
  return [
    nameOf(object),
    text(at(object, 'spec', 'schedule')),
    text(at(object, 'spec', 'timeZone'), '<none>'),
    suspend === undefined ? '<unset>' : suspend === true ? 'True' : 'False',
    list(at(object, 'status', 'active')).length,
    lastSchedule === undefined ? '<none>' : since(lastSchedule, nowMs),
    ageOf(object, nowMs),
    ...containerCells(at(jobSpec, 'template', 'spec')),
    formatSelectorObject(selectorOf(at(jobSpec, 'selector'))),
  ]
}
