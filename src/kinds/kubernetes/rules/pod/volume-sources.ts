/**
 * The rules of each kind of volume source, by its key in a volume. Sources that need more than themselves (projected,
 * downward API, ephemeral) live in files of their own.
 */
import { type FieldError, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { checkDns1123Label, checkDns1123Subdomain, nameIsDnsSubdomain, rangeMessage } from '../../../../kube/names.ts'
import { boolean, type Fields, isSet, maybeNumber, maybeObject, maybeString, number, objects, string, strings } from '../fields.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'
import { backstepErrors, descendingPathErrors, isAbsolutePath, localPathErrors } from './volume-paths.ts'

type SourceRule = (path: string, source: Fields) => FieldError[]

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive'
const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']

const requireTexts = (path: string, source: Fields, keys: readonly string[]): FieldError[] =>
  keys.filter((key) => string(source, key) === '').map((key) => required(`${path}.${key}`))

export const fileModeErrors = (field: string, mode: number | undefined): FieldError[] =>
  mode !== undefined && (mode < 0 || mode > 0o777) ? [invalid(field, mode, FILE_MODE)] : []

/** The items of a ConfigMap or Secret, in a volume or in a projection. */
export const keyToPathErrors = (path: string, item: Fields): FieldError[] => [
  ...requireTexts(path, item, ['key', 'path']),
  ...localPathErrors(`${path}.path`, string(item, 'path')),
  ...fileModeErrors(`${path}.mode`, maybeNumber(item, 'mode')),
]

const keyedSource =
  (nameKey: string): SourceRule =>
  (path, source) => [
    ...requireTexts(path, source, [nameKey]),
    ...fileModeErrors(`${path}.defaultMode`, maybeNumber(source, 'defaultMode')),
    ...objects(source, 'items').flatMap((item, i) => keyToPathErrors(`${path}.items[${i}]`, item)),
  ]

const partitionedDisk =
  (nameKey: string): SourceRule =>
  (path, source) => {
    const partition = number(source, 'partition')
    const errors = requireTexts(path, source, [nameKey])
    if (partition < 0 || partition > 255) errors.push(invalid(`${path}.partition`, partition, rangeMessage(1, 255)))
    return errors
  }

const secretRefName = (path: string, source: Fields): FieldError[] => {
  const secretRef = maybeObject(source, 'secretRef')
  return secretRef !== undefined && string(secretRef, 'name') === '' ? [required(`${path}.secretRef.name`)] : []
}

const hostPath: SourceRule = (path, source) => {
  if (string(source, 'path') === '') return [required(`${path}.path`)]
  const type = maybeString(source, 'type')
  return [
    ...backstepErrors(`${path}.path`, string(source, 'path')),
    ...(type !== undefined && !HOST_PATH_TYPES.includes(type) ? [unsupported(`${path}.type`, type, HOST_PATH_TYPES)] : []),
  ]
}

const nfs: SourceRule = (path, source) => [
  ...requireTexts(path, source, ['server', 'path']),
  ...(isAbsolutePath(string(source, 'path')) ? [] : [invalid(`${path}.path`, string(source, 'path'), 'must be an absolute path')]),
]

const ISCSI_NAMES: readonly (readonly [prefix: string, format: RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
]

function iscsiNameErrors(field: string, name: string): FieldError[] {
  const known = ISCSI_NAMES.find(([prefix]) => name.startsWith(prefix))
  if (known === undefined) return [invalid(field, name, 'must be valid format starting with iqn, eui, or naa')]
  return known[1].test(name) ? [] : [invalid(field, name, 'must be valid format')]
}

const iscsi: SourceRule = (path, source) => {
  const lun = number(source, 'lun')
  const initiator = maybeString(source, 'initiatorName')
  const hasChap = boolean(source, 'chapAuthDiscovery') || boolean(source, 'chapAuthSession')
  return [
    ...requireTexts(path, source, ['targetPortal', 'iqn']),
    ...(string(source, 'iqn') === '' ? [] : iscsiNameErrors(`${path}.iqn`, string(source, 'iqn'))),
    ...(lun < 0 || lun > 255 ? [invalid(`${path}.lun`, lun, rangeMessage(0, 255))] : []),
    ...(hasChap && !isSet(source, 'secretRef') ? [required(`${path}.secretRef`)] : []),
    ...(initiator === undefined ? [] : iscsiNameErrors(`${path}.initiatorname`, initiator)),
  ]
}

const flocker: SourceRule = (path, source) => {
  const [name, uuid] = [string(source, 'datasetName'), string(source, 'datasetUUID')]
  const errors: FieldError[] = []
  if (name === '' && uuid === '') errors.push(required(path, 'one of datasetName and datasetUUID is required'))
  if (name !== '' && uuid !== '') errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
  if (name.includes('/')) errors.push(invalid(`${path}.datasetName`, name, "must not contain '/'"))
  return errors
}

const QUOBYTE_REGISTRY = 'must be a host:port pair or multiple pairs separated by commas'

const quobyte: SourceRule = (path, source) => {
  const registry = string(source, 'registry')
  const errors: FieldError[] = []
  if (registry === '') errors.push(required(`${path}.registry`, QUOBYTE_REGISTRY))
  else if (string(source, 'tenant').length >= 65) {
    errors.push(required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'))
  } else {
    for (const pair of registry.split(',')) if (!isHostPort(pair)) errors.push(invalid(`${path}.registry`, registry, QUOBYTE_REGISTRY))
  }
  return [...errors, ...requireTexts(path, source, ['volume'])]
}

/** What net.SplitHostPort accepts. */
const isHostPort = (pair: string): boolean => /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair)

const fc: SourceRule = (path, source) => {
  const [names, ids] = [strings(source, 'targetWWNs'), strings(source, 'wwids')]
  const lun = maybeNumber(source, 'lun')
  const errors: FieldError[] = []
  if (names.length === 0 && ids.length === 0) {
    errors.push(required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (names.length > 0 && ids.length > 0) {
    errors.push(invalid(`${path}.targetWWNs`, names, 'targetWWNs and wwids can not be specified simultaneously'))
  }
  if (names.length > 0) {
    if (lun === undefined) errors.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'))
    else if (lun < 0 || lun > 255) errors.push(invalid(`${path}.lun`, lun, rangeMessage(0, 255)))
  }
  return errors
}

const DISK_URI_MANAGED = ['/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}']
const DISK_URI_BLOB = ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd']

const azureDisk: SourceRule = (path, source) => {
  const [uri, mode, kind] = [string(source, 'diskURI'), maybeString(source, 'cachingMode'), maybeString(source, 'kind')]
  const errors = requireTexts(path, source, ['diskName', 'diskURI'])
  const modes = ['None', 'ReadOnly', 'ReadWrite']
  const kinds = ['Dedicated', 'Managed', 'Shared']
  if (mode !== undefined && !modes.includes(mode)) errors.push(unsupported(`${path}.cachingMode`, mode, modes))
  if (kind !== undefined && !kinds.includes(kind)) errors.push(unsupported(`${path}.kind`, kind, kinds))
  if (kind === 'Managed' && !uri.startsWith('/subscriptions/')) errors.push(unsupported(`${path}.diskURI`, uri, DISK_URI_MANAGED))
  if (kind !== undefined && kind !== 'Managed' && !uri.startsWith('https://'))
    errors.push(unsupported(`${path}.diskURI`, uri, DISK_URI_BLOB))
  return errors
}

const storageos: SourceRule = (path, source) => {
  const [name, namespace] = [string(source, 'volumeName'), string(source, 'volumeNamespace')]
  return [
    ...(name === '' ? [required(`${path}.volumeName`)] : invalidEach(`${path}.volumeName`, name, checkDns1123Label(name))),
    ...(namespace === '' ? [] : invalidEach(`${path}.volumeNamespace`, namespace, checkDns1123Label(namespace))),
    ...secretRefName(path, source),
  ]
}

const csi: SourceRule = (path, source) => {
  const driver = string(source, 'driver')
  const secretRef = maybeObject(source, 'nodePublishSecretRef')
  const errors: FieldError[] = []
  if (driver === '') errors.push(required(`${path}.driver`))
  else {
    if (Buffer.byteLength(driver) > 63) errors.push(tooLong(`${path}.driver`, 63))
    appendAll(errors, invalidEach(`${path}.driver`, driver, checkDns1123Subdomain(driver.toLowerCase())))
  }
  if (secretRef !== undefined) {
    const name = string(secretRef, 'name')
    if (name === '') errors.push(required(`${path}.nodePublishSecretRef.name`))
    else appendAll(errors, invalidEach(`${path}.name`, name, nameIsDnsSubdomain(name, false)))
  }
  return errors
}

/** Pull policies of containers and of image volumes. */
export function pullPolicyErrors(field: string, policy: string): FieldError[] {
  if (policy === '') return [required(field)]
  return PULL_POLICIES.includes(policy) ? [] : [unsupported(field, policy, PULL_POLICIES)]
}

export const imageSourceErrors = (path: string, source: Fields, isPod: boolean): FieldError[] => [
  ...(isPod && string(source, 'reference') === '' ? [required(`${path}.reference`)] : []),
  ...pullPolicyErrors(`${path}.pullPolicy`, string(source, 'pullPolicy')),
]

export const SOURCE_RULES: Readonly<Record<string, SourceRule>> = {
  hostPath,
  gitRepo: (path, source) => [
    ...requireTexts(path, source, ['repository']),
    ...descendingPathErrors(`${path}.directory`, string(source, 'directory')),
  ],
  gcePersistentDisk: partitionedDisk('pdName'),
  awsElasticBlockStore: partitionedDisk('volumeID'),
  secret: keyedSource('secretName'),
  configMap: keyedSource('name'),
  nfs,
  iscsi,
  glusterfs: (path, source) => requireTexts(path, source, ['endpoints', 'path']),
  flocker,
  persistentVolumeClaim: (path, source) => requireTexts(path, source, ['claimName']),
  rbd: (path, source) => [
    ...(strings(source, 'monitors').length === 0 ? [required(`${path}.monitors`)] : []),
    ...requireTexts(path, source, ['image']),
  ],
  cinder: (path, source) => [...requireTexts(path, source, ['volumeID']), ...secretRefName(path, source)],
  cephfs: (path, source) => (strings(source, 'monitors').length === 0 ? [required(`${path}.monitors`)] : []),
  quobyte,
  fc,
  azureFile: (path, source) => requireTexts(path, source, ['secretName', 'shareName']),
  vsphereVolume: (path, source) => requireTexts(path, source, ['volumePath']),
  photonPersistentDisk: (path, source) => requireTexts(path, source, ['pdID']),
  portworxVolume: (path, source) => requireTexts(path, source, ['volumeID']),
  azureDisk,
  storageos,
  scaleIO: (path, source) => requireTexts(path, source, ['gateway', 'system', 'volumeName']),
  csi,
}
