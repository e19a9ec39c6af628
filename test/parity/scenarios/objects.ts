/** Small objects for scenarios. `spec` adds to, or replaces, what the short form gives. */
import type {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodTemplateSpec,
  ReplicaSet,
  ResourceQuota,
  Service,
  StatefulSet,
} from '../../../src/kinds/kubernetes/types.ts'

type Spec = Record<string, unknown>

/** No node has it: pods with it stay pending. */
export const NOWHERE = { nodeSelector: { 'parity.test/none': 'such' } }

export const template = (app: string, image = 'app:1', spec: Spec = {}): PodTemplateSpec => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 0, ...spec },
})

export const stuck = (app: string, image = 'app:2'): PodTemplateSpec => template(app, image, NOWHERE)

export const deployment = (name: string, replicas: number, spec: Spec = {}): Deployment =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  }) as Deployment

export const replicaSet = (name: string, replicas: number, spec: Spec = {}): ReplicaSet =>
  ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  }) as ReplicaSet

export const statefulSet = (name: string, replicas: number, spec: Spec = {}): StatefulSet =>
  ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: { replicas, serviceName: name, selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  }) as StatefulSet

export const daemonSet = (name: string, spec: Spec = {}): DaemonSet =>
  ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  }) as DaemonSet

export const job = (name: string, spec: Spec = {}, podSpec: Spec = {}): Job =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      template: {
        spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'app:1' }], ...podSpec },
      },
      ...spec,
    },
  }) as Job

export const cronJob = (name: string, schedule: string, spec: Spec = {}): CronJob =>
  ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name },
    spec: { schedule, jobTemplate: { spec: job(name).spec }, ...spec },
  }) as CronJob

export const pod = (name: string, labels: Record<string, string> = {}, spec: Spec = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: { containers: [{ name: 'main', image: 'app:1' }], terminationGracePeriodSeconds: 0, ...spec },
  }) as Pod

/** A container that asks for this much. */
export const asking = (cpu: string, memory = '1Gi'): Spec => ({
  containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu, memory } } }],
})

export const service = (name: string, spec: Spec = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  }) as Service

export const budget = (name: string, spec: Spec): PodDisruptionBudget =>
  ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, ...spec },
  }) as PodDisruptionBudget

export const quota = (name: string, hard: Record<string, string>, spec: Spec = {}): ResourceQuota =>
  ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard, ...spec } }) as ResourceQuota

export const volume = (name: string, storage: string, spec: Spec = {}): PersistentVolume =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], csi: { driver: 'parity.test', volumeHandle: name }, ...spec },
  }) as PersistentVolume

export const claim = (name: string, storage: string, spec: Spec = {}): PersistentVolumeClaim =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
  }) as PersistentVolumeClaim

export const using = (claimName: string): Spec => ({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] })

/** A node that both kwok and our simulated nodes can run. */
export const node = (name: string): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'sluice.dev/node': 'simulated',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      },
    },
    status: { allocatable: { cpu: '8', memory: '32Gi', pods: '110' }, capacity: { cpu: '8', memory: '32Gi', pods: '110' } },
  }) as Node
