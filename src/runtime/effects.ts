/**
 * Runs effects: each key at most once at a time, bounded in time, outcomes remembered while their primary exists. A failed
 * one is started again, with a growing delay, while the plan still requests it.
 */

import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/error-text.ts'
import type { Client } from '../client/client.ts'
import type { Effect, EffectRequest, Outcome } from './controller.ts'

export interface Effects {
  /** Starts what is neither running nor done. */
  begin(owner: string, requests: readonly EffectRequest[]): void
  outcome(owner: string, name: string, key: string): Outcome<unknown> | undefined
  /** The owner is gone: its outcomes are forgotten, and running effects are aborted. */
  forget(owner: string): void
  running(): string[]
  stop(): Promise<void>
}

export interface EffectsOptions {
  clock: Clock
  /** What an effect may use of the API. */
  clientFor(effect: Effect): Client
  /** An effect ended: its owner is to be queued again after this delay. */
  enqueue(owner: string, afterMs: number): void
  onEnd?(effect: string, result: 'done' | 'failed'): void
  onError(error: unknown, owner: string): void
}

interface Running {
  outcome: Outcome<unknown>
  failures: number
  /** Not started again before this time. */
  notBeforeMs: number
  cancel?: () => void
}

const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 60_000
/** Outcomes kept per owner after it stopped requesting them: a long-lived owner keeps producing new keys. */
const REMEMBERED = 1000

export function createEffects({ clock, clientFor, enqueue, onEnd, onError }: EffectsOptions): Effects {
  const owners = new Map<string, Map<string, Running>>()
  const underway = new Set<Promise<void>>()
  let isStopped = false

  async function run(owner: string, request: EffectRequest, state: Running): Promise<void> {
    const abort = new AbortController()
    const { effect, key, input } = request
    const timeoutMs = Math.min(effect.timeoutMs, effect.timeoutFor?.(input) ?? Number.POSITIVE_INFINITY)
    const timedOut = (): void => abort.abort(new Error(`${effect.name} took longer than ${timeoutMs} ms`))
    const cancelTimer = clock.after(timeoutMs, timedOut)
    state.cancel = () => abort.abort(new Error(`${effect.name} is no longer wanted`))
    try {
      const aborted = new Promise<never>((_, reject) => {
        abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true })
      })
      const value = await Promise.race([effect.run(input, { key, signal: abort.signal, client: clientFor(effect) }), aborted])
      state.outcome = { state: 'done', value }
      state.failures = 0
      onEnd?.(effect.name, 'done')
      enqueue(owner, 0)
    } catch (error) {
      state.failures++
      const delayMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** Math.min(state.failures - 1, 20))
      state.notBeforeMs = clock.now() + delayMs
      state.outcome = { state: 'failed', message: messageOf(error) }
      onEnd?.(effect.name, 'failed')
      if (owners.get(owner) !== undefined && !isStopped) onError(error, owner)
      enqueue(owner, 0)
    } finally {
      cancelTimer()
      state.cancel = undefined
    }
  }

  return {
    begin(owner, requests) {
      if (isStopped || requests.length === 0) return
      const own = owners.get(owner) ?? new Map<string, Running>()
      owners.set(owner, own)
      for (const request of requests) {
        const id = idOf(request.effect.name, request.key)
        const known = own.get(id)
        if (known !== undefined && known.outcome.state !== 'failed') continue
        if (known !== undefined && known.notBeforeMs > clock.now()) {
          enqueue(owner, known.notBeforeMs - clock.now())
          continue
        }
        const state: Running = { outcome: { state: 'running' }, failures: known?.failures ?? 0, notBeforeMs: 0 }
        own.set(id, state)
        const pass: Promise<void> = run(owner, request, state).finally(() => underway.delete(pass))
        underway.add(pass)
      }
      if (own.size > REMEMBERED) forgetOldest(own, new Set(requests.map(({ effect, key }) => idOf(effect.name, key))))
    },
    outcome: (owner, name, key) => owners.get(owner)?.get(idOf(name, key))?.outcome,
    forget(owner) {
      for (const state of owners.get(owner)?.values() ?? []) state.cancel?.()
      owners.delete(owner)
    },
    running: () =>
      [...owners].flatMap(([owner, own]) =>
        [...own].filter(([, state]) => state.outcome.state === 'running').map(([id]) => `${id} of ${owner}`),
      ),
    async stop() {
      isStopped = true
      for (const own of owners.values()) for (const state of own.values()) state.cancel?.()
      await Promise.all(underway)
    },
  }
}

function forgetOldest(own: Map<string, Running>, wanted: ReadonlySet<string>): void {
  for (const [id, { outcome }] of own) {
    if (own.size <= REMEMBERED) return
    if (outcome.state !== 'running' && !wanted.has(id)) own.delete(id)
  }
}

const idOf = (name: string, key: string): string => `${name} ${key}`
