/**
 * The last layer of the interpreter: rules for kinds of Kubernetes itself, one file per kind. A new kind is one file and one
 * line here. Every kind, known or not, reflects its whole status unless a rule says less.
 */
import type { KindRules, Layer } from '../interpreter.ts'
import { cronJobRules } from './cron-job.ts'
import { daemonSetRules } from './daemon-set.ts'
import { deploymentRules } from './deployment.ts'
import { horizontalPodAutoscalerRules } from './horizontal-pod-autoscaler.ts'
import { ingressRules } from './ingress.ts'
import { jobRules } from './job.ts'
import { persistentVolumeRules } from './persistent-volume.ts'
import { persistentVolumeClaimRules } from './persistent-volume-claim.ts'
import { podRules } from './pod.ts'
import { podDisruptionBudgetRules } from './pod-disruption-budget.ts'
import { replicaSetRules } from './replica-set.ts'
import type { NativeOptions } from './replicas.ts'
import { secretRules } from './secret.ts'
import { serviceRules } from './service.ts'
import { serviceAccountRules } from './service-account.ts'
import { serviceImportRules } from './service-import.ts'
import { statefulSetRules } from './stateful-set.ts'
import { wholeStatus } from './status.ts'

export { pruneForMember } from './prune.ts'

const ANY_KIND: KindRules = { reflect: wholeStatus }

export function nativeLayer(options: NativeOptions = {}): Layer {
  const rules: ReadonlyMap<string, KindRules> = new Map(
    Object.entries({
      'apps/v1 Deployment': deploymentRules(options),
      'apps/v1 ReplicaSet': replicaSetRules(options),
      'apps/v1 StatefulSet': statefulSetRules(options),
      'apps/v1 DaemonSet': daemonSetRules,
      'batch/v1 Job': jobRules(options),
      'batch/v1 CronJob': cronJobRules,
      'v1 Pod': podRules(options),
      'v1 Service': serviceRules,
      'v1 ServiceAccount': serviceAccountRules,
      'v1 Secret': secretRules,
      'v1 PersistentVolume': persistentVolumeRules,
      'v1 PersistentVolumeClaim': persistentVolumeClaimRules,
      'networking.k8s.io/v1 Ingress': ingressRules,
      'policy/v1 PodDisruptionBudget': podDisruptionBudgetRules,
      'autoscaling/v2 HorizontalPodAutoscaler': horizontalPodAutoscalerRules,
      'multicluster.x-k8s.io/v1alpha1 ServiceImport': serviceImportRules,
    }).map(([kind, own]) => [kind, { ...ANY_KIND, ...own }]),
  )
  return { rulesOf: (apiVersion, kind) => rules.get(`${apiVersion} ${kind}`) ?? ANY_KIND }
}
