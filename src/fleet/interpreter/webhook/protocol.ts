/**
 * The conversation with an interpreter webhook: what is asked, and which answers count. Pure; who sends it is elsewhere.
 */
import { isJsonObject, type JsonObject } from '../../../base/json.ts'
import type { AggregatedStatusItem, BindingComponent, ReplicaRequirements } from '../../../kinds/karmada/index.ts'
import { type KubeObject, parseGroupVersion } from '../../../kube/meta.ts'
import { applyJsonPatch, parseJsonPatch } from '../../../kube/patch/index.ts'
import type { DependentReference, Operation, ReplicaAnswer } from '../interpreter.ts'

const API_VERSION = 'config.karmada.io/v1alpha1'
const KIND = 'ResourceInterpreterContext'

/** The versions of the conversation that are spoken here. */
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
  replicaRequirements?: ReplicaRequirements
  components?: BindingComponent[]
  dependencies?: DependentReference[]
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
      ...(replicas === undefined ? {} : { replicas }),
      ...(items === undefined || items.length === 0 ? {} : { aggregatedStatus: items }),
    },
  }
}

const refuse = (message: string): never => {
  throw new Error(message)
}

/** The response of an answer that counts; throws what is wrong with it otherwise. */
export function acceptedResponse(answer: unknown, uid: string): Response {
  const context = isJsonObject(answer) ? answer : refuse('webhook response was no JSON object')
  if (context.apiVersion !== API_VERSION || context.kind !== KIND) {
    refuse(`expected webhook response of ${API_VERSION}, Kind=${KIND}, got ${text(context.apiVersion)}, Kind=${text(context.kind)}`)
  }
  const response = isJsonObject(context.response) ? context.response : refuse('webhook response was absent')
  if (response.uid !== uid) refuse(`expected response.uid "${uid}", got "${text(response.uid)}"`)
  if (response.successful !== true) refuse(`webhook call failed: ${statusText(response.status)}`)
  return response as Response
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

function statusText(status: unknown): string {
  if (!isJsonObject(status)) return 'no reason was given'
  const { message, code } = status
  const reason = typeof message === 'string' && message !== '' ? message : 'no reason was given'
  return typeof code === 'number' ? `${reason} (code ${code})` : reason
}

export function replicaAnswer({ replicas, replicaRequirements }: Response): ReplicaAnswer {
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) return refuse('webhook returned no response.replicas')
  return isJsonObject(replicaRequirements) ? { replicas, requirements: replicaRequirements as ReplicaRequirements } : { replicas }
}

export function componentsAnswer({ components }: Response): BindingComponent[] {
  if (components === undefined || components === null) return []
  return Array.isArray(components) ? components : refuse('webhook returned response.components that are no list')
}

/** The object with the answer's patch; the very same object when there is none. */
export function patched(object: KubeObject, { patch, patchType }: Response): KubeObject {
  const hasPatch = typeof patch === 'string' && patch !== ''
  const hasType = typeof patchType === 'string' && patchType !== ''
  if (!hasPatch && !hasType) return object
  if (!hasPatch) return refuse('webhook returned response.patchType but not response.patch')
  if (!hasType) return refuse('webhook returned response.patch but not response.patchType')
  if (patchType !== 'JSONPatch') return refuse(`webhook returned invalid response.patchType of "${patchType}"`)
  try {
    return applyJsonPatch(object, parseJsonPatch(Buffer.from(patch, 'base64'))) as unknown as KubeObject
  } catch (error) {
    return refuse(`webhook returned a patch that does not apply: ${(error as Error).message}`)
  }
}

export function dependenciesAnswer({ dependencies }: Response): DependentReference[] {
  if (dependencies === undefined || dependencies === null) return []
  if (!Array.isArray(dependencies)) return refuse('webhook returned response.dependencies that are no list')
  for (const reference of dependencies as unknown[]) checkReference(reference)
  return dependencies
}

function checkReference(reference: unknown): void {
  const { apiVersion, kind, name, labelSelector } = (isJsonObject(reference) ? reference : {}) as JsonObject
  if (text(apiVersion) === '' || text(kind) === '') refuse('dependency missing required apiVersion or kind')
  const hasName = text(name) !== ''
  const hasSelector = labelSelector !== undefined && labelSelector !== null
  if (!hasName && !hasSelector) refuse('dependency can not leave name and labelSelector all empty')
  if (hasName && hasSelector) refuse('dependency can not have both name and labelSelector')
}

export function statusAnswer(response: Response): unknown {
  if (response.rawStatus === undefined || response.rawStatus === null) refuse('webhook returned nil response.rawStatus')
  return response.rawStatus
}

export function healthAnswer({ healthy }: Response): boolean {
  return typeof healthy === 'boolean' ? healthy : refuse('webhook returned nil response.healthy')
}
