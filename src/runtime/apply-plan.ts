/**
 * Applies the actions of a plan for a key, in order: writes are counted, recorded as events, and noted for the freshness
 * gate. Writes with an unknown outcome are resolved before the next decision about the key.
 */
import { messageOf } from '../base/error-text.ts'
import { ApiError, isConflict, isOutcomeUnknown } from '../client/errors.ts'
import type { KubeObject } from '../kube/meta.ts'
import { applyAction, outcomeOf, type Writer } from './apply-action.ts'
import type { Action, Batch, EventIntent, Failure, Result } from './controller.ts'
import type { DeclaredCheck } from './declared-writes.ts'
import type { FreshnessGate } from './freshness.ts'
import type { ControllerMetrics } from './metrics.ts'

export interface PlanApplier {
  /** Returns how many requests were sent. Stops at the first failure and throws it. */
  applyAll(key: string, actions: readonly (Action | Batch)[]): Promise<number>
  /** To be called before the next decision about the key. */
  resolveUnknownOutcomes(key: string): Promise<void>
}

export interface PlanApplierOptions {
  check: DeclaredCheck
  /** How to write to a cluster: a member by its name, or the controller's own. Throws when there is no such member. */
  writerTo(cluster: string | undefined): Writer
  gate: FreshnessGate
  metrics: ControllerMetrics | undefined
  record(intent: EventIntent, key: string): void
  enqueue(key: string): void
  isStopped(): boolean
}

export function createPlanApplier({ check, writerTo, gate, metrics, record, enqueue, isStopped }: PlanApplierOptions): PlanApplier {
  const unknownOutcomes = new Map<string, readonly Action[]>()

  async function applyAll(key: string, actions: readonly (Action | Batch)[]): Promise<number> {
    let sent = 0
    let failure: { error: unknown } | undefined
    for (const action of actions) {
      if (isStopped()) return sent
      try {
        sent += action.do === 'batch' ? await applyBatch(key, action) : (await applyOne(key, action)).sent
      } catch (error) {
        // Emptying one resource does not depend on another; all other actions happen in the order of the plan or not at all.
        if (action.do !== 'delete-collection') throw error
        failure ??= { error }
      }
    }
    if (failure !== undefined) throw failure.error
    return sent
  }

  async function applyOne(key: string, action: Action): Promise<Sent> {
    const declared = check(action)
    if (declared.wrong !== undefined) throw new Error(declared.wrong)
    const writer = writerTo(action.cluster)
    const { do: verb, resource: target, cluster } = action
    const count = (result: WriteResult): void =>
      metrics?.wrote({ controller: writer.manager, verb, resource: declared.name, result, key, target, cluster })
    try {
      const written = await applyAction(writer, action)
      count(written?.isGone === true || (written === undefined && action.do !== 'delete-collection') ? 'unneeded' : 'done')
      if (written === undefined) return { sent: action.do === 'delete-collection' ? 1 : 0 }
      gate.wrote(key, written)
      if (written.isGone === true) return { sent: 0 }
      const intents = typeof action.events === 'function' ? action.events(written.object) : action.events
      for (const intent of intents === undefined ? [] : 'of' in intents ? [intents] : intents) record(intent, key)
      return { sent: 1, object: written.object }
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error)
      count(isConflict(error) ? 'conflict' : isUnknown ? 'unknown' : 'refused')
      if (isUnknown) unknownOutcomes.set(key, [...(unknownOutcomes.get(key) ?? []), action])
      if (isConflict(error)) enqueueWhenChanged(key, action)
      else {
        const failed = action.eventOnFailure?.(messageOf(error))
        if (failed !== undefined) record(failed, key)
      }
      throw error
    }
  }

  /**
   * A write that got no answer may have happened: before the next decision about this key the server is asked, and the cache
   * must show what it answered.
   */
  async function resolveUnknownOutcomes(key: string): Promise<void> {
    const unresolved = unknownOutcomes.get(key)
    if (unresolved === undefined) return
    for (const action of unresolved) gate.wrote(key, await outcomeOf(writerTo(action.cluster).client, action))
    unknownOutcomes.delete(key)
  }

  /** In groups of 1, 2, 4, …, so that a server that refuses one is not asked a thousand times. Independent actions are all sent anyway. */
  async function applyBatch(key: string, { actions, areIndependent, conclude }: Batch): Promise<number> {
    let sent = 0
    const outcomes: PromiseSettledResult<Sent>[] = []
    const hasFailed = (): boolean => outcomes.some(({ status }) => status === 'rejected')
    for (let from = 0, size = areIndependent === true ? 16 : 1; from < actions.length && !isStopped(); from += size, size *= 2) {
      if (hasFailed() && areIndependent !== true) break
      outcomes.push(...(await Promise.allSettled(actions.slice(from, from + size).map((action) => applyOne(key, action)))))
    }
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') sent += outcome.value.sent
    const conclusion = isStopped() ? undefined : conclude?.(outcomes.map(resultOf))
    if (conclusion !== undefined) sent += await applyAll(key, conclusion.actions)
    const isHandled = (error: unknown): boolean =>
      conclusion !== undefined && conclusion.mustRetry !== true && !isConflict(error) && !isOutcomeUnknown(error)
    const standing = outcomes.find((one) => one.status === 'rejected' && !isHandled(one.reason))
    if (standing?.status === 'rejected') throw standing.reason
    return sent
  }

  /** A conflict means that the cache is behind: the key is queued again when the cache shows another version. */
  function enqueueWhenChanged(key: string, action: Action): void {
    const used = 'of' in action ? action.of : 'object' in action ? action.object : undefined
    const informer = writerTo(action.cluster).informerOf(action.resource)
    if (used === undefined || informer === undefined) return
    const { namespace = '', name = '', resourceVersion } = used.metadata
    void informer.until(() => informer.get(namespace, name)?.metadata.resourceVersion !== resourceVersion).then(() => enqueue(key))
  }

  return { applyAll, resolveUnknownOutcomes }
}

/** How many requests were sent, and what came back. */
interface Sent {
  sent: number
  object?: KubeObject
}

function resultOf(outcome: PromiseSettledResult<Sent>): Result {
  return outcome.status === 'fulfilled' ? { object: outcome.value.object } : { failure: failureOf(outcome.reason) }
}

function failureOf(error: unknown): Failure {
  const message = messageOf(error)
  return error instanceof ApiError ? { message, code: error.code, reason: error.reason } : { message }
}

type WriteResult = Parameters<ControllerMetrics['wrote']>[0]['result']
