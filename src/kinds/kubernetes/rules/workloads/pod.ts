/** Pods: the one workload that runs, with subresources for status, ephemeral containers and resizing. */
import { deepClone } from '../../../../base/json.ts'
import { ipWarnings } from '../../../../kube/ip.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import { checkDns1123Label } from '../../../../kube/names.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { boolean, maybeNumber, objects, raw, string } from '../fields.ts'
import { newPodErrors, prepareNewPod } from '../pod/create.ts'
import { ensureFields } from '../pod/defaults.ts'
import { dropDisabledFields, dropDisabledStatusFields } from '../pod/disabled-fields.ts'
import { ephemeralContainerErrors } from '../pod/ephemeral-update.ts'
import { podOptions } from '../pod/options.ts'
import { defaultPod } from '../pod/pod-defaults.ts'
import { resizeErrors, takeResize } from '../pod/resize.ts'
import { semanticEqual } from '../pod/semantic.ts'
import { keepObservedGenerations, type PodWithStatus, podStatusErrors } from '../pod/status.ts'
import { podUpdateErrors } from '../pod/update.ts'
import { podWarnings } from '../pod/warnings.ts'
import { countGeneration, keepOld, metadataOf, specOf, statusOf } from './template-kind.ts'

const SELECTABLE = [
  // The old name of spec.nodeName.
  'spec.host',
  // Known, but never set.
  'status.podIPs',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.nominatedNodeName',
] as const

/** Where preparation leaves its warnings for the step that reports them; never enumerated, so never stored. */
const PREPARATION_WARNINGS = Symbol('warnings of preparation')

const parts = (pod: KubeObject): PodWithStatus => ({ spec: specOf(pod), metadata: metadataOf(pod), status: statusOf(pod) })

export const podRules: KindRules = {
  applyDefaults: defaultPod,
  prepareForCreate,
  prepareForUpdate,
  validateCreate: (pod) => newPodErrors(parts(pod), podOptions(true, undefined)),
  validateUpdate(pod, old, context) {
    const [next, before] = [parts(pod), parts(old)]
    const options = podOptions(true, before)
    switch (context.subresource) {
      case 'status':
        return podStatusErrors(next, before, options)
      case 'ephemeralcontainers':
        return ephemeralContainerErrors(next, before, options)
      case 'resize':
        return resizeErrors(next, before, options)
      default:
        return podUpdateErrors(next, before, options)
    }
  },
  warnings,
  graceOnDelete,
  selectableFieldNames: SELECTABLE,
  selectableFields(pod) {
    const { spec, status } = parts(pod)
    return {
      'spec.host': string(spec, 'nodeName'),
      'spec.nodeName': string(spec, 'nodeName'),
      'spec.restartPolicy': string(spec, 'restartPolicy'),
      'spec.schedulerName': string(spec, 'schedulerName'),
      'spec.serviceAccountName': string(spec, 'serviceAccountName'),
      'spec.hostNetwork': String(boolean(spec, 'hostNetwork')),
      'status.phase': string(status, 'phase'),
      'status.podIP': string(objects(status, 'podIPs')[0], 'ip') || string(status, 'podIP'),
      'status.nominatedNodeName': string(status, 'nominatedNodeName'),
    }
  },
}

function prepareForCreate(pod: KubeObject, context: RuleContext): void {
  const found = prepareNewPod(pod, context.now)
  Object.defineProperty(pod, PREPARATION_WARNINGS, { value: found, enumerable: false, configurable: true })
}

function prepareForUpdate(pod: KubeObject, old: KubeObject, context: RuleContext): void {
  const [spec, before] = [ensureFields(pod, 'spec'), specOf(old)]
  switch (context.subresource) {
    case 'status':
      prepareStatus(pod, old)
      return
    case 'ephemeralcontainers': {
      const added = raw(spec, 'ephemeralContainers')
      keepRestOfPod(pod, old)
      const kept = deepClone(before)
      if (added === undefined) delete kept.ephemeralContainers
      else kept.ephemeralContainers = added
      pod.spec = kept
      break
    }
    case 'resize': {
      const taken = takeResize(spec, before)
      if (taken !== spec) keepRestOfPod(pod, old)
      pod.spec = taken
      break
    }
    default:
      keepOld(pod, old, 'status')
  }
  dropDisabledFields(specOf(pod), before)
  countGeneration(pod, old, !semanticEqual(specOf(pod), before, 'spec'))
}

/** These subresources change a part of the spec; metadata and status stay the same. */
function keepRestOfPod(pod: KubeObject, old: KubeObject): void {
  keepOld(pod, old, 'status')
  const metadata = ensureFields(pod, 'metadata')
  for (const key of ['labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp', 'generation', 'selfLink']) {
    keepOld(metadata, metadataOf(old), key)
  }
}

function prepareStatus(pod: KubeObject, old: KubeObject): void {
  keepOld(pod, old, 'spec')
  const metadata = ensureFields(pod, 'metadata')
  // This subresource may not change the deletion time and the owners.
  for (const key of ['deletionTimestamp', 'ownerReferences']) keepOld(metadata, metadataOf(old), key)
  const [status, before] = [ensureFields(pod, 'status'), statusOf(old)]
  if (string(status, 'qosClass') === '' && string(before, 'qosClass') !== '') status.qosClass = before.qosClass
  keepObservedGenerations(status, before)
  dropDisabledStatusFields(status, before)
}

function warnings(pod: KubeObject, old: KubeObject | undefined, context: RuleContext): string[] {
  if (old === undefined) return newPodWarnings(pod)
  if (context.subresource !== 'status') return []
  return ['podIPs', 'hostIPs'].flatMap((key) =>
    objects(statusOf(pod), key).flatMap((entry, i) => ipWarnings(`status.${key}[${i}].ip`, string(entry, 'ip'))),
  )
}

function newPodWarnings(pod: KubeObject): string[] {
  const prepared: unknown = Object.getOwnPropertyDescriptor(pod, PREPARATION_WARNINGS)?.value
  const messages = checkDns1123Label(string(metadataOf(pod), 'name'))
  const advice = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
  return [
    ...(Array.isArray(prepared) ? (prepared as string[]) : []),
    ...(messages.length === 0 ? [] : [`metadata.name: ${advice}: [${messages.join(' ')}]`]),
    ...podWarnings('', parts(pod)),
  ]
}

/** A pod that no node runs, or that has ended, gets no grace period. */
function graceOnDelete(pod: KubeObject, requestedSeconds: number | undefined): number {
  const { spec, status } = parts(pod)
  const phase = string(status, 'phase')
  if (string(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0
  const seconds = requestedSeconds ?? maybeNumber(spec, 'terminationGracePeriodSeconds') ?? 0
  return seconds < 0 ? 1 : seconds
}
