/** The events on a runtime, with Fluid's reasons and words where it has them. */
import type { KubeObject } from '../../kube/meta.ts'
import type { EventIntent } from '../../runtime/controller.ts'
import type { Scaled } from './conditions.ts'

export const notServed = (of: KubeObject, message: string): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'ErrorProcessRuntime',
  message,
})

export const scaledWorkers = (of: KubeObject, { from, to }: Scaled): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'Succeed',
  message: to < from ? 'Runtime scaled in' : 'Runtime scaled out',
})

/** Fluid has the reason, and never gives it. */
export const scaleInHeld = (of: KubeObject, message: string): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'RuntimeScaleInFailed',
  message,
})

export const workerLeaves = (of: KubeObject, message: string): EventIntent => ({ of, type: 'Normal', reason: 'WorkerLeaves', message })

export const notAccepted = (of: KubeObject, what: KubeObject, why: string): EventIntent => ({
  of,
  type: 'Warning',
  reason: 'ErrorProcessRuntime',
  message: `Failed to setup ddc engine due to error: ${what.kind} ${what.metadata.name ?? ''}: ${why}`,
})

export const notCleared = (of: KubeObject, message: string): EventIntent => ({ of, type: 'Warning', reason: 'CacheNotCleared', message })
