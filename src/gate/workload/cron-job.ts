/**
 * batch/v1 CronJob: its Jobs. It never fails as a whole, because the next Job may succeed. It succeeded with its first
 * successful Job, and every later one is another run, identified by the time when it succeeded.
 */
import { containerAmounts, quantitiesOf } from '../../kinds/kubernetes/pod-amounts.ts'
import { type Amounts, type ReadonlyAmounts, scaleOfResource } from '../../kube/amounts.ts'
import { fieldAt, fieldsAt, numberAt, textAt } from '../../kube/fields.ts'
import { formatInstant, isZeroTime, parseTime } from '../../kube/go-time.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { scaledValue } from '../../kube/quantity.ts'
import { demandOfNeeds, queueing } from './queueing.ts'
import { notEnded } from './reported.ts'
import type { WorkloadKind } from './workload.ts'

const POD_TEMPLATE = ['spec', 'jobTemplate', 'spec', 'template'] as const

export const cronJob: WorkloadKind = {
  group: 'batch',
  kind: 'CronJob',
  isEndless: false,
  stateOf: (status) => (latestSuccess(status) === undefined ? notEnded(status) : 'succeeded'),
  runOf: latestSuccess,
  ...queueing({ podTemplates: (template) => [fieldAt(template, ...POD_TEMPLATE)] }),
  demandOf(template, needs) {
    const demand = demandOfNeeds(needs)
    return demand.size > 0 ? demand : demandOfOneJob(template)
  },
}

/** In one form, so that the same time is the same text. */
function latestSuccess(status: unknown): string | undefined {
  const at = parseTime(textAt(status, 'lastSuccessfulTime') ?? '').value
  return at === undefined || isZeroTime(at) ? undefined : formatInstant(at)
}

/** The interpreter has no replicas for a CronJob. As for a Job, a limit without a request is the request. */
function demandOfOneJob(template: KubeObject): ReadonlyAmounts {
  const spec = fieldsAt(template, 'spec', 'jobTemplate', 'spec')
  const parallelism = numberAt(spec, 'parallelism') ?? 1
  const pods = Math.max(0, Math.min(parallelism, numberAt(spec, 'completions') ?? parallelism))
  const ofPod = containerAmounts(
    fieldsAt(template, ...POD_TEMPLATE, 'spec'),
    (resources) => new Map([...quantitiesOf(resources, 'limits'), ...quantitiesOf(resources, 'requests')]),
  )
  const total: Amounts = new Map()
  for (const [name, quantity] of ofPod) {
    const amount = pods * Number(scaledValue(quantity, scaleOfResource(name)))
    if (amount > 0) total.set(name, amount)
  }
  return total
}
