/**
 * What a DataMigrate runs: the program of the engine, told where the data is and where it goes. Datasets, claims and directories are
 * mounted; values of Secrets are files that are named. Pure.
 */
import type { DataMigrate } from '../../../kinds/fluid/index.ts'
import { parseMountPoint } from '../../../kinds/fluid/mount-point.ts'
import { cleanPath } from '../../../kinds/fluid/paths.ts'
import type { EnvVar, Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'
import { programJob, programPod } from './program.ts'
import type { BuildInput, OperationProgram, Work } from './workload.ts'

const SECRETS = '/etc/fluid/secrets'

type Spec = NonNullable<DataMigrate['spec']>

interface Place {
  /** As the program finds it. */
  described: Record<string, unknown>
  volumes: Volume[]
  volumeMounts: VolumeMount[]
}

export function migrateWork(input: BuildInput, program: OperationProgram): Work {
  const { spec } = input.operation as DataMigrate
  const [from, to] = [placeOf('from', spec, input), placeOf('to', spec, input)]
  const { parallelism = 1, options = {}, image, imageTag, imagePullPolicy } = spec ?? {}
  const isOwnImage = image !== undefined && image !== ''
  // An image of the author's choice gets no key, and nobody knows what it serves.
  const run = isOwnImage
    ? { ...program, image: withTag(image, imageTag), imagePullPolicy, keySecret: undefined, saysFinal: false, progressPort: undefined }
    : program
  const env: EnvVar[] = [
    { name: 'SLUICE_MIGRATE_FROM', value: JSON.stringify(from.described) },
    { name: 'SLUICE_MIGRATE_TO', value: JSON.stringify(to.described) },
    { name: 'SLUICE_MIGRATE_PARALLELISM', value: String(parallelism) },
    ...Object.entries(OPTIONS).flatMap(([option, name]) => (options[option] === undefined ? [] : [{ name, value: options[option] }])),
  ]
  const podSpec = programPod(input, run, {
    container: 'migrate',
    env,
    volumes: [...from.volumes, ...to.volumes],
    volumeMounts: [...from.volumeMounts, ...to.volumeMounts],
  })
  return { ...programJob(run), podSpec, jobLabels: { parallelism: String(parallelism) } }
}

/** Those of a migration; all others are of the storage outside. */
const OPTIONS: Readonly<Record<string, string>> = {
  delete: 'SLUICE_MIGRATE_DELETE',
  checksum: 'SLUICE_MIGRATE_CHECKSUM',
  allowLeftOut: 'SLUICE_MIGRATE_ALLOW_LEFT_OUT',
}

export const withTag = (image: string, tag: string | undefined): string => (tag === undefined || tag === '' ? image : `${image}:${tag}`)

function placeOf(side: 'from' | 'to', spec: Spec | undefined, { dataset }: BuildInput): Place {
  const end = spec?.[side]
  const readOnly = side === 'from'
  const path = `/fluid/${side}`
  const mounted = (uri: string, source: Omit<Volume, 'name'>, subPath: string): Place => ({
    described: { uri, path, ...(subPath === '' ? {} : { subPath }) },
    volumes: [{ name: side, ...source }],
    volumeMounts: [{ name: side, mountPath: path, ...(readOnly ? { readOnly } : {}) }],
  })
  const claim = (claimName: string): Omit<Volume, 'name'> => ({ persistentVolumeClaim: { claimName, ...(readOnly ? { readOnly } : {}) } })
  if (end?.dataset !== undefined) {
    const subPath = cleanPath(`/${end.dataset.path ?? ''}`).slice(1)
    const place = `dataset://${dataset.metadata.namespace ?? ''}/${end.dataset.name}`
    return mounted(subPath === '' ? place : `${place}/${subPath}`, claim(end.dataset.name), subPath)
  }
  const uri = end?.externalStorage?.uri ?? ''
  const { value } = parseMountPoint(uri)
  if (value?.kind === 'pvc') return mounted(uri, claim(value.claim), value.subPath)
  if (value?.kind === 'local') return mounted(uri, { hostPath: { path: value.path } }, '')
  return outside(side, uri, spec)
}

function outside(side: 'from' | 'to', uri: string, spec: Spec | undefined): Place {
  const directoryOf = (secret: string): string => `${SECRETS}/${side}/${secret}`
  const encrypted = (spec?.[side].externalStorage?.encryptOptions ?? []).flatMap(({ name, valueFrom }) => {
    const { name: secret, key = name } = valueFrom?.secretKeyRef ?? {}
    return secret === undefined ? [] : [{ option: name, secret, file: `${directoryOf(secret)}/${key}` }]
  })
  const volumes = [...new Set(encrypted.map(({ secret }) => secret))].map((secretName, i) => ({
    name: `${side}-secret-${i}`,
    secret: { secretName },
  }))
  const options = Object.fromEntries(Object.entries(spec?.options ?? {}).filter(([option]) => !Object.hasOwn(OPTIONS, option)))
  return {
    described: { uri, options, encryptOptions: Object.fromEntries(encrypted.map(({ option, file }) => [option, file])) },
    volumes,
    volumeMounts: volumes.map(({ name, secret }) => ({ name, mountPath: directoryOf(secret.secretName), readOnly: true })),
  }
}
