/**
 * What a DataMigrate runs: the program of the engine, told in a file where the data is and where it goes. Directories and claims are
 * mounted; values of Secrets are files that the description names. Pure.
 */
import type { DataMigrate } from '../../../kinds/fluid/index.ts'
import { parseMountPoint } from '../../../kinds/fluid/mount-point.ts'
import { cleanPath } from '../../../kinds/fluid/paths.ts'
import type { Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'
import { programPod } from './program.ts'
import { type BuildInput, namesOf, type OperationProgram, type Work } from './workload.ts'

const DESCRIPTION_DIRECTORY = '/etc/fluid/migrate'
const DESCRIPTION = 'migrate.json'
const SECRETS = '/etc/fluid/secrets'

type End = NonNullable<DataMigrate['spec']>['from']

interface Place {
  /** As the program finds it. */
  described: Record<string, unknown>
  volumes: Volume[]
  volumeMounts: VolumeMount[]
}

export function migrateWork(input: BuildInput, program: OperationProgram): Work {
  const { spec } = input.operation as DataMigrate
  const [from, to] = [placeOf('from', spec?.from), placeOf('to', spec?.to)]
  const { parallelism = 1, options = {}, image, imageTag, imagePullPolicy } = spec ?? {}
  const description = { from: from.described, to: to.described, parallelism, options }
  const own = image === undefined || image === '' ? program : { ...program, image: withTag(image, imageTag), imagePullPolicy }
  const podSpec = programPod(input, own, {
    container: 'migrate',
    env: [{ name: 'FLUID_DATAMIGRATE_CONFIG_PATH', value: `${DESCRIPTION_DIRECTORY}/${DESCRIPTION}` }],
    volumes: [{ name: 'migrate', configMap: { name: namesOf(input.operation).configMap } }, ...from.volumes, ...to.volumes],
    volumeMounts: [{ name: 'migrate', mountPath: DESCRIPTION_DIRECTORY, readOnly: true }, ...from.volumeMounts, ...to.volumeMounts],
  })
  return { podSpec, data: { [DESCRIPTION]: JSON.stringify(description) }, jobLabels: { parallelism: String(parallelism) } }
}

export const withTag = (image: string, tag: string | undefined): string => (tag === undefined || tag === '' ? image : `${image}:${tag}`)

function placeOf(side: 'from' | 'to', end: End | undefined): Place {
  const readOnly = side === 'from'
  const mountPath = `/fluid/${side}`
  const mounted = (source: Omit<Volume, 'name'>, path: string): Place => ({
    described: { directory: cleanPath(`${mountPath}/${path}`) },
    volumes: [{ name: side, ...source }],
    volumeMounts: [{ name: side, mountPath, ...(readOnly ? { readOnly } : {}) }],
  })
  if (end?.dataset !== undefined)
    return mounted({ persistentVolumeClaim: { claimName: end.dataset.name, ...(readOnly ? { readOnly } : {}) } }, end.dataset.path ?? '')
  const uri = end?.externalStorage?.uri ?? ''
  const { value } = parseMountPoint(uri)
  if (value?.kind === 'pvc')
    return mounted({ persistentVolumeClaim: { claimName: value.claim, ...(readOnly ? { readOnly } : {}) } }, value.subPath)
  if (value?.kind === 'local') return mounted({ hostPath: { path: value.path } }, '')
  return withSecrets(side, uri, end)
}

function withSecrets(side: 'from' | 'to', uri: string, end: End | undefined): Place {
  const directoryOf = (secret: string): string => `${SECRETS}/${side}/${secret}`
  const encrypted = (end?.externalStorage?.encryptOptions ?? []).flatMap(({ name, valueFrom }) => {
    const { name: secret, key = name } = valueFrom?.secretKeyRef ?? {}
    return secret === undefined ? [] : [{ option: name, secret, file: `${directoryOf(secret)}/${key}` }]
  })
  const volumes = [...new Set(encrypted.map(({ secret }) => secret))].map((secretName, i) => ({
    name: `${side}-secret-${i}`,
    secret: { secretName },
  }))
  return {
    described: { uri, encryptOptions: Object.fromEntries(encrypted.map(({ option, file }) => [option, file])) },
    volumes,
    volumeMounts: volumes.map(({ name, secret }) => ({ name, mountPath: directoryOf(secret.secretName), readOnly: true })),
  }
}
