/** From a decision about a waiting operation to writes. Both names of the wait are always written together. Pure. */
import { operationResource } from '../../../kinds/fluid/operation.ts'
import type { OperationKind } from '../../../kinds/fluid/operation-parts.ts'
import type { Resource } from '../../../kube/resource.ts'
import type { Plan } from '../../../runtime/controller.ts'
import { comesAfterSimulated } from '../events.ts'
import { BEFORE_INFO } from '../simulated.ts'
import { statusOf } from '../spec.ts'
import { decideFlow, type Link, WAITING_INFO } from './decide.ts'

export function plan(link: Link): Plan {
  const { operation } = link
  const decision = decideFlow(link)
  const resource = operationResource(operation.kind as OperationKind) as Resource
  const said = statusOf(operation).infos?.[WAITING_INFO]
  if (decision.do === 'release') {
    const { simulated: before } = decision
    const status = {
      waitFor: { operationComplete: false },
      waitingFor: { operationComplete: false },
      infos: { ...(said === undefined ? {} : { [WAITING_INFO]: null }), ...(before === undefined ? {} : { [BEFORE_INFO]: before }) },
    }
    const events = before === undefined ? [] : [comesAfterSimulated(operation, before)]
    return { actions: [{ do: 'patch', resource, of: operation, patch: { status }, subresource: 'status', events }] }
  }
  const { report } = decision
  const isSame = said === report.message
  const { waitFor, waitingFor } = statusOf(operation)
  if (isSame && waitFor?.operationComplete === true && waitingFor?.operationComplete === true) return { actions: [] }
  const status = {
    waitFor: { operationComplete: true },
    waitingFor: { operationComplete: true },
    infos: { [WAITING_INFO]: report.message },
  }
  const events = isSame ? [] : [{ of: operation, ...report }]
  return { actions: [{ do: 'patch', resource, of: operation, patch: { status }, subresource: 'status', events }] }
}
