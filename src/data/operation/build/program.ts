/** The pod that runs a program of the engine: what loads, migrates and backups have in common. Pure. */
import type { Container, EnvVar, PodSpec, Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'
import { commonSpec } from '../spec.ts'
import type { BuildInput, OperationProgram, Work } from './workload.ts'

export interface NoProgram {
  reason: string
  message: string
}

interface More {
  container: string
  env: readonly EnvVar[]
  volumes?: readonly Volume[]
  volumeMounts?: readonly VolumeMount[]
}

const CONFIG_VOLUME = 'fluid-runtime-config'
const CONFIG_DIRECTORY = '/etc/fluid/config'
const KEY_VOLUME = 'sluice-cache-key'
const KEY_DIRECTORY = '/etc/sluice/key'
/** On a Job, where the author of a pod cannot choose it. */
export const PROGRESS_PORT = 'sluice.dev/progress-port'
/** Refused as it is configured; ended with something left out that would be left out again. */
const FINAL_EXIT_CODES = [2, 3]

/** What programs of our own cache are told beside their environment: see docs/design/0017-programs.md. */
export function programPod({ operation, dataset }: BuildInput, program: OperationProgram, more: More): PodSpec {
  const { resources } = commonSpec(operation)
  const { config, keySecret } = program
  const { namespace = '', name = '' } = dataset.metadata
  const env: EnvVar[] = [
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'FLUID_DATASET_NAMESPACE', value: namespace },
    { name: 'FLUID_DATASET_NAME', value: name },
    ...(config === undefined ? [] : [{ name: 'FLUID_RUNTIME_CONFIG_PATH', value: `${CONFIG_DIRECTORY}/${config.file}` }]),
    ...(program.allowsPrivateAddresses === true ? [{ name: 'SLUICE_ALLOW_PRIVATE_ADDRESSES', value: 'true' }] : []),
    ...more.env,
  ]
  const volumes: Volume[] = [
    ...(config === undefined ? [] : [{ name: CONFIG_VOLUME, configMap: { name: config.configMap } }]),
    ...(keySecret === undefined ? [] : [{ name: KEY_VOLUME, secret: { secretName: keySecret } }]),
    ...(more.volumes ?? []),
  ]
  const volumeMounts: VolumeMount[] = [
    ...(config === undefined ? [] : [{ name: CONFIG_VOLUME, mountPath: CONFIG_DIRECTORY, readOnly: true }]),
    ...(keySecret === undefined ? [] : [{ name: KEY_VOLUME, mountPath: KEY_DIRECTORY, readOnly: true }]),
    ...(more.volumeMounts ?? []),
  ]
  const container: Container = {
    name: more.container,
    image: program.image,
    ...(program.imagePullPolicy === undefined ? {} : { imagePullPolicy: program.imagePullPolicy }),
    ...(program.command === undefined ? {} : { command: [...program.command] }),
    ...(program.args === undefined ? {} : { args: [...program.args] }),
    env,
    ...(resources === undefined ? {} : { resources }),
    ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
  }
  return {
    restartPolicy: 'Never',
    containers: [container],
    ...(volumes.length === 0 ? {} : { volumes }),
    ...(program.imagePullSecrets === undefined ? {} : { imagePullSecrets: program.imagePullSecrets }),
  }
}

/** What of the Job depends on its program. */
export const programJob = ({ saysFinal, progressPort }: OperationProgram): Pick<Work, 'job' | 'jobAnnotations'> => ({
  ...(saysFinal === true
    ? { job: { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: FINAL_EXIT_CODES } }] } } }
    : {}),
  ...(progressPort === undefined ? {} : { jobAnnotations: { [PROGRESS_PORT]: String(progressPort) } }),
})

/** Without a command an image runs whatever it runs: never what was asked for. */
export function programProblem({ operation, runtimeType, program }: BuildInput): NoProgram | undefined {
  const { kind } = operation
  if (program === undefined)
    return {
      reason: 'DataOperationNotSupport',
      message: `RuntimeType ${runtimeType} not support ${kind}: name the operation in dataOperationSpecs of its class, or use a runtime that can do it`,
    }
  if ((program.command ?? []).length > 0 || (program.args ?? []).length > 0) return undefined
  const word = `${kind[0]?.toLowerCase()}${kind.slice(1)}`
  return {
    reason: 'DataOperationExecutionFailed',
    message: `${word} command and args defined in cache runtime class can not be both empty: give one of them in dataOperationSpecs of the class`,
  }
}
