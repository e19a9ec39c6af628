/** v1 Pod. */
import { deepEqual } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import { findCondition } from '../../../kube/conditions.ts'
import { type Fields, fieldAt, fieldsAt, listAt, textAt, withField, withoutField } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { firstPhase, phasesOf } from './phases.ts'
import { podDependencies } from './pod-dependencies.ts'
import { answerOf, type NativeOptions } from './replicas.ts'
import { memberStatuses, withStatus } from './status.ts'

export const podRules = (options: NativeOptions): KindRules => ({
  replicas: (pod) => answerOf(1, { spec: pod.spec }, options),
  retain: retainPlacement,
  aggregate: aggregatePods,
  dependencies: (pod) => podDependencies(pod, pod.metadata.namespace ?? ''),
  health: isHealthy,
})

/** What the member's scheduler and admission added; a running pod cannot lose it. */
function retainPlacement(desired: KubeObject, observed: KubeObject): KubeObject {
  let retained = desired
  for (const field of ['nodeName', 'serviceAccountName', 'volumes']) retained = copied(retained, observed, ['spec', field])
  for (const field of ['containers', 'initContainers']) {
    const list = fieldAt(desired, 'spec', field)
    if (Array.isArray(list)) retained = withField(retained, ['spec', field], withMounts(list, listAt(observed, 'spec', field)))
  }
  return withTolerations(retained, listAt(observed, 'spec', 'tolerations'))
}

/** A pod can gain tolerations but never lose one: those that the member's admission added stay, in their order there. */
function withTolerations(desired: KubeObject, observed: readonly Fields[]): KubeObject {
  if (observed.length === 0) return desired
  const wanted = listAt(desired, 'spec', 'tolerations')
  const isSame = (one: Fields) => (other: Fields) => ['key', 'operator', 'value', 'effect'].every((field) => one[field] === other[field])
  const kept = observed.map((one) => wanted.find(isSame(one)) ?? one)
  const added = wanted.filter((one) => !observed.some(isSame(one)))
  return withField(desired, ['spec', 'tolerations'], [...kept, ...added])
}

function copied(desired: KubeObject, observed: KubeObject, path: readonly string[]): KubeObject {
  const value = fieldAt(observed, ...path)
  return value === undefined || value === null ? withoutField(desired, ...path) : withField(desired, path, value)
}

function withMounts(containers: readonly Fields[], observed: readonly Fields[]): Fields[] {
  return containers.map((container) => {
    const other = observed.find((candidate) => fieldAt(candidate, 'name') === fieldAt(container, 'name'))
    if (other === undefined) return container
    const mounts = other.volumeMounts
    return mounts === undefined || mounts === null
      ? withoutField(container, 'volumeMounts')
      : withField(container, ['volumeMounts'], mounts)
  })
}

const PHASES = ['Failed', 'Pending', 'Running', 'Succeeded'] as const

/** The phase is that of the member in the worst state; a member that has not reported anything is pending. */
function aggregatePods(template: KubeObject, items: readonly AggregatedStatusItem[]): KubeObject {
  if (items.length === 0) return template
  const phase = firstPhase(PHASES, phasesOf(items, 'Pending'))
  const members = memberStatuses(items)
  const lists = ['containerStatuses', 'initContainerStatuses'].flatMap((field) => {
    const statuses = members.flatMap(({ status }) => listAt(status, field).map(containerStatus))
    return statuses.length === 0 ? [] : [[field, unlessSame(fieldAt(template, 'status', field), statuses)] as const]
  })
  return withStatus(template, { ...(phase === undefined ? {} : { phase }), ...Object.fromEntries(lists) }, ['qosClass'])
}

/** Only readiness and state are meaningful across members; the rest is what Go prints for an empty status. */
const containerStatus = (status: Fields): Fields => ({
  name: '',
  state: fieldsAt(status, 'state'),
  lastState: {},
  ready: status.ready === true,
  restartCount: 0,
  image: '',
  imageID: '',
})

/** Statuses that differ only in what the server changed count as equal. */
function unlessSame(old: unknown, statuses: readonly Fields[]): unknown {
  const isSame =
    Array.isArray(old) &&
    deepEqual(
      old.map((status) => (typeof status === 'object' ? containerStatus(status) : status)),
      statuses,
    )
  return isSame ? old : statuses
}

function isHealthy(pod: KubeObject): boolean {
  const phase = textAt(pod, 'status', 'phase')
  if (phase === 'Succeeded') return true
  const conditions = listAt(pod, 'status', 'conditions') as readonly { type: string; status?: string }[]
  return phase === 'Running' && findCondition(conditions, 'Ready')?.status === 'True'
}
