/** The link about the scheduler: decided, not yet, not possible, or kept from deciding. Pure. */
import type { Binding } from '../../kinds/karmada/index.ts'
import { BINDING_REASONS, DEFAULT_SCHEDULER, SCHEDULED } from '../../kinds/karmada/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { isHeldByUs, recordedHold } from '../../runtime/seams/narrowing.ts'
import type { DecisionRecord } from '../scheduler/decision.ts'
import type { Finding } from './chain.ts'
import { allowedText, holdFix, narrowedBinding, narrowedFailure, reasonOfAllowed, type Seen } from './narrowed.ts'

export function explainSchedule(binding: Binding, seen: Seen, finding: Finding): void {
  if (binding.spec.suspension?.scheduling === true) {
    explainSuspension(binding, finding)
    return
  }
  const condition = binding.status?.conditions?.find(({ type }) => type === SCHEDULED)
  if (condition === undefined) {
    const name = binding.spec.schedulerName ?? DEFAULT_SCHEDULER
    const says = `${name} has not decided yet`
    finding.links.push({ what: 'schedule', state: 'waits', says })
    const fix =
      name === DEFAULT_SCHEDULER
        ? 'see that the fleet runs on this hub: sluice up, or sluice controllers --role hub'
        : `run the scheduler ${name}`
    finding.trouble ??= { state: 'waits', says, fix }
    return
  }
  const { record } = seen
  if (condition.status === 'True') {
    const affinity = record?.affinityName === undefined ? '' : `, by affinity ${record.affinityName}`
    const count = record === undefined ? '' : `: ${record.chosen} of ${record.total} clusters${affinity}`
    finding.links.push({ what: 'schedule', state: 'ok', says: `scheduled${count}` })
    return
  }
  const { reason = 'unknown', message = '' } = condition
  const says = `not scheduled (${reason}): ${message}`
  const narrowed = narrowedBinding(binding)
  finding.links.push({
    what: 'schedule',
    state: 'fails',
    says,
    ...(narrowed === undefined ? {} : { more: [allowedText(narrowed)] }),
  })
  if (narrowed === undefined || reason !== BINDING_REASONS.noClusterFit)
    finding.trouble ??= { state: 'fails', says, fix: scheduleFix(reason, record) }
  else
    finding.trouble ??= {
      state: 'fails',
      ...(narrowedFailure(narrowed, seen) ?? { says, fix: scheduleFix(reason, record, reasonOfAllowed(narrowed, seen)) }),
    }
}

function explainSuspension(binding: Binding, finding: Finding): void {
  const hold = isHeldByUs(binding) ? recordedHold(binding.metadata.annotations ?? {}) : undefined
  const says = `scheduling is suspended${hold === undefined ? '' : `: ${hold.message}`}`
  finding.links.push({ what: 'schedule', state: 'waits', says })
  const fix = hold === undefined ? 'set spec.suspension.scheduling of the binding to false' : holdFix(binding)
  finding.trouble ??= { state: 'waits', says, fix }
}

/** Derived from the reason that counts, or else from the one that most clusters gave. */
function scheduleFix(reason: string, record: DecisionRecord | undefined, counts = mostFrequent(record)): string {
  if (reason === BINDING_REASONS.unschedulable)
    return 'ask for fewer replicas or smaller ones, let more clusters in by the placement, or free some room'
  if (record?.total === 0) return 'join a cluster: sluice join NAME --cluster-kubeconfig FILE'
  if (counts === undefined) return 'see the message; the decision is made again as soon as clusters or the policy change'
  if (counts.includes('affinity')) return 'let the placement of the policy name clusters that exist, or label them so that it does'
  if (counts.includes('taint')) return 'take the taint away, or tolerate it in the placement (clusterTolerations)'
  if (counts.includes('API resource')) return 'install the definition of this kind in a cluster, or place it where it is'
  return `most clusters say: ${counts}`
}

function mostFrequent(record: DecisionRecord | undefined): string | undefined {
  const [most] = Object.entries(record?.others ?? {}).sort(([a, x], [b, y]) => y - x || compareStrings(a, b))
  return most?.[0]
}
