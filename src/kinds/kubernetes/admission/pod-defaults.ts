/** Small additions to incoming pods and nodes: priority, tolerations of lost nodes, the overhead of a runtime. */
import { setOwn } from '../../../base/json.ts'
import { goQuote } from '../../../kube/go-print.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { type Admission, type AdmissionContext, type AdmissionRequest, defineAdmission } from '../../admission.ts'
import {
  boolean,
  ensureObject,
  type Fields,
  field,
  maybeNumber,
  maybeObject,
  maybeString,
  number,
  object,
  objects,
  string,
  stringEntries,
} from '../rules/fields.ts'
import { semanticEqual } from '../rules/pod/semantic.ts'
import { forbidden } from './forbid.ts'

const PODS = { group: '', resource: 'pods' }
const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' }
const RUNTIME_CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' }
const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'
const TOLERATION_SECONDS = 300

export const taintNodesByCondition: Admission = defineAdmission({
  name: 'TaintNodesByCondition',
  about: 'Gives a new Node the taint not-ready, until somebody says that it is.',
  resources: [{ group: '', resource: 'nodes' }],
  operations: ['CREATE'],
  mutate({ object: node }) {
    if (node === undefined) return
    const spec = ensureObject(node, 'spec')
    const taints = objects(spec, 'taints')
    if (taints.some((taint) => string(taint, 'key') === NOT_READY && string(taint, 'effect') === 'NoSchedule')) return
    spec.taints = [...taints, { key: NOT_READY, effect: 'NoSchedule' }]
  },
})

export const defaultTolerationSeconds: Admission = defineAdmission({
  name: 'DefaultTolerationSeconds',
  about: 'Lets a Pod stay 300 seconds on a node that is not ready or unreachable, unless it says otherwise.',
  resources: [PODS],
  operations: ['CREATE', 'UPDATE'],
  mutate({ object: pod }) {
    if (pod === undefined) return
    const spec = ensureObject(pod, 'spec')
    const tolerations = objects(spec, 'tolerations')
    const tolerates = (key: string): boolean =>
      tolerations.some((one) => ['', key].includes(string(one, 'key')) && ['', 'NoExecute'].includes(string(one, 'effect')))
    const added = [NOT_READY, UNREACHABLE]
      .filter((key) => !tolerates(key))
      .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS }))
    if (added.length > 0) spec.tolerations = [...tolerations, ...added]
  },
})

function defaultPriorityClass({ read }: AdmissionContext): KubeObject | undefined {
  let lowest: KubeObject | undefined
  for (const one of read.list(PRIORITY_CLASSES))
    if (boolean(one, 'globalDefault') && (lowest === undefined || number(one, 'value') < number(lowest, 'value'))) lowest = one
  return lowest
}

function admitNewPod(request: AdmissionRequest, pod: KubeObject, context: AdmissionContext): void {
  const spec = ensureObject(pod, 'spec')
  const asked = string(spec, 'priorityClassName')
  const found = asked === '' ? defaultPriorityClass(context) : context.read.get(PRIORITY_CLASSES, '', asked)
  if (asked !== '' && found === undefined) throw forbidden(request, `no PriorityClass with name ${asked} was found`)
  const priority = number(found, 'value')
  const policy = found === undefined ? 'PreemptLowerPriority' : maybeString(found, 'preemptionPolicy')
  if (found !== undefined) spec.priorityClassName = found.metadata.name
  const given = maybeNumber(spec, 'priority')
  const computed = 'must not be provided in pod spec; priority admission controller computed'
  if (given !== undefined && given !== priority)
    throw forbidden(request, `the integer value of priority (${given}) ${computed} ${priority} from the given PriorityClass name`)
  spec.priority = priority
  if (policy === undefined) return
  const givenPolicy = maybeString(spec, 'preemptionPolicy')
  if (givenPolicy !== undefined && givenPolicy !== policy)
    throw forbidden(
      request,
      `the string value of PreemptionPolicy (${givenPolicy}) ${computed} ${policy} from the given PriorityClass name`,
    )
  spec.preemptionPolicy = policy
}

