/**
 * The recorded answers of a real server for pods and everything with a template, replayed on the rules alone: decoding,
 * defaults, preparation and validation in the server's order, with the small part of admission that those answers show.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GoldenStep, goldenSteps } from '../../../../../test/conformance/recorded.ts'
import { deepClone, type Json } from '../../../../base/json.ts'
import type { FieldError } from '../../../../kube/field-error.ts'
import type { KubeObject } from '../../../../kube/meta.ts'
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  parseJsonPatch,
  parseObjectPatch,
} from '../../../../kube/patch/index.ts'
import { invalidError, StatusError } from '../../../../kube/status.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../../kube/validate-meta.ts'
import type { KindRules, RuleContext } from '../../../kind.ts'
import { decodeTyped } from '../../decode-json.ts'
import { schemaFor } from '../../schemas.ts'
import { workloadRules } from './index.ts'

const KINDS: Readonly<Record<string, { group: string; version: string; kind: string }>> = {
  pods: { group: '', version: 'v1', kind: 'Pod' },
  podtemplates: { group: '', version: 'v1', kind: 'PodTemplate' },
  replicationcontrollers: { group: '', version: 'v1', kind: 'ReplicationController' },
  deployments: { group: 'apps', version: 'v1', kind: 'Deployment' },
  replicasets: { group: 'apps', version: 'v1', kind: 'ReplicaSet' },
  statefulsets: { group: 'apps', version: 'v1', kind: 'StatefulSet' },
  daemonsets: { group: 'apps', version: 'v1', kind: 'DaemonSet' },
  controllerrevisions: { group: 'apps', version: 'v1', kind: 'ControllerRevision' },
  jobs: { group: 'batch', version: 'v1', kind: 'Job' },
  cronjobs: { group: 'batch', version: 'v1', kind: 'CronJob' },
}
const TIME = '2026-01-02T03:04:05Z'
/** Placeholders are not valid labels, so the transcripts' first uid is replaced. */
const UID = 'uid-1'

interface Target {
  resource: string
  name: string
  subresource: string
}

function targetOf(step: GoldenStep): Target | undefined {
  const path = (step.path ?? '').split('?')[0] ?? ''
  const match = /\/namespaces\/<ns>\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(path)
  const [, resource = '', name = '', subresource = ''] = match ?? []
  return Object.hasOwn(KINDS, resource) ? { resource, name, subresource } : undefined
}

type Step = GoldenStep & { compare?: string }

interface Answer {
  object?: KubeObject
  errors?: FieldError[]
  warnings?: string[]
}

const rulesOf = (resource: string): KindRules => {
  const { group, kind } = KINDS[resource] ?? { group: '', kind: '' }
  const rules = workloadRules[`${group}/${kind}`]
  assert.ok(rules, kind)
  return rules
}

const contextOf = (operation: 'create' | 'update', subresource: string): RuleContext => ({
  operation,
  subresource,
  now: TIME,
  user: { name: 'admin', groups: ['system:masters'] },
})

/** Priority and DefaultTolerationSeconds, as far as the answers show them. */
function admitPod(pod: KubeObject): void {
  const spec = pod.spec as Record<string, unknown>
  spec.priority ??= spec.priorityClassName === 'system-node-critical' ? 2000001000 : 0
  spec.preemptionPolicy ??= 'PreemptLowerPriority'
  const tolerations = (spec.tolerations ?? []) as Record<string, unknown>[]
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const isTolerated = tolerations.some(
      (t) => (t.key === key || t.key === undefined) && (t.effect === 'NoExecute' || t.effect === undefined),
    )
    if (!isTolerated) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })
  }
  spec.tolerations = tolerations
}

function decode(resource: string, body: Json): KubeObject {
  const gvk = KINDS[resource]
  assert.ok(gvk)
  const { object } = decodeTyped(gvk, body)
  rulesOf(resource).applyDefaults?.(object, gvk.version)
  return object
}

function create(resource: string, body: Json): Answer {
  const rules = rulesOf(resource)
  const object = decode(resource, body)
  const { name, generateName, labels, annotations, ownerReferences, finalizers } = object.metadata
  object.metadata = {
    name,
    generateName,
    namespace: 'ns',
    uid: UID,
    creationTimestamp: TIME,
    labels,
    annotations,
    ownerReferences,
    finalizers,
  }
  if (resource === 'pods') admitPod(object)
  const context = contextOf('create', '')
  rules.prepareForCreate?.(object, context)
  const meta = validateObjectMeta(object.metadata, {
    namespaced: true,
    ...(rules.validateName ? { validateName: rules.validateName } : {}),
  })
  const errors = [...meta, ...(rules.validateCreate?.(object, context) ?? [])]
  if (errors.length > 0) return { errors }
  const warnings = rules.warnings?.(object, undefined, context) ?? []
  // What is stored is read back through the defaults, as the server core does it.
  rules.applyDefaults?.(object, 'v1')
  return { object, warnings }
}

function update({ resource, subresource }: Target, old: KubeObject, body: Json): Answer {
  const rules = rulesOf(resource)
  const object = decode(resource, body)
  const context = contextOf('update', subresource)
  object.metadata = {
    ...object.metadata,
    namespace: 'ns',
    creationTimestamp: TIME,
    resourceVersion: '1',
    generation: old.metadata.generation,
  }
  object.metadata.uid ??= old.metadata.uid
  if (resource === 'pods' && subresource === '') admitPod(object)
  const stored = deepClone({ ...old, metadata: { ...old.metadata, resourceVersion: '1' } })
  rules.prepareForUpdate?.(object, stored, context)
  // The real server checks metadata twice on update, once for every kind and once more with the kind's own rules.
  const meta = validateObjectMetaUpdate(object.metadata, stored.metadata)
  const errors = [...meta, ...meta, ...(rules.validateUpdate?.(object, stored, context) ?? [])]
  if (errors.length > 0) return { errors }
  return { object, warnings: rules.warnings?.(object, stored, context) ?? [] }
}

