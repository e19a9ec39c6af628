/** The pod that runs a program of the engine: what loads, migrates and backups have in common. Pure. */
import type { Container, EnvVar, PodSpec, Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'
import { commonSpec } from '../spec.ts'
import type { BuildInput, OperationProgram } from './workload.ts'

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

export function programPod({ operation }: BuildInput, program: OperationProgram, more: More): PodSpec {
  const { resources } = commonSpec(operation)
  const { config } = program
  const env = [
    ...(config === undefined ? [] : [{ name: 'FLUID_RUNTIME_CONFIG_PATH', value: `${CONFIG_DIRECTORY}/${config.file}` }]),
    ...more.env,
  ]
  const volumes = [
    ...(config === undefined ? [] : [{ name: CONFIG_VOLUME, configMap: { name: config.configMap } }]),
    ...(more.volumes ?? []),
  ]
  const volumeMounts = [
    ...(config === undefined ? [] : [{ name: CONFIG_VOLUME, mountPath: CONFIG_DIRECTORY, readOnly: true }]),
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
