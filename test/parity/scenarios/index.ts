/** All scenarios, by what they are about. */
import type { Scenario } from '../scenario.ts'
import { CRON_JOB_SCENARIOS } from './cron-jobs.ts'
import { DAEMON_SET_SCENARIOS } from './daemon-sets.ts'
import { DEPLOYMENT_SCENARIOS } from './deployments.ts'
import { DISRUPTION_SCENARIOS } from './disruption.ts'
import { GARBAGE_SCENARIOS } from './garbage.ts'
import { JOB_SCENARIOS } from './jobs.ts'
import { LEAVING_SCENARIOS } from './leaving.ts'
import { NAMESPACE_SCENARIOS } from './namespaces.ts'
import { NODE_SCENARIOS } from './nodes.ts'
import { REPLICA_SET_SCENARIOS } from './replica-sets.ts'
import { ROLLOUT_SCENARIOS } from './rollouts.ts'
import { SCHEDULING_SCENARIOS } from './scheduling.ts'
import { SERVICE_SCENARIOS } from './services.ts'
import { STATEFUL_SET_SCENARIOS } from './stateful-sets.ts'
import { STORAGE_SCENARIOS } from './storage.ts'

export const SCENARIOS: readonly Scenario[] = [
  ...DEPLOYMENT_SCENARIOS,
  ...ROLLOUT_SCENARIOS,
  ...REPLICA_SET_SCENARIOS,
  ...STATEFUL_SET_SCENARIOS,
  ...DAEMON_SET_SCENARIOS,
  ...JOB_SCENARIOS,
  ...CRON_JOB_SCENARIOS,
  ...LEAVING_SCENARIOS,
  ...STORAGE_SCENARIOS,
  ...GARBAGE_SCENARIOS,
  ...DISRUPTION_SCENARIOS,
  ...NODE_SCENARIOS,
  ...SCHEDULING_SCENARIOS,
  ...SERVICE_SCENARIOS,
  ...NAMESPACE_SCENARIOS,
]
