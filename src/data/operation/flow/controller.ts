/**
 * Releases operations that wait for another one, as soon as that is seen to be complete. Sole writer of: the wait of an operation
 * that has been recorded (`status.waitFor`, `status.waitingFor`), and, while it lasts, `status.infos.waiting`. Runs again when the
 * operation, the one that it runs after, a grant or a member of a circle changes; nothing is asked twice. Deletion: nothing is left.
 */
import { cycleOf } from '../../../kinds/fluid/flow-cycle.ts'
import { DATA_GROUP } from '../../../kinds/fluid/groups.ts'
import {
  isWaiting,
  nameOfOperation,
  OPERATIONS,
  type Operation,
  type OperationName,
  operationResource,
  operationText,
  predecessorOf,
} from '../../../kinds/fluid/operation.ts'
import { ReferenceGrant } from '../../../kinds/gateway/reference-grant.ts'
import { type ObjectRef, refOf } from '../../../kube/object-reference.ts'
import type { Resource } from '../../../kube/resource.ts'
import { type Controller, defineController, type Index, indexOf, NOTHING_TO_DO, type Reader, via } from '../../../runtime/controller.ts'
import { GRANT_INDEXES, type ReferenceConsent } from '../../../runtime/reference-consent.ts'
import { isGoing } from '../../reference/indexes.ts'
import { mayWaitFor } from '../consent.ts'
import { statusOf } from '../spec.ts'
import { SUCCESSOR_INDEXES, successorsOf } from '../triggers.ts'
import type { Link } from './decide.ts'
import { plan } from './plan.ts'

const INTO = 'waits-for-namespace'

export interface FlowDeps {
  /** What holds where the owner of another namespace has stated nothing. */
  referenceConsent: ReferenceConsent
}

export const flowController = (name: string, resource: Resource<Operation>, { referenceConsent: mode }: FlowDeps): Controller =>
  defineController<Link | undefined, Operation>({
    name,
    for: resource,
    isRelevant: isHeld,
    watches: [
      ...OPERATIONS.map((of) => via(of, (operation, read, other) => waitersOf(resource, operation, { read, other }))),
      via(ReferenceGrant.resource, (grant, read) => read.byIndex(resource, INTO, grant.metadata.namespace ?? '').map(refOf), {
        isRelevantUpdate: (old, grant) => old.metadata.generation !== grant.metadata.generation || isGoing(old) !== isGoing(grant),
      }),
    ],
    indexes: [...SUCCESSOR_INDEXES, ...GRANT_INDEXES, intoNamespaces(resource)],
    writes: [{ resource: resource as Resource, subresource: 'status', verbs: ['patch'] }],
    concurrency: 4,
    observe: (_key, operation, read) => (operation === undefined || !isHeld(operation) ? undefined : linkOf(operation, read, mode)),
    plan: (link) => (link === undefined ? NOTHING_TO_DO : plan(link)),
  })

/** Only what is Pending and has a wait recorded: everything else is its own controller's. */
const isHeld = (operation: Operation): boolean => statusOf(operation).phase === 'Pending' && isWaiting(operation) && !isGoing(operation)

/** For grants: those that wait for something of another namespace. */
const intoNamespaces = (resource: Resource<Operation>): Index =>
  indexOf(resource, INTO, (operation) => {
    const { group } = resource
    const before = predecessorOf(operation)
    return group === DATA_GROUP && before !== undefined && before.namespace !== operation.metadata.namespace ? [before.namespace] : []
  })

function linkOf(operation: Operation, read: Reader, mode: ReferenceConsent): Link {
  const name = nameOfOperation(operation)
  const after = predecessorOf(operation)
  const isPermitted = after === undefined || mayWaitFor(name, after, { read, mode })
  const get = (one: OperationName): Operation | undefined => read.get(operationResource(one.kind), one.namespace, one.name)
  // A circle through a namespace that does not consent is none: nobody is waited for there.
  const permitted = (one: OperationName): Operation | undefined => (mayWaitFor(name, one, { read, mode }) ? get(one) : undefined)
  return {
    operation,
    after,
    predecessor: after === undefined || !isPermitted ? undefined : get(after),
    isPermitted,
    cycle: isPermitted ? cycleOf(operation, permitted) : undefined,
  }
}

/**
 * Who runs after an operation. When it begins or ceases to run after something, also who runs after those, and so on: it may have
 * closed or opened a circle.
 */
function waitersOf(
  resource: Resource<Operation>,
  operation: Operation,
  { read, other }: { read: Reader; other: Operation | undefined },
): ObjectRef[] {
  const name = nameOfOperation(operation)
  if (other !== undefined && sameText(predecessorOf(operation), predecessorOf(other)))
    return successorsOf(name, read, [resource]).map(refOf)
  const seen = new Map([[operationText(name), operation]])
  for (const one of seen.values())
    for (const successor of successorsOf(nameOfOperation(one), read)) {
      const text = operationText(nameOfOperation(successor))
      if (!seen.has(text)) seen.set(text, successor)
    }
  return [...seen.values()].filter(({ kind }) => kind === resource.kind).map(refOf)
}

const sameText = (one: OperationName | undefined, two: OperationName | undefined): boolean =>
  one === two || (one !== undefined && two !== undefined && operationText(one) === operationText(two))
