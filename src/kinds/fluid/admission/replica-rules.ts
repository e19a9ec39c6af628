/** How many pods a tenant can ask for with one number: every one of them is made at once, and costs the control plane something. */
import { isJsonObject } from '../../../base/json.ts'
import { type FieldError, invalid } from '../../../kube/field-error.ts'

/** The programs of a cache take no more either. */
export const MOST_REPLICAS = 10_000

export const tooManyReplicas = (field: string, replicas: unknown): FieldError[] =>
  typeof replicas === 'number' && replicas > MOST_REPLICAS
    ? [invalid(field, replicas, `must be at most ${MOST_REPLICAS}: make several datasets of it`)]
    : []

/** Of a runtime of any kind. */
export function runtimeReplicaErrors(spec: unknown): FieldError[] {
  if (!isJsonObject(spec)) return []
  const own = (part: string): unknown => (isJsonObject(spec[part]) ? spec[part].replicas : undefined)
  return [
    ...tooManyReplicas('spec.replicas', spec.replicas),
    ...tooManyReplicas('spec.master.replicas', own('master')),
    ...tooManyReplicas('spec.worker.replicas', own('worker')),
  ]
}
