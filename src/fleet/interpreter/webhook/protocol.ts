/** The protocol of interpreter webhooks: what is sent, and which answers are valid. Pure; sending is done elsewhere. */
import { isJsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem, BindingComponent } from '../../../kinds/karmada/index.ts'
import { type KubeObject, parseGroupVersion } from '../../../kube/meta.ts'
import { applyJsonPatch, parseJsonPatch } from '../../../kube/patch/index.ts'
import { componentsOf, referencesOf, requirementsOf } from '../answers.ts'
import type { DependentReference, Operation, ReplicaAnswer } from '../interpreter.ts'

const API_VERSION = 'config.karmada.io/v1alpha1'
const KIND = 'ResourceInterpreterContext'

/** The protocol version supported here. */
export const CONTEXT_VERSION = 'v1alpha1'

export interface Question {
  operation: Operation
  object: KubeObject
  /** What the member has, for Retain. */
  observed?: KubeObject
  /** The new number, for ReviseReplica. */
  replicas?: number
  /** For AggregateStatus. */
  items?: readonly AggregatedStatusItem[]
}

export interface Response {
  patch?: string
  patchType?: string
  replicas?: number
  replicaRequirements?: unknown
  components?: unknown
  dependencies?: unknown
  rawStatus?: unknown
  healthy?: boolean
}

export function requestOf(question: Question, uid: string): Record<string, unknown> {
  const { object, operation, observed, replicas, items } = question
  const { group, version } = parseGroupVersion(object.apiVersion)
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    request: {
      uid,
      kind: { group, version, kind: object.kind },
      name: object.metadata.name ?? '',
      ...(object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
      operation,
      object,
      ...(observed === undefined ? {} : { observedObject: observed }),
      // Always sent: servers may read it without checking that it is there.
      replicas: replicas ?? 0,
      ...(items === undefined || items.length === 0 ? {} : { aggregatedStatus: items }),
    },
  }
}

const refuse = (message: string): never => {
  throw new Error(message)
}

/** The response of a valid answer; otherwise throws what is wrong with it. */
export function acceptedResponse(answer: unknown, uid: string): Response {
  const context = isJsonObject(answer) ? answer : refuse('webhook response was no JSON object')
  // Servers built with Karmada's library say neither; what they do say must be right.
  if (isOther(context.apiVersion, API_VERSION) || isOther(context.kind, KIND)) {
    refuse(`expected webhook response of ${API_VERSION}, Kind=${KIND}, got ${text(context.apiVersion)}, Kind=${text(context.kind)}`)
  }
  const response = isJsonObject(context.response) ? context.response : refuse('webhook response was absent')
  if (response.uid !== uid) refuse(`expected response.uid "${uid}", got "${text(response.uid)}"`)
  if (response.successful !== true) checkFailure(response.status)
  return response as Response
}

const isOther = (said: unknown, meant: string): boolean => said !== undefined && said !== null && said !== '' && said !== meant

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The server answered with a refusal. */
export class WebhookRefusal extends Error {}

function checkFailure(status: unknown): never {
  if (!isJsonObject(status)) return refuse('webhook require response.status when response.successful is false')
  const code = typeof status.code === 'number' ? status.code : 0
  throw new WebhookRefusal(`webhook call failed, get status code: ${code}, msg: ${text(status.message)}`)
}

export function replicaAnswer({ replicas, replicaRequirements }: Response): ReplicaAnswer {
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) return refuse('webhook returned nil response.replicas')
  return isAbsent(replicaRequirements) ? { replicas } : { replicas, requirements: requirementsOf(replicaRequirements) }
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

export const componentsAnswer = ({ components }: Response): BindingComponent[] =>
  isAbsent(components) ? [] : componentsOf(listOf('components', components))

const listOf = (name: string, value: unknown): unknown[] =>
  Array.isArray(value) ? value : refuse(`webhook returned response.${name} that are no list`)

/** The object with the answer's patch applied; the identical object when there is none. */
export function patched(object: KubeObject, { patch, patchType }: Response): KubeObject {
  const hasPatch = typeof patch === 'string' && patch !== ''
  const hasType = typeof patchType === 'string' && patchType !== ''
  if (!hasPatch && !hasType) return object
  if (!hasType) return refuse('webhook returned nil response.patchType')
  if (!hasPatch) return refuse('webhook returned empty response.patch')
  if (patchType !== 'JSONPatch') return refuse(`webhook returned invalid response.patchType of "${patchType}"`)
  try {
    return applyJsonPatch(object, parseJsonPatch(Buffer.from(patch, 'base64'))) as unknown as KubeObject
  } catch (error) {
    return refuse(`webhook returned a patch that does not apply: ${(error as Error).message}`)
  }
}

export const dependenciesAnswer = ({ dependencies }: Response): DependentReference[] =>
  isAbsent(dependencies) ? [] : referencesOf(listOf('dependencies', dependencies))

export function statusAnswer(response: Response): unknown {
  if (response.rawStatus === undefined || response.rawStatus === null) refuse('webhook returned nill response.rawStatus')
  return response.rawStatus
}

export function healthAnswer({ healthy }: Response): boolean {
  return typeof healthy === 'boolean' ? healthy : refuse('webhook returned nil response.healthy')
}