export const priority: Admission = defineAdmission({
  name: 'Priority',
  about: 'Turns the name of a PriorityClass into priority and preemption policy, and keeps one global default.',
  resources: [PODS, PRIORITY_CLASSES],
  operations: ['CREATE', 'UPDATE'],
  mutate(request, context) {
    const pod = request.object
    if (pod === undefined || request.kind !== 'Pod') return
    if (request.operation === 'CREATE') {
      admitNewPod(request, pod, context)
      return
    }
    const spec = ensureObject(pod, 'spec')
    for (const key of ['priority', 'preemptionPolicy']) {
      const before = field(object(request.oldObject, 'spec'), key)
      if (field(spec, key) === undefined && before !== undefined) spec[key] = before
    }
  },
  validate(request, context) {
    const priorityClass = request.object
    if (priorityClass === undefined || request.kind !== 'PriorityClass' || !boolean(priorityClass, 'globalDefault')) return undefined
    const known = defaultPriorityClass(context)
    if (known === undefined || (request.operation === 'UPDATE' && known.metadata.name === priorityClass.metadata.name)) return undefined
    throw forbidden(request, `PriorityClass ${known.metadata.name} is already marked as default. Only one default can exist`)
  },
})

function runtimeClassOf(request: AdmissionRequest, { read }: AdmissionContext): KubeObject | undefined {
  const name = maybeString(object(request.object, 'spec'), 'runtimeClassName')
  if (name === undefined) return undefined
  const found = read.get(RUNTIME_CLASSES, '', name)
  if (found === undefined) throw forbidden(request, `pod rejected: RuntimeClass ${goQuote(name)} not found`)
  return found
}

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

function applyScheduling(request: AdmissionRequest, spec: Fields, scheduling: Fields): void {
  const wanted = stringEntries(scheduling, 'nodeSelector')
  if (wanted.length > 0) {
    const selector = ensureObject(spec, 'nodeSelector')
    for (const [key, value] of wanted) {
      const own = maybeString(selector, key)
      if (own !== undefined && own !== value)
        throw forbidden(
          request,
          `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
        )
      setOwn(selector, key, value)
    }
  }
  const tolerations = objects(spec, 'tolerations')
  const added = objects(scheduling, 'tolerations').filter((one) => !tolerations.some((own) => semanticEqual(own, one)))
  if (added.length > 0) spec.tolerations = [...tolerations, ...added]
}

export const runtimeClass: Admission = defineAdmission({
  name: 'RuntimeClass',
  about: 'Adds overhead, node selector and tolerations of the RuntimeClass that a Pod names.',
  resources: [PODS],
  operations: ['CREATE'],
  mutate(request, context) {
    if (request.object === undefined) return
    const found = runtimeClassOf(request, context)
    const spec = ensureObject(request.object, 'spec')
    const overhead = maybeObject(found, 'overhead')
    if (overhead !== undefined) {
      const given = object(spec, 'overhead')
      const fixed = object(overhead, 'podFixed')
      if (Object.keys(given).length > 0 && !semanticEqual(given, fixed, 'overhead')) throw forbidden(request, MISMATCH)
      if (Object.keys(fixed).length > 0) spec.overhead = { ...fixed }
    }
    const scheduling = maybeObject(found, 'scheduling')
    if (scheduling !== undefined) applyScheduling(request, spec, scheduling)
  },
  validate(request, context) {
    if (request.object === undefined) return undefined
    const overhead = maybeObject(runtimeClassOf(request, context), 'overhead')
    const given = maybeObject(object(request.object, 'spec'), 'overhead')
    if (overhead === undefined) {
      if (given === undefined) return undefined
      throw forbidden(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
    }
    if (!semanticEqual(given, object(overhead, 'podFixed'), 'overhead')) throw forbidden(request, MISMATCH)
    return undefined
  },
})
