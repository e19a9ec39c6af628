/**
 * What the controllers of all four kinds of data operations do while none is carried out: they say so, on the object, with what to
 * do instead. Each is the sole writer of its operations' condition Served. It runs again when the operation changes. Deletion:
 * nothing was made, so nothing is held.
 */
import { formatTime } from '../../base/clock.ts'
import { findCondition, setCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { type Controller, defineController, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { SERVED_CONDITION } from '../engines/engine.ts'

interface Unserved<T extends KubeObject> {
  /** Of the controller. */
  name: string
  resource: Resource<T>
  /** What does the same meanwhile. */
  instead: string
}

interface Observed {
  operation: KubeObject
  nowMs: number
}

/** As the schema demands it. */
interface OperationStatus {
  phase: string
  duration: string
  conditions: { type: string; status: string; reason?: string; message?: string }[]
}

export const unservedOperations = <T extends KubeObject>({ name, resource, instead }: Unserved<T>): Controller =>
  defineController<Observed | undefined, T>({
    name,
    for: resource,
    writes: [{ resource: resource as Resource, subresource: 'status', verbs: ['patch'] }],
    observe: (_key, operation, read) => (operation === undefined ? undefined : { operation, nowMs: read.nowMs() }),
    plan: (observed) => (observed === undefined ? NOTHING_TO_DO : plan(observed, { resource: resource as Resource, instead })),
  })

function plan({ operation, nowMs }: Observed, { resource, instead }: { resource: Resource; instead: string }): Plan {
  if (operation.metadata.deletionTimestamp !== undefined) return NOTHING_TO_DO
  const message = `nothing carries out a ${resource.kind} yet: ${instead}`
  const { phase = '', duration = '', conditions } = (operation.status ?? {}) as Partial<OperationStatus>
  const said = findCondition(conditions, SERVED_CONDITION)
  if (said?.status === 'False' && said.message === message) return NOTHING_TO_DO
  const next = { type: SERVED_CONDITION, status: 'False' as const, reason: 'NotServed', message }
  const status = { phase, duration, conditions: setCondition(conditions as Parameters<typeof setCondition>[0], next, formatTime(nowMs)) }
  const events = [{ of: operation, type: 'Warning' as const, reason: 'DataOperationNotSupport', message }]
  return { actions: [{ do: 'patch', resource, of: operation, patch: { status }, subresource: 'status', events }] }
}