/** The object that a patch makes of the stored one, through JSON as on the wire; invalid patches are not covered here. */
function patched(step: GoldenStep, resource: string, stored: KubeObject): Json | undefined {
  const gvk = KINDS[resource]
  const schema = gvk && schemaFor(gvk.group, gvk.version, gvk.kind)
  assert.ok(schema)
  const document = JSON.parse(JSON.stringify(stored)) as Json
  const body = step.rawBody ?? JSON.stringify(step.body)
  try {
    switch (String(step.headers?.['Content-Type'])) {
      case 'application/json-patch+json':
        return applyJsonPatch(document, parseJsonPatch(body))
      case 'application/merge-patch+json':
        return applyMergePatch(document, parseObjectPatch(body))
      case 'application/strategic-merge-patch+json':
        return applyStrategicMergePatch(document, parseObjectPatch(body, 'strategic'), schema)
      default:
        return undefined
    }
  } catch (error) {
    if (error instanceof StatusError) return undefined
    throw error
  }
}

const withUid = (step: GoldenStep): GoldenStep =>
  JSON.parse(JSON.stringify(step).replaceAll('<uid1>', UID).replaceAll('<time>', TIME)) as GoldenStep

/** The part of an answer that the rules decide. */
function judged(object: Record<string, unknown>, step: Step): unknown {
  const { metadata, ...rest } = deepClone(object)
  for (const pointer of step.ignore ?? []) {
    const keys = pointer.slice(1).split('/')
    const last = keys.pop() ?? ''
    const holder = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], rest)
    if (holder !== undefined) delete (holder as Record<string, unknown>)[last]
  }
  const { generation, labels, annotations } = (metadata ?? {}) as Record<string, unknown>
  return JSON.parse(JSON.stringify({ ...rest, metadata: { generation, labels, annotations } }))
}

function isModelled(step: GoldenStep): boolean {
  const type = String(step.headers?.['Content-Type'] ?? '')
  if (step.status === undefined || [400, 403, 404, 409, 415, 429, 500].includes(step.status)) return false
  if (String(step.responseBody?.message).includes('is invalid: patch: ')) return false
  if (step.method === 'PATCH') return !type.includes('apply')
  return (step.method === 'POST' || step.method === 'PUT') && step.body !== undefined
}

function answerTo(step: GoldenStep, target: Target, stored: KubeObject | undefined): Answer | undefined {
  if (step.method === 'POST') return target.name === '' ? create(target.resource, step.body as Json) : undefined
  if (stored === undefined || target.subresource === 'scale') return undefined
  if (step.method === 'PUT') return update(target, stored, step.body as Json)
  const body = patched(step, target.resource, stored)
  return body === undefined ? undefined : update(target, stored, body)
}

function check(step: Step, target: Target, answer: Answer): void {
  const gvk = KINDS[target.resource] ?? { group: '', kind: '' }
  const body = step.responseBody ?? {}
  if (step.status === 422) {
    assert.ok(answer.errors, `${step.name}: accepted, but the real server said ${String(body.message)}`)
    const { status } = invalidError(
      gvk,
      target.name || String((step.body as { metadata?: { name?: string } }).metadata?.name ?? ''),
      answer.errors,
    )
    assert.equal(status.message, body.message, step.name)
    const sorted = (causes: unknown) => (causes as unknown[]).map((cause) => JSON.stringify(cause)).sort()
    assert.deepEqual(sorted(status.details?.causes), sorted((body.details as { causes: unknown } | undefined)?.causes), step.name)
    return
  }
  assert.deepEqual(answer.errors, undefined, step.name)
  if (step.compare !== 'status') assert.deepEqual(judged(answer.object ?? {}, step), judged(body, step), step.name)
  const recorded = (step.responseHeaders?.warning ?? []).filter(
    (text) => !text.includes('unknown field') && !text.includes('duplicate field'),
  )
  assert.deepEqual(
    answer.warnings?.map((text) => `299 - "${text.replace(/["\\]/g, '\\$&')}"`),
    recorded,
    step.name,
  )
}

describe('recorded answers on pods and templates', () => {
  const sequences = new Map<string, GoldenStep[]>()
  for (const step of goldenSteps().map(withUid)) sequences.set(step.seq, [...(sequences.get(step.seq) ?? []), step])
  for (const [seq, steps] of sequences) {
    const mine = steps.filter((step) => targetOf(step) !== undefined && isModelled(step))
    // Limits, quotas and finalizers are decided by other parts of the server.
    if (mine.length === 0 || /limitrange|quota|<uid2>/.test(JSON.stringify(steps))) continue
    it(seq, () => {
      const stored = new Map<string, KubeObject>()
      for (const step of steps) {
        const target = targetOf(step)
        if (target === undefined) continue
        const key = `${target.resource}/${target.name || String((step.body as { metadata?: { name?: string } } | undefined)?.metadata?.name)}`
        const answer = isModelled(step) ? answerTo(step, target, stored.get(key)) : undefined
        if (answer !== undefined) check(step, target, answer)
        if (answer?.object !== undefined && !step.path.includes('dryRun')) stored.set(key, answer.object)
        else if (!isModelled(step) && step.method !== 'GET' && step.status < 300) stored.delete(key)
      }
    })
  }
})
