/**
 * The Job or CronJob of a data operation around the pod that does the work: names, labels and limits as Fluid makes them. The same
 * operation always gives the same objects. Pure.
 */

import type { Dataset } from '../../../kinds/fluid/index.ts'
import { datasetId } from '../../../kinds/fluid/names.ts'
import type { Operation } from '../../../kinds/fluid/operation.ts'
import { type OperationNames, operationNames } from '../../../kinds/fluid/operation-names.ts'
import type { OperationKind } from '../../../kinds/fluid/operation-parts.ts'
import { LABELS } from '../../../kinds/fluid/well-known.ts'
import type { ConfigMap, CronJob, Job, JobSpec, NodeAffinity, PodSpec } from '../../../kinds/kubernetes/types.ts'
import type { OwnerReference } from '../../../kube/meta.ts'
import { withNodeAffinity } from '../affinity.ts'
import { commonSpec, isCron } from '../spec.ts'

/** What a builder knows. */
export interface BuildInput {
  operation: Operation
  dataset: Dataset
  /** What the engine of the dataset is called in labels: cache, alluxio, … */
  runtimeType: string
  /** Where the operation's predecessor ran, as far as it is to run there as well. */
  nodeAffinity?: NodeAffinity
  /** What the engine says of this kind of operation; undefined: it cannot do it. */
  program?: OperationProgram
}

export interface OperationProgram {
  image: string
  imagePullPolicy?: string
  command?: readonly string[]
  args?: readonly string[]
  imagePullSecrets?: PodSpec['imagePullSecrets']
  /** The ConfigMap with what programs of the cache are told, and the name of the file in it. */
  config?: { configMap: string; file: string }
  /** The Secret with the key of the cache, which the program of the class, and no other, may read. */
  keySecret?: string
  /** It says by its exit code when another attempt would end in the same way. */
  saysFinal?: boolean
  /** Where it says how far it is: `GET /progress` at this port of its pod. */
  progressPort?: number
  /** Whether it may read from loopback and private addresses: the administrator's choice. */
  allowsPrivateAddresses?: boolean
}

/** The pod, and what of the Job is not as always. */
export interface Work {
  podSpec: PodSpec
  job?: Omit<JobSpec, 'template'>
  /** The label `app` instead of the engine's name. */
  app?: string
  podLabels?: Record<string, string>
  podAnnotations?: Record<string, string>
  jobLabels?: Record<string, string>
  jobAnnotations?: Record<string, string>
  /** Of the ConfigMap; undefined: none is needed. */
  data?: Record<string, string>
}

export interface Workload {
  configMap?: ConfigMap
  /** One of the two. */
  job?: Job
  cronJob?: CronJob
}

const NO_ISTIO = { 'sidecar.istio.io/inject': 'false' }
const BACKOFF_LIMIT = 3

export const namesOf = ({ kind, metadata: { name = '' } }: Operation): OperationNames => operationNames(kind as OperationKind, name)

export function workloadOf(input: BuildInput, work: Work): Workload {
  const { operation } = input
  const names = namesOf(operation)
  const spec = jobSpecOf(input, work)
  const { data } = work
  const configMap: ConfigMap | undefined =
    data === undefined
      ? undefined
      : { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(input, names.configMap, commonLabels(input)), data }
  const annotations = work.jobAnnotations === undefined ? {} : { annotations: work.jobAnnotations }
  const labels = { ...labelsOf(input, work, isCron(operation) ? 'cronjob' : 'job'), ...work.jobLabels }
  if (!isCron(operation))
    return {
      configMap,
      job: { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...metadataOf(input, names.workload, labels), ...annotations }, spec },
    }
  const { zone, times } = zonedSchedule(commonSpec(operation).schedule ?? '')
  const cronLabels = {
    ...labels,
    'fluid.io/jobPolicy': 'cron',
    ...(operation.kind === 'DataLoad' ? { dataload: operation.metadata.name ?? '' } : {}),
  }
  return {
    configMap,
    cronJob: {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: metadataOf(input, names.workload, cronLabels),
      spec: {
        schedule: times,
        ...(zone === undefined ? {} : { timeZone: zone }),
        // Two runs of one operation would write the same files.
        concurrencyPolicy: 'Forbid',
        jobTemplate: { metadata: { labels: { ...labelsOf(input, work, 'job'), cronjob: names.workload }, ...annotations }, spec },
      },
    },
  }
}

/** A server refuses a time zone within the schedule, and has a field for it. */
export function zonedSchedule(schedule: string): { zone?: string; times: string } {
  const [, zone, times] = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/s.exec(schedule) ?? []
  return zone === undefined || times === undefined ? { times: schedule } : { zone, times }
}

function jobSpecOf(input: BuildInput, work: Work): JobSpec {
  const { operation, nodeAffinity } = input
  const { podMetadata, affinity, tolerations, nodeSelector, schedulerName } = commonSpec(operation)
  const { podSpec } = work
  const whole: PodSpec = {
    ...podSpec,
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(schedulerName === undefined ? {} : { schedulerName }),
    ...withNodeAffinity(podSpec.affinity ?? affinity, nodeAffinity),
  }
  return {
    backoffLimit: BACKOFF_LIMIT,
    completions: 1,
    parallelism: 1,
    ...work.job,
    template: {
      metadata: {
        labels: {
          ...work.podLabels,
          ...podMetadata?.labels,
          ...labelsOf(input, work, 'pod'),
          ...(isCron(operation) ? { cronjob: namesOf(operation).workload } : {}),
        },
        annotations: { ...NO_ISTIO, ...work.podAnnotations, ...podMetadata?.annotations },
      },
      spec: whole,
    },
  }
}

function labelsOf(input: BuildInput, { app }: Work, role: 'job' | 'cronjob' | 'pod'): Record<string, string> {
  const names = namesOf(input.operation)
  return {
    ...commonLabels(input),
    release: names.release,
    role: `${names.role}-${role}`,
    app: app ?? input.runtimeType,
    targetDataset: input.dataset.metadata.name ?? '',
    ...(input.operation.kind === 'DataMigrate' && role === 'pod' ? { 'fluid.io/operation': `migrate-${idOf(input.dataset)}` } : {}),
  }
}

const idOf = ({ metadata: { namespace = '', name = '', uid = '' } }: Dataset): string => datasetId({ namespace, name, uid })

const commonLabels = ({ dataset }: BuildInput): Record<string, string> => ({
  [LABELS.managedBy]: 'fluid',
  [LABELS.datasetId]: idOf(dataset),
})

function metadataOf({ operation }: BuildInput, name: string, labels: Record<string, string>) {
  return { namespace: operation.metadata.namespace ?? '', name, labels, ownerReferences: [ownerOf(operation)] }
}

const ownerOf = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: Operation): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: false,
})
