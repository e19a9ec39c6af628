/** What a DataProcess runs: its script or its pod, with the dataset mounted in every container. Pure. */
import type { DataProcess } from '../../../kinds/fluid/index.ts'
import { DATASET_VOLUME, SCRIPT_VOLUME } from '../../../kinds/fluid/process-problems.ts'
import type { Container, PodSpec } from '../../../kinds/kubernetes/types.ts'
import { withTag } from './migrate.ts'
import { type BuildInput, namesOf, type Work } from './workload.ts'

const APP = 'fluid-dataprocess'
const SCRIPT_FILE = 'preprocess.sh'
const SCRIPT_PATH = `/fluid-scripts/${SCRIPT_FILE}`

export function processWork(input: BuildInput): Work {
  const { processor } = (input.operation as DataProcess).spec ?? {}
  const metadata = processor?.podMetadata
  const template = processor?.job?.template?.metadata
  const own: Pick<Work, 'app' | 'podLabels' | 'podAnnotations'> = {
    app: APP,
    podLabels: { ...template?.labels, ...metadata?.labels },
    podAnnotations: { ...template?.annotations, ...metadata?.annotations },
  }
  return processor?.script === undefined ? { ...own, ...jobWork(input) } : { ...own, ...scriptWork(input) }
}

function scriptWork(input: BuildInput): Pick<Work, 'podSpec' | 'data'> {
  const { processor } = (input.operation as DataProcess).spec ?? {}
  const {
    image = '',
    imageTag,
    imagePullPolicy,
    command,
    env,
    resources,
    restartPolicy,
    source = '',
    volumeMounts = [],
    volumes = [],
  } = processor?.script ?? {}
  const container: Container = {
    name: 'script-processor',
    image: withTag(image, imageTag),
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    ...(command === undefined ? {} : { command }),
    args: [SCRIPT_PATH],
    ...(env === undefined ? {} : { env }),
    ...(resources === undefined ? {} : { resources }),
    volumeMounts: [...volumeMounts, { name: SCRIPT_VOLUME, mountPath: SCRIPT_PATH, subPath: SCRIPT_FILE }],
  }
  const podSpec: PodSpec = {
    restartPolicy: restartPolicy ?? 'Never',
    containers: [container],
    volumes: [...volumes, { name: SCRIPT_VOLUME, configMap: { name: namesOf(input.operation).configMap, defaultMode: 0o755 } }],
  }
  return { podSpec: withDataset(input, podSpec), data: { [SCRIPT_FILE]: source } }
}

function jobWork(input: BuildInput): Pick<Work, 'podSpec' | 'job'> {
  const { podSpec = {}, template: _, ...job } = (input.operation as DataProcess).spec?.processor?.job ?? {}
  // Admission refuses what would take the Job out of the operation's hands; what came in without it has no effect.
  const { managedBy: _m, manualSelector: _s, selector: _l, suspend: _u, ttlSecondsAfterFinished: _t, ...kept } = job
  return { podSpec: withDataset(input, { ...podSpec, restartPolicy: podSpec.restartPolicy ?? 'Never' }), job: kept }
}

function withDataset({ operation }: BuildInput, podSpec: PodSpec): PodSpec {
  const { dataset, processor } = (operation as DataProcess).spec ?? {}
  const mount = {
    name: DATASET_VOLUME,
    mountPath: dataset?.mountPath ?? '',
    ...(dataset?.subPath === undefined || dataset.subPath === '' ? {} : { subPath: dataset.subPath }),
  }
  const mounted = (container: Container): Container => ({ ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] })
  const account = processor?.serviceAccountName
  return {
    ...podSpec,
    ...(account === undefined ? {} : { serviceAccountName: account }),
    containers: (podSpec.containers ?? []).map(mounted),
    ...(podSpec.initContainers === undefined ? {} : { initContainers: podSpec.initContainers.map(mounted) }),
    volumes: [...(podSpec.volumes ?? []), { name: DATASET_VOLUME, persistentVolumeClaim: { claimName: dataset?.name ?? '' } }],
  }
}
