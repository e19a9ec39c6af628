/** For tests of controllers without a world: a clock that the test advances, and a reader of what the test says is stored. */
import assert from 'node:assert/strict'
import type { Clock } from '../base/clock.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Resource } from '../kube/resource.ts'
import type { Controller, Reader } from './controller.ts'

export interface ManualClock extends Clock {
  /** Time passes, and timers fire in their order. */
  move(ms: number): void
}

export function manualClock(startMs = 0): ManualClock {
  let nowMs = startMs
  let timers: { atMs: number; callback: () => void }[] = []
  const next = (untilMs: number) => timers.filter((timer) => timer.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
  return {
    now: () => nowMs,
    after(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    move(ms) {
      const untilMs = nowMs + ms
      for (let timer = next(untilMs); timer !== undefined; timer = next(untilMs)) {
        const due = timer
        timers = timers.filter((other) => other !== due)
        nowMs = Math.max(nowMs, due.atMs)
        due.callback()
      }
      nowMs = untilMs
    },
  }
}

/** Answers from the indexes that the controller declares; a scan is an error. */
export function storedReader(
  { indexes = [] }: Pick<Controller, 'indexes'>,
  stored: readonly (readonly [Resource, readonly KubeObject[]])[],
): Reader {
  const of = (resource: Resource): readonly KubeObject[] => stored.find(([one]) => one === resource)?.[1] ?? []
  const reader: Omit<Reader, 'get' | 'byIndex'> = {
    list: ({ plural }) => assert.fail(`all ${plural} were listed`),
    nowMs: () => 0,
    revisionOf: () => 0,
  }
  const get = (resource: Resource, namespace: string, name: string) =>
    of(resource).find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace)
  const byIndex = (resource: Resource, name: string, value: string) => {
    const index = indexes.find((one) => one.resource === resource && one.name === name)
    assert.ok(index !== undefined, `there is no index ${name}`)
    return of(resource).filter((object) => index.of(object).includes(value))
  }
  return { ...reader, get, byIndex } as Reader
}
