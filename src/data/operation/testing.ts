/** For tests: data operations and their dataset. */
import type { Dataset } from '../../kinds/fluid/index.ts'
import type { Operation } from '../../kinds/fluid/operation.ts'
import type { OperationKind } from '../../kinds/fluid/operation-parts.ts'
import type { Job } from '../../kinds/kubernetes/types.ts'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'

const NAMESPACE = 'default'
export const CREATED = '2025-06-01T10:00:00Z'
export const CREATED_MS = Date.parse(CREATED)

const SPECS: Readonly<Record<OperationKind, Record<string, unknown>>> = {
  DataLoad: { dataset: { name: 'demo', namespace: NAMESPACE }, policy: 'Once' },
  DataMigrate: {
    from: { externalStorage: { uri: 's3://lake/a' } },
    to: { dataset: { name: 'demo', namespace: NAMESPACE } },
    policy: 'Once',
    parallelism: 1,
  },
  DataBackup: { dataset: 'demo', backupPath: 'pvc://backups/demo' },
  DataProcess: {
    dataset: { name: 'demo', namespace: NAMESPACE, mountPath: '/data' },
    processor: { script: { image: 'busybox', imageTag: '1', source: 'ls', restartPolicy: 'Never' } },
    policy: 'Once',
  },
}

/** All four. */
export const KINDS = Object.keys(SPECS) as readonly OperationKind[]

export function anOperation(kind: OperationKind, content: { spec?: object; status?: object; metadata?: ObjectMeta } = {}): Operation {
  return {
    apiVersion: 'data.fluid.io/v1alpha1',
    kind,
    metadata: { namespace: NAMESPACE, name: 'one', ...content.metadata },
    spec: { ...SPECS[kind], ...content.spec },
    ...(content.status === undefined ? {} : { status: { phase: '', duration: '', conditions: [], ...content.status } }),
  } as unknown as Operation
}

export const aDataset = (phase = 'Bound'): Dataset =>
  ({
    apiVersion: 'data.fluid.io/v1alpha1',
    kind: 'Dataset',
    metadata: { namespace: NAMESPACE, name: 'demo', uid: 'd-1' },
    spec: { mounts: [{ mountPoint: 's3://lake/images' }] },
    status: { phase, conditions: [], runtimes: [{ name: 'demo', namespace: NAMESPACE, category: 'Accelerate', type: 'cache' }] },
  }) as unknown as Dataset

/** At `endedAt`, if it has ended; behind a condition that says less. */
export function aJob(
  name: string,
  { type, endedAt = CREATED, createdAt = CREATED }: { type?: string; endedAt?: string; createdAt?: string } = {},
): Job {
  const conditions = [
    { type: 'SuccessCriteriaMet', status: 'True', reason: 'CompletionsReached', lastTransitionTime: endedAt },
    {
      type,
      status: 'True',
      reason: type === 'Failed' ? 'BackoffLimitExceeded' : 'CompletionsReached',
      message: 'over',
      lastTransitionTime: endedAt,
    },
  ]
  const job: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: NAMESPACE, name, creationTimestamp: createdAt },
    status: type === undefined ? { active: 1 } : { conditions },
  }
  return job as Job
}
