/** The rules of every kind that is a pod or makes pods, by `<group>/<Kind>`. */
import type { KindRules } from '../../../kind.ts'
import { controllerRevisionRules } from './controller-revision.ts'
import { cronJobRules } from './cron-job.ts'
import { daemonSetRules } from './daemon-set.ts'
import { deploymentRules } from './deployment.ts'
import { jobRules } from './job.ts'
import { podRules } from './pod.ts'
import { podTemplateRules } from './pod-template.ts'
import { replicaSetRules, replicationControllerRules } from './replica-kinds.ts'
import { statefulSetRules } from './stateful-set.ts'

export const workloadRules: Readonly<Record<string, KindRules>> = {
  '/Pod': podRules,
  '/PodTemplate': podTemplateRules,
  '/ReplicationController': replicationControllerRules,
  'apps/Deployment': deploymentRules,
  'apps/ReplicaSet': replicaSetRules,
  'apps/StatefulSet': statefulSetRules,
  'apps/DaemonSet': daemonSetRules,
  'apps/ControllerRevision': controllerRevisionRules,
  'batch/Job': jobRules,
  'batch/CronJob': cronJobRules,
}
