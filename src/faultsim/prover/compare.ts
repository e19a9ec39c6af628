/** Judges a run against the one without faults: nothing leaked, nothing created over and over, and the same end. */

import { differences } from './end-state.ts'
import { OracleFailure } from './failure.ts'
import type { StoryRun } from './run-story.ts'

/** A single fault may make a controller repeat its work once, not again and again. */
export function compare(free: StoryRun, actual: StoryRun, faults = 1): void {
  compareWrites(free, actual, faults)
  for (const [label, { created, deleted }] of actual.comings) {
    const usual = free.comings.get(label) ?? { created: 0, deleted: 0 }
    const most = (count: number): number => count * (1 + faults) + 2 * faults
    if (created > most(usual.created) || deleted > most(usual.deleted))
      throw new OracleFailure(
        'no churn',
        `${label} was created ${times(created)} and deleted ${times(deleted)}; without faults ${times(usual.created)} and ${times(usual.deleted)}`,
      )
  }
  const extra = [...actual.end.keys()].filter((key) => !free.end.has(key))
  const isChild = (key: string): boolean => JSON.stringify(actual.end.get(key) ?? null).includes('"ownerReferences"')
  const missing = [...free.end.keys()].some((key) => !actual.end.has(key))
  if (!missing && extra.some(isChild))
    throw new OracleFailure('no leaked children', `more children than without faults: ${extra.filter(isChild).join(', ')}`)
  const wrong = differences(free.end, actual.end)
  if (wrong.length > 0) throw new OracleFailure('same end state', `it differs from the course without faults:\n  ${wrong.join('\n  ')}`)
}

function compareWrites(free: StoryRun, actual: StoryRun, faults: number): void {
  const [usual, now] = [counted(free), counted(actual)]
  if (now.events > usual.events * (1 + faults) + 4 * faults)
    throw new OracleFailure(
      'bounded events',
      `${now.events} writes of events; without faults ${usual.events}: ${eventWritesBy(actual)} instead of ${eventWritesBy(free)}`,
    )
  for (const part of now.parts.keys()) {
    const before = usual.parts.get(part) ?? { accepted: 0, sent: 0 }
    const after = now.parts.get(part) ?? { accepted: 0, sent: 0 }
    if (after.accepted > before.accepted * (1 + faults) + 8 * faults)
      throw new OracleFailure('bounded writes', `${part} made ${after.accepted} writes; without faults ${before.accepted}`)
    if (after.sent > before.sent * (1 + 2 * faults) + 60 * faults)
      throw new OracleFailure('bounded writes', `${part} sent ${after.sent} requests for changes; without faults ${before.sent}`)
  }
}

/** How many events each controller wrote, as text. */
function eventWritesBy(run: StoryRun): string {
  const parts = new Map<string, number>()
  for (const { part, method, path } of run.writes) if (isEventOrLease(method, path)) parts.set(part, (parts.get(part) ?? 0) + 1)
  return [...parts].map(([part, count]) => `${part} ${count}`).join(', ')
}

interface Counted {
  events: number
  parts: Map<string, { accepted: number; sent: number }>
}

function counted(run: StoryRun): Counted {
  const parts: Counted['parts'] = new Map()
  let events = 0
  for (const { part, method, path, status = 0 } of run.writes) {
    if (isEventOrLease(method, path)) {
      events++
      continue
    }
    const count = parts.get(part) ?? { accepted: 0, sent: 0 }
    parts.set(part, count)
    count.sent++
    if (status > 0 && status < 400) count.accepted++
  }
  return { events, parts }
}

/** Events and leases: recorded or renewed, not decided. */
export const isEventOrLease = (method: string, path: string): boolean => method !== 'DELETE' && /\/(events|leases)(\/|\?|$)/.test(path)

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)
