/** What a DataBackup runs: the program of the engine, with the place of the backup mounted. Pure. */
import type { DataBackup } from '../../../kinds/fluid/index.ts'
import { parseMountPoint } from '../../../kinds/fluid/mount-point.ts'
import { programJob, programPod } from './program.ts'
import type { BuildInput, OperationProgram, Work } from './workload.ts'

const DIRECTORY = '/fluid/backup'
const VOLUME = 'backup'

export function backupWork(input: BuildInput, program: OperationProgram): Work {
  const { spec } = input.operation as DataBackup
  const { value } = parseMountPoint(spec?.backupPath ?? '')
  const { namespace = '', name = '' } = input.dataset.metadata
  const claim = value?.kind === 'pvc' ? value.claim : undefined
  const path = value?.kind === 'pvc' ? value.subPath : ''
  const env = [
    { name: 'DATASET_NAMESPACE', value: namespace },
    { name: 'DATASET_NAME', value: name },
    ...(claim === undefined ? [] : [{ name: 'BACKUP_PVC', value: claim }]),
    { name: 'BACKUP_PATH', value: path === '' ? `${DIRECTORY}/` : `${DIRECTORY}/${path}/` },
    { name: 'SLUICE_BACKUP_PATH', value: path === '' ? DIRECTORY : `${DIRECTORY}/${path}` },
  ]
  const volume =
    claim === undefined
      ? { name: VOLUME, hostPath: { path: value?.kind === 'local' ? value.path : '', type: 'DirectoryOrCreate' } }
      : { name: VOLUME, persistentVolumeClaim: { claimName: claim } }
  const podSpec = programPod(input, program, {
    container: 'tool',
    env,
    volumes: [volume],
    volumeMounts: [{ name: VOLUME, mountPath: DIRECTORY }],
  })
  const { runAs } = spec ?? {}
  return {
    ...programJob(program),
    podSpec: runAs === undefined ? podSpec : { ...podSpec, securityContext: { runAsUser: runAs.uid, runAsGroup: runAs.gid } },
  }
}

/** Of a backup that has been written. */
export function backupInfos({ spec }: DataBackup, nodeName: string | undefined): Record<string, string> {
  const { value } = parseMountPoint(spec?.backupPath ?? '')
  return {
    BackupLocationPath: spec?.backupPath ?? '',
    BackupLocationNodeName: value?.kind === 'local' ? (nodeName ?? 'NA') : 'NA',
  }
}
