/** Which sidecars of a pod are to be ended: pure. None, while anything else of the pod may still run. */
import { LABELS } from '../../../kinds/fluid/well-known.ts'
import type { Container, ContainerStatus, Pod } from '../../../kinds/kubernetes/types.ts'
import { type Effect, type KeyedEvent, NOTHING_TO_DO, type Outcome, type Plan, request } from '../../../runtime/controller.ts'
import { MANAGED_BY, SIDECAR_ANNOTATIONS, SIDECAR_LABELS } from '../labels.ts'
import type { EndInput } from './effects.ts'

export interface Ending {
  key: string
  input: EndInput
  outcome: Outcome<true> | undefined
}

export interface Observed {
  pod: Pod
  endings: readonly Ending[]
}

const isFuse = ({ name = '' }: Container | ContainerStatus): boolean => name.includes('fluid-fuse')

/** A pod that Fluid's rules apply to: it ends by itself, and has a sidecar in the old form. */
export function hasOldSidecar({ metadata: { labels = {}, annotations = {} }, spec }: Pod): boolean {
  if (labels[LABELS.managedBy] !== MANAGED_BY.value || labels[SIDECAR_LABELS.done] !== 'true' || labels[SIDECAR_LABELS.inject] !== 'true')
    return false
  if (labels[SIDECAR_LABELS.unprivileged] === 'true' || annotations[SIDECAR_ANNOTATIONS.platform] === 'unprivileged') return false
  return spec?.restartPolicy !== undefined && spec.restartPolicy !== 'Always' && (spec.containers ?? []).some(isFuse)
}

/** Those that run although nothing else does, each with the number of its starts. */
export function leftSidecars({ metadata, spec, status }: Pod): { container: Container; starts: number }[] {
  if (metadata.deletionTimestamp !== undefined || status?.phase !== 'Running') return []
  const statuses = new Map((status.containerStatuses ?? []).map((one) => [one.name, one]))
  const containers = spec?.containers ?? []
  const hasEnded = ({ name }: Container): boolean => {
    const { state } = statuses.get(name) ?? {}
    // One that failed may be started again.
    return state?.terminated !== undefined && (spec?.restartPolicy === 'Never' || state.terminated.exitCode === 0)
  }
  if (!containers.filter((one) => !isFuse(one)).every(hasEnded)) return []
  return containers.filter(isFuse).flatMap((container) => {
    const { state, restartCount = 0 } = statuses.get(container.name) ?? {}
    return state?.running === undefined ? [] : [{ container, starts: restartCount }]
  })
}

export function plan({ pod, endings }: Observed, effect: Effect<EndInput, true>): Plan {
  const open = endings.filter(({ outcome }) => outcome?.state !== 'done')
  if (open.length === 0) return NOTHING_TO_DO
  const events = open.flatMap(({ input, key, outcome }): KeyedEvent[] =>
    outcome?.state === 'failed'
      ? [
          {
            key,
            of: pod,
            type: 'Warning',
            reason: 'SidecarNotEnded',
            message: `container ${input.container} still runs, so the pod cannot end: ${outcome.message}. It is tried again`,
          },
        ]
      : [],
  )
  return { actions: [], effects: open.map(({ key, input }) => request(effect, key, input)), ...(events.length === 0 ? {} : { events }) }
}
