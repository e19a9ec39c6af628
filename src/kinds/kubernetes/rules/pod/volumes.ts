/**
 * Volumes of a pod spec: exactly one source each, unique names, and the rules of every source.
 */
import { duplicate, type FieldError, forbidden, invalid, required } from '../../../../kube/field-error.ts'
import { checkDns1123Label, nameIsDnsSubdomain } from '../../../../kube/names.ts'
import { entries, type Fields, isSet, maybeObject, maybeString, objects, string } from '../fields.ts'
import { claimTemplateErrors } from './claim-spec.ts'
import { appendAll, invalidEach } from './errors.ts'
import type { PodOptions } from './options.ts'
import { isNegative, toQuantity } from './quantities.ts'
import { downwardApiErrors, projectedErrors } from './volume-projection.ts'
import { imageSourceErrors, SOURCE_RULES } from './volume-sources.ts'

/** The valid volumes by name: mounts may refer to no others. */
export type Volumes = ReadonlyMap<string, Fields>

/** In the order the real server looks for them; the second path segment is what it names when there is a second source. */
const SOURCES: readonly (readonly [key: string, second?: string, path?: string])[] = [
  ['hostPath'],
  ['gitRepo'],
  ['gcePersistentDisk', 'gcePersistentDisk', 'persistentDisk'],
  ['awsElasticBlockStore'],
  ['secret'],
  ['nfs'],
  ['iscsi'],
  ['glusterfs'],
  ['flocker'],
  ['persistentVolumeClaim'],
  ['rbd'],
  ['cinder'],
  ['cephfs', 'cephFS'],
  ['quobyte'],
  ['downwardAPI', 'downwarAPI'],
  ['fc'],
  ['flexVolume'],
  ['configMap'],
  ['azureFile'],
  ['vsphereVolume'],
  ['photonPersistentDisk'],
  ['portworxVolume'],
  ['azureDisk'],
  ['storageos'],
  ['projected'],
  ['scaleIO'],
  ['csi'],
  ['ephemeral'],
  ['image'],
]

interface VolumeContext {
  podName: string
  options: PodOptions
}

export function validateVolumes(
  path: string,
  spec: Fields,
  context: { metadata: Fields | undefined; options: PodOptions },
): { volumes: Volumes; errors: FieldError[] } {
  const errors: FieldError[] = []
  const volumes = new Map<string, Fields>()
  const podName = string(context.metadata, 'name')
  const list = objects(spec, 'volumes')
  const createdClaims = new Set(
    podName === '' ? [] : list.filter((v) => isSet(v, 'ephemeral')).map((v) => `${podName}-${string(v, 'name')}`),
  )
  list.forEach((volume, i) => {
    const at = `${path}[${i}]`
    const name = string(volume, 'name')
    const found = validateSource(at, volume, { podName, options: context.options })
    if (name === '') found.push(required(`${at}.name`))
    else appendAll(found, invalidEach(`${at}.name`, name, checkDns1123Label(name)))
    if (volumes.has(name)) found.push(duplicate(`${at}.name`, name))
    if (found.length === 0) volumes.set(name, volume)
    appendAll(errors, found)
    const claimName = maybeString(maybeObject(volume, 'persistentVolumeClaim'), 'claimName')
    if (claimName !== undefined && createdClaims.has(claimName)) {
      errors.push(
        invalid(`${at}.persistentVolumeClaim.claimName`, claimName, 'must not reference a PVC that gets created for an ephemeral volume'),
      )
    }
  })
  return { volumes, errors }
}

function validateSource(at: string, volume: Fields, context: VolumeContext): FieldError[] {
  const errors: FieldError[] = []
  const emptyDir = maybeObject(volume, 'emptyDir')
  let count = emptyDir === undefined ? 0 : 1
  const sizeLimit = maybeString(emptyDir, 'sizeLimit')
  if (sizeLimit !== undefined && isNegative(toQuantity(sizeLimit))) {
    errors.push(forbidden(`${at}.emptyDir.sizeLimit`, 'SizeLimit field must be a valid resource quantity'))
  }
  for (const [key, second = key, pathKey = key] of SOURCES) {
    const source = maybeObject(volume, key)
    if (source === undefined) continue
    if (count > 0) errors.push(forbidden(`${at}.${second}`, 'may not specify more than 1 volume type'))
    else {
      count++
      appendAll(errors, sourceErrors(key, `${at}.${pathKey}`, source, context))
      if (key === 'ephemeral') appendAll(errors, ephemeralNameErrors(at, string(volume, 'name'), context))
    }
    if (key === 'iscsi') appendAll(errors, initiatorNameErrors(at, string(volume, 'name'), source))
  }
  if (count === 0) errors.push(required(at, 'must specify a volume type'))
  return errors
}

function sourceErrors(key: string, path: string, source: Fields, context: VolumeContext): FieldError[] {
  switch (key) {
    case 'downwardAPI':
      return downwardApiErrors(path, source)
    case 'projected':
      return projectedErrors(path, source, context.options)
    case 'ephemeral': {
      const template = maybeObject(source, 'volumeClaimTemplate')
      return template === undefined
        ? [required(`${path}.volumeClaimTemplate`)]
        : claimTemplateErrors(`${path}.volumeClaimTemplate`, template)
    }
    case 'flexVolume':
      return [...(string(source, 'driver') === '' ? [required(`${path}.driver`)] : []), ...flexOptionErrors(path, source)]
    case 'image':
      return imageSourceErrors(path, source, context.options.isPod)
    default:
      return SOURCE_RULES[key]?.(path, source) ?? []
  }
}

function flexOptionErrors(path: string, source: Fields): FieldError[] {
  return entries(source, 'options').flatMap(([key]) => {
    const slash = key.indexOf('/')
    const namespace = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`
    return namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io')
      ? [invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')]
      : []
  })
}

/** The claim of an ephemeral volume is named after the pod and the volume. */
function ephemeralNameErrors(at: string, name: string, { podName }: VolumeContext): FieldError[] {
  if (podName === '' || name === '') return []
  const claimName = `${podName}-${name}`
  return nameIsDnsSubdomain(claimName, false).map((message) =>
    invalid(`${at}.name`, name, `PVC name ${JSON.stringify(claimName)}: ${message}`),
  )
}

function initiatorNameErrors(at: string, name: string, iscsi: Fields): FieldError[] {
  if (!isSet(iscsi, 'initiatorName') || Buffer.byteLength(`${name}:${string(iscsi, 'targetPortal')}`) <= 64) return []
  const detail = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  return [invalid(`${at}.name`, name, detail)]
}
