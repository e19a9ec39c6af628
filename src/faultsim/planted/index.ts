/** Every planted bug. One file and one line each. */
import { appendedReference } from './appended-reference.ts'
import { cleanupBestEffort } from './cleanup-best-effort.ts'
import { edgeTriggered } from './edge-triggered.ts'
import { effectWithoutKey } from './effect-without-key.ts'
import { eventOnEveryPass } from './event-on-every-pass.ts'
import { forgottenFinalizer } from './forgotten-finalizer.ts'
import { generatedNames } from './generated-names.ts'
import { lateFinalizer } from './late-finalizer.ts'
import { leakedChild } from './leaked-child.ts'
import { lostRequeue } from './lost-requeue.ts'
import { machineTime } from './machine-time.ts'
import { missingOwner } from './missing-owner.ts'
import { nameCollision } from './name-collision.ts'
import { noPrecondition } from './no-precondition.ts'
import type { Planted } from './planted.ts'
import { reReadAndOverwrite } from './re-read-and-overwrite.ts'
import { staleDeletion } from './stale-deletion.ts'
import { statusBeforeBackReference } from './status-before-back-reference.ts'
import { swallowedFailure } from './swallowed-failure.ts'
import { twoWriters } from './two-writers.ts'
import { unboundedRetry } from './unbounded-retry.ts'
import { unstableOrder } from './unstable-order.ts'
import { writeOnEveryPass } from './write-on-every-pass.ts'

export const PLANTED: readonly Planted[] = [
  appendedReference,
  cleanupBestEffort,
  edgeTriggered,
  effectWithoutKey,
  eventOnEveryPass,
  forgottenFinalizer,
  generatedNames,
  lateFinalizer,
  leakedChild,
  lostRequeue,
  machineTime,
  missingOwner,
  nameCollision,
  noPrecondition,
  reReadAndOverwrite,
  staleDeletion,
  statusBeforeBackReference,
  swallowedFailure,
  twoWriters,
  unboundedRetry,
  unstableOrder,
  writeOnEveryPass,
]
