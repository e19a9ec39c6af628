/** The components of a ThinRuntime, which a profile describes in advance. */
import { s } from '../schema/builder.ts'
import {
  cleanPolicy,
  containerPorts,
  environment,
  flag,
  imageFields,
  imagePullSecrets,
  networkMode,
  nodeSelector,
  podMetadata,
  resources,
  textMap,
  texts,
  volumeMounts,
} from './parts.ts'
import { componentReplicas, fuseGlobalWithoutEffect } from './runtime-parts.ts'

const { optional } = s

const shared = {
  ...imageFields,
  imagePullSecrets,
  ports: containerPorts,
  resources,
  env: environment,
  nodeSelector,
  volumeMounts,
  livenessProbe: optional(s.kubernetes('Probe')),
  readinessProbe: optional(s.kubernetes('Probe')),
  networkMode,
}

export const thinWorker = optional(
  s.object({ ...shared, replicas: componentReplicas, enabled: flag('Whether there are workers.') }, { description: 'The workers.' }),
)

export const thinFuse = optional(
  s.object(
    {
      ...shared,
      command: texts('The command of the mount.'),
      args: texts('Its arguments.'),
      options: textMap('Options of the file system.'),
      cleanPolicy,
      lifecycle: optional(s.kubernetes('Lifecycle')),
      podMetadata,
      global: fuseGlobalWithoutEffect,
    },
    { description: 'The mount of each node.' },
  ),
)
