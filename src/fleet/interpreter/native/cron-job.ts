/** batch/v1 CronJob. */
import { fieldAt, listAt, textAt } from '../../../kube/fields.ts'
import type { KindRules } from '../interpreter.ts'
import { podDependencies } from './pod-dependencies.ts'
import { type MemberStatus, memberStatuses, withStatus } from './status.ts'
import { latestTime } from './times.ts'

export const cronJobRules: KindRules = {
  aggregate: (template, items) => {
    const members = memberStatuses(items)
    const active = members.flatMap(({ status }) => listAt(status, 'active'))
    return withStatus(template, {
      ...(active.length === 0 ? {} : { active }),
      ...newest(members, 'lastScheduleTime'),
      ...newest(members, 'lastSuccessfulTime'),
    })
  },
  dependencies: (cronJob) => podDependencies(fieldAt(cronJob, 'spec', 'jobTemplate', 'spec', 'template'), cronJob.metadata.namespace ?? ''),
}

function newest(members: readonly MemberStatus[], field: string): Record<string, string> {
  const time = latestTime(members.map(({ status }) => textAt(status, field)))
  return time === undefined ? {} : { [field]: time }
}
