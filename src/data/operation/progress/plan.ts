/** What an operation says of its progress, and when it is asked for again. Pure. */
import { type Effect, type Plan, request } from '../../../runtime/controller.ts'
import { type Heard, isSilent } from './asking.ts'
import type { ProgressInput } from './effect.ts'
import { infosOf, PROGRESS_INFO, withoutProgress } from './figures.ts'
import { type Progress, progressKey } from './observe.ts'

/** What was said before holds until something else is known: after a restart nothing is written. */
export function infosWith(infos: Readonly<Record<string, string>>, progress: Progress | undefined): Record<string, string> {
  if (progress === undefined) return { ...infos }
  const { asking, port } = progress
  const last = asking?.last
  if (last?.figures !== undefined) return { ...withoutProgress(infos), ...infosOf(last.figures) }
  const isUnknown = asking === undefined || (last !== undefined && isSilent(last))
  return isUnknown ? { ...withoutProgress(infos), [PROGRESS_INFO]: unreachable(port) } : { ...infos }
}

const unreachable = (port: number): string =>
  `not known: the controllers get no answer from port ${port} of its pod; see its log (kubectl logs), or run them where they reach pods`

export function asked(
  progress: Progress | undefined,
  { effect, nowMs }: { effect: Effect<ProgressInput, Heard> | undefined; nowMs: number },
): Pick<Plan, 'effects' | 'requeueAfterMs'> {
  if (progress?.asking === undefined || effect === undefined) return {}
  const { asking, run, url } = progress
  if (asking.is === 'early') return { requeueAfterMs: asking.inMs }
  if (asking.is === 'running') return {}
  return { effects: [request(effect, progressKey(run, asking.slot), { url, askedAtMs: nowMs, previous: asking.last })] }
}
