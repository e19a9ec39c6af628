/** The events of a DaemonSet, worded as in kube-controller-manager. */
import type { DaemonSet, Pod } from '../../../kinds/kubernetes/types.ts'
import type { EventIntent, WriteEvents } from '../../../runtime/controller.ts'
import type { Why } from './manage.ts'

export const createdPod = (set: DaemonSet, name: string): WriteEvents => ({
  events: { of: set, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` },
  eventOnFailure: (why) => ({ of: set, type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${why}` }),
})

export function deletedPod(set: DaemonSet, pod: Pod, { why, node }: { why: Why; node: string }): WriteEvents {
  const { namespace, name } = pod.metadata
  const deleted: EventIntent = { of: set, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` }
  const found: EventIntent[] = []
  const where = `daemon pod ${namespace}/${name} on node ${node}`
  if (why === 'failed')
    found.push({ of: set, type: 'Warning', reason: 'FailedDaemonPod', message: `Found failed ${where}, will try to kill it` })
  if (why === 'succeeded')
    found.push({ of: set, type: 'Normal', reason: 'SucceededDaemonPod', message: `Found succeeded ${where}, will try to delete it` })
  return {
    events: [...found, deleted],
    eventOnFailure: (reason) => ({ of: set, type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${reason}` }),
  }
}
