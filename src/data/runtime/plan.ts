/** The writes that a decision leads to: objects first, the status last, so that what it says is true by then. Pure. */

import type { RuntimeCondition } from '../../kinds/fluid/index.ts'
import { runtimeFinalizer } from '../../kinds/fluid/names.ts'
import { SECRETS } from '../../kinds/kubernetes/resources.ts'
import { findCondition } from '../../kube/conditions.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Action, type EventIntent, NOTHING_TO_DO, type Plan } from '../../runtime/controller.ts'
import { removeFinalizer } from '../../runtime/finalizer.ts'
import type { Step } from '../scaling/decide.ts'
import { awaitsMasterMessage, type Held, heldMessage, leavesMessage, SCALE_IN_HELD } from '../scaling/texts.ts'
import { bounded, type Verdict } from './conditions.ts'
import { CLEARING, type Decision, servedCondition } from './decide.ts'
import { notAccepted, notCleared, notServed, scaledWorkers, scaleInHeld, workerLeaves } from './events.ts'
import { belong, join } from './join.ts'
import { mergePatchTo } from './merge-patch.ts'
import type { Observed, Serving } from './observe.ts'
import { isGoing, mustBeReplaced } from './parts.ts'
import { type ServedNow, wantedStatus } from './status.ts'

export function plan(observed: Observed, decision: Decision): Plan {
  const { runtime, engine } = observed
  switch (decision.do) {
    case 'nothing':
      return NOTHING_TO_DO
    case 'release':
      return { actions: [release(observed, decision.left)] }
    case 'clear':
      return { actions: statusChange(observed, { status: 'False', ...decision.refused }, undefined), effects: [decision.request] }
    case 'tell':
      return { actions: statusChange(observed, { status: 'False', ...decision.refused }, undefined) }
    case 'belong':
      return { actions: [belong(engine, runtime, decision.dataset)] }
    case 'join':
      return { actions: [join(engine, runtime, decision.dataset)] }
    case 'serve':
      return planServing(observed, decision)
  }
}

function release({ engine, runtime }: Observed, left: string | undefined): Action {
  const action = removeFinalizer(engine.resource, runtime, runtimeFinalizer(engine.type))
  return left === undefined ? action : { ...action, events: notCleared(runtime, bounded(left)) }
}

/** After this long the outcome of a repeated attempt is in the status. */
const SOON_MS = 1

function planServing(observed: Observed, decision: Extract<Decision, { do: 'serve' }>): Plan {
  const { dataset, prepared, serving, served, isMaking } = decision
  const { scaleIn } = serving
  const held = scaleIn === undefined ? undefined : heldBy(scaleIn.step, observed.runtime.metadata.namespace ?? '')
  const status = statusChange(observed, served, { dataset, prepared, states: serving.states, held })
  if (!isMaking) return { actions: status }
  const objects = objectChanges(observed.runtime, serving)
  // What the server refused before comes last, or the reason would never be written.
  if (served.reason === 'NotAccepted') return { actions: [...status, ...objects], requeueAfterMs: SOON_MS }
  const { againMs } = serving.key
  return {
    actions: [...objects, ...status],
    effects: scaleIn?.requests ?? [],
    ...(againMs === undefined ? {} : { requeueAfterMs: againMs }),
  }
}

function heldBy(step: Step, namespace: string): Held | undefined {
  if (step.do === 'await-master') return { reason: 'AwaitsMaster', message: awaitsMasterMessage(step.leaving) }
  return step.do === 'hold' ? { reason: 'ReadersBesideWorkers', message: heldMessage(step, namespace) } : undefined
}

function objectChanges(runtime: KubeObject, { parts, surplus, key, scaleIn, served }: Serving): Action[] {
  const eventOnFailure =
    (object: KubeObject) =>
    (why: string): EventIntent =>
      notAccepted(runtime, object, bounded(why))
  const workers = served.prepared?.components.worker?.name
  const leaving =
    scaleIn?.step.do === 'let-go' ? [workerLeaves(runtime, bounded(leavesMessage(scaleIn.step.choice, scaleIn.step.end)))] : []
  return [
    ...(key.secret === undefined ? [] : [{ do: 'create', resource: SECRETS, object: key.secret } satisfies Action]),
    ...parts
      // One that is on its way out is waited for.
      .filter(({ live }) => live === undefined || !isGoing(live))
      .map((part): Action => {
        const { resource, wanted, live } = part
        // Made anew when it and its pods are gone: nothing of the old one must be taken for the new one.
        if (live !== undefined && mustBeReplaced(part)) return { do: 'delete', resource, of: live, propagation: 'Foreground' }
        const events = wanted.metadata.name === workers ? leaving : []
        return { do: 'apply', resource, object: wanted, events, eventOnFailure: eventOnFailure(wanted) }
      }),
    ...surplus.map(({ resource, object }): Action => ({ do: 'delete', resource, of: object })),
  ]
}

function statusChange({ runtime, engine, dataset, nowMs }: Observed, served: Verdict, now: ServedNow | undefined): Action[] {
  const { status, scaled } = wantedStatus({ type: engine.type, runtime, served, now, nowMs })
  const patch = mergePatchTo((runtime.status ?? {}) as Record<string, unknown>, status)
  if (patch === undefined) return []
  const before = servedCondition(runtime)
  // What a runtime that goes with its dataset waits for is no complaint.
  const isOrdinary = isGoing(runtime) && (dataset === undefined || served.reason === CLEARING)
  const isTransition = served.status === 'False' && !isOrdinary && (before?.status !== 'False' || before.reason !== served.reason)
  const heldBefore = findCondition((runtime.status as { conditions?: RuntimeCondition[] } | undefined)?.conditions, SCALE_IN_HELD)
  const isNewlyHeld = now?.held?.reason === 'ReadersBesideWorkers' && heldBefore?.reason !== now.held.reason
  const events: EventIntent[] = [
    ...(isNewlyHeld ? [scaleInHeld(runtime, bounded(now?.held?.message ?? ''))] : []),
    ...(isTransition ? [notServed(runtime, bounded(served.message))] : []),
    ...(scaled === undefined ? [] : [scaledWorkers(runtime, scaled)]),
  ]
  return [{ do: 'patch', resource: engine.resource, of: runtime, patch: { status: patch }, subresource: 'status', events }]
}
