/** The sources a PersistentVolume can have: exactly one, each with its required fields. */
import { child, type FieldError, forbidden, invalid, keyed, required, tooLong } from '../../../../kube/field-error.ts'
import { byteLength } from '../../../../kube/go-print.ts'
import { checkDns1123Label, checkDns1123Subdomain } from '../../../../kube/names.ts'
import {
  boolean,
  defaultString,
  defaultValue,
  type Fields,
  field,
  items,
  maybeObject,
  maybeString,
  number,
  object,
  string,
  stringEntries,
} from '../fields.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../formats.ts'
import { invalidEach, unsupported } from '../pod/errors.ts'
import { unifiedDiff } from '../pod/unified-diff.ts'

type SourceCheck = (path: string, source: Fields, volumeName: string) => FieldError[]

interface SourceKind {
  key: string
  /** Path under which the source's own failures are reported, where it differs from the key. */
  shownAs?: string
  /** Path of the error about a second source. */
  secondAs?: string
  check: SourceCheck
}

const need =
  (...keys: string[]): SourceCheck =>
  (path, source) =>
    keys.flatMap((key) => (string(source, key) === '' && items(source, key).length === 0 ? [required(child(path, key))] : []))

const partition = (path: string, source: Fields): FieldError[] => {
  const value = number(source, 'partition')
  return value < 0 || value > 255 ? [invalid(child(path, 'partition'), value, 'must be between 1 and 255, inclusive')] : []
}

const secretNames = (path: string, source: Fields): FieldError[] => {
  const secret = maybeObject(source, 'secretRef')
  return secret === undefined ? [] : need('name', 'namespace')(child(path, 'secretRef'), secret, '')
}

const noBackSteps = (path: string, value: string): FieldError[] =>
  value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : []

const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

function hostPath(path: string, source: Fields): FieldError[] {
  const where = string(source, 'path')
  if (where === '') return [required(child(path, 'path'))]
  const type = maybeString(source, 'type')
  return [
    ...noBackSteps(child(path, 'path'), where),
    ...(type === undefined || HOST_PATH_TYPES.includes(type) ? [] : [unsupported(child(path, 'type'), type, HOST_PATH_TYPES)]),
  ]
}

function local(path: string, source: Fields): FieldError[] {
  return string(source, 'path') === '' ? [required(child(path, 'path'))] : noBackSteps(child(path, 'path'), string(source, 'path'))
}

function nfs(path: string, source: Fields): FieldError[] {
  const errors = need('server', 'path')(path, source, '')
  const where = string(source, 'path')
  return where.startsWith('/') ? errors : [...errors, invalid(child(path, 'path'), where, 'must be an absolute path')]
}

const isIscsiName = (name: string): boolean =>
  (name.startsWith('iqn') && /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/.test(name)) ||
  (name.startsWith('eui') && /^eui.[A-Za-z0-9]{16}$/.test(name)) ||
  (name.startsWith('naa') && /^naa.[A-Za-z0-9]{32}$/.test(name))

function iscsi(path: string, source: Fields, volumeName: string): FieldError[] {
  const errors = need('targetPortal')(path, source, '')
  const portal = string(source, 'targetPortal')
  const initiator = maybeString(source, 'initiatorName')
  if (initiator !== undefined && byteLength(`${volumeName}:${portal}`) > 64)
    errors.push(
      invalid(
        child(path, 'targetportal'),
        portal,
        'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
      ),
    )
  const iqn = string(source, 'iqn')
  if (iqn === '') errors.push(required(child(path, 'iqn')))
  else if (!isIscsiName(iqn)) errors.push(invalid(child(path, 'iqn'), iqn, 'must be valid format'))
  const lun = number(source, 'lun')
  if (lun < 0 || lun > 255) errors.push(invalid(child(path, 'lun'), lun, 'must be between 0 and 255, inclusive'))
  const secret = maybeObject(source, 'secretRef')
  if (secret === undefined && (boolean(source, 'chapAuthDiscovery') || boolean(source, 'chapAuthSession')))
    errors.push(required(child(path, 'secretRef')))
  if (secret !== undefined && string(secret, 'name') === '') errors.push(required(child(path, 'secretRef', 'name')))
  if (initiator !== undefined && !isIscsiName(initiator))
    errors.push(invalid(child(path, 'initiatorname'), initiator, 'must be valid format'))
  return errors
}

function fibreChannel(path: string, source: Fields): FieldError[] {
  const [targets, ids] = [items(source, 'targetWWNs'), items(source, 'wwids')]
  const at = child(path, 'targetWWNs')
  const errors: FieldError[] = []
  if (targets.length + ids.length === 0) errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'))
  if (targets.length > 0 && ids.length > 0) errors.push(invalid(at, targets, 'targetWWNs and wwids can not be specified simultaneously'))
  if (targets.length === 0) return errors
  const lun = field(source, 'lun')
  if (typeof lun !== 'number') errors.push(required(child(path, 'lun'), 'lun is required if targetWWNs is specified'))
  else if (lun < 0 || lun > 255) errors.push(invalid(child(path, 'lun'), lun, 'must be between 0 and 255, inclusive'))
  return errors
}

function glusterfs(path: string, source: Fields): FieldError[] {
  const errors = need('endpoints', 'path')(path, source, '')
  const namespace = maybeString(source, 'endpointsNamespace')
  if (namespace === undefined) return errors
  const at = child(path, 'endpointsNamespace')
  if (namespace === '') return [...errors, invalid(at, namespace, 'if the endpointnamespace is set, it must be a valid namespace name')]
  return [...errors, ...invalidEach(at, namespace, checkDns1123Label(namespace))]
}

function flocker(path: string, source: Fields): FieldError[] {
  const [name, uuid] = [string(source, 'datasetName'), string(source, 'datasetUUID')]
  const errors: FieldError[] = []
  if (name === '' && uuid === '') errors.push(required(path, 'one of datasetName and datasetUUID is required'))
  if (name !== '' && uuid !== '') errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
  if (name.includes('/')) errors.push(invalid(child(path, 'datasetName'), name, "must not contain '/'"))
  return errors
}

function quobyte(path: string, source: Fields): FieldError[] {
  const pairs = 'must be a host:port pair or multiple pairs separated by commas'
  const registry = string(source, 'registry')
  const errors: FieldError[] = []
  if (registry === '') errors.push(required(child(path, 'registry'), pairs))
  else if (byteLength(string(source, 'tenant')) >= 65)
    errors.push(required(child(path, 'tenant'), 'must be a UUID and may not exceed a length of 64 characters'))
  else
    for (const pair of registry.split(','))
      if (!/^([^:[\]]*|\[[^[\]]*\]):[^:]*$/.test(pair)) errors.push(invalid(child(path, 'registry'), registry, pairs))
  return [...errors, ...need('volume')(path, source, '')]
}

function flexVolume(path: string, source: Fields): FieldError[] {
  const errors = need('driver')(path, source, '')
  for (const [key] of stringEntries(source, 'options')) {
    const domain = `.${(key.includes('/') ? key.slice(0, key.indexOf('/')) : key).toLowerCase()}`
    if (domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io'))
      errors.push(invalid(keyed(child(path, 'options'), key), key, 'kubernetes.io and k8s.io namespaces are reserved'))
  }
  return errors
}

function azureFile(path: string, source: Fields): FieldError[] {
  const errors = need('secretName', 'shareName')(path, source, '')
  return maybeString(source, 'secretNamespace') === '' ? [...errors, required(child(path, 'secretNamespace'))] : errors
}

function azureDisk(path: string, source: Fields): FieldError[] {
  const errors = need('diskName', 'diskURI')(path, source, '')
  const [caching, kind, uri] = [maybeString(source, 'cachingMode'), maybeString(source, 'kind'), string(source, 'diskURI')]
  const cachings = ['None', 'ReadOnly', 'ReadWrite']
  const kinds = ['Dedicated', 'Managed', 'Shared']
  if (caching !== undefined && !cachings.includes(caching)) errors.push(unsupported(child(path, 'cachingMode'), caching, cachings))
  if (kind !== undefined && !kinds.includes(kind)) errors.push(unsupported(child(path, 'kind'), kind, kinds))
  const managed = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
  const blob = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'
  if (kind === 'Managed' && !uri.startsWith('/subscriptions/')) errors.push(unsupported(child(path, 'diskURI'), uri, [managed]))
  if (kind !== undefined && kind !== 'Managed' && !uri.startsWith('https://')) errors.push(unsupported(child(path, 'diskURI'), uri, [blob]))
  return errors
}

function storageOs(path: string, source: Fields): FieldError[] {
  const [name, namespace] = [string(source, 'volumeName'), string(source, 'volumeNamespace')]
  return [
    ...(name === '' ? [required(child(path, 'volumeName'))] : dnsLabelErrors(child(path, 'volumeName'), name)),
    ...(namespace === '' ? [] : dnsLabelErrors(child(path, 'volumeNamespace'), namespace)),
    ...secretNames(path, source),
  ]
}

/** The name of a CSI driver may have upper-case letters. */
export function csiDriverNameErrors(path: string, name: string): FieldError[] {
  if (name === '') return [required(path)]
  return [...(byteLength(name) > 63 ? [tooLong(path, 63)] : []), ...invalidEach(path, name, checkDns1123Subdomain(name.toLowerCase()))]
}

function csi(path: string, source: Fields): FieldError[] {
  const errors = [...csiDriverNameErrors(child(path, 'driver'), string(source, 'driver')), ...need('volumeHandle')(path, source, '')]
  for (const key of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef']) {
    const secret = maybeObject(source, key)
    if (secret === undefined) continue
    const [name, namespace] = [string(secret, 'name'), string(secret, 'namespace')]
    const [namePath, namespacePath] = [child(path, key, 'name'), child(path, key, 'namespace')]
    errors.push(...(name === '' ? [required(namePath)] : dnsSubdomainErrors(namePath, name)))
    errors.push(...(namespace === '' ? [required(namespacePath)] : dnsLabelErrors(namespacePath, namespace)))
  }
  return errors
}

/** In the order the real server checks them: it reports the second one it finds. */
const SOURCES: readonly SourceKind[] = [
  { key: 'hostPath', check: hostPath },
  {
    key: 'gcePersistentDisk',
    shownAs: 'persistentDisk',
    check: (path, source) => [...need('pdName')(path, source, ''), ...partition(path, source)],
  },
  { key: 'awsElasticBlockStore', check: (path, source) => [...need('volumeID')(path, source, ''), ...partition(path, source)] },
  { key: 'glusterfs', check: glusterfs },
  { key: 'flocker', check: flocker },
  { key: 'nfs', check: nfs },
  { key: 'rbd', check: need('monitors', 'image') },
  { key: 'quobyte', check: quobyte },
  { key: 'cephfs', secondAs: 'cephFS', check: need('monitors') },
  { key: 'iscsi', check: iscsi },
  { key: 'cinder', check: (path, source) => [...need('volumeID')(path, source, ''), ...secretNames(path, source)] },
  { key: 'fc', check: fibreChannel },
  { key: 'flexVolume', check: flexVolume },
  { key: 'azureFile', check: azureFile },
  { key: 'vsphereVolume', check: need('volumePath') },
  { key: 'photonPersistentDisk', check: need('pdID') },
  { key: 'portworxVolume', check: need('volumeID') },
  { key: 'azureDisk', check: azureDisk },
  { key: 'scaleIO', check: need('gateway', 'system', 'volumeName') },
  { key: 'local', check: local },
  { key: 'storageos', check: storageOs },
  { key: 'csi', check: csi },
]

export function sourceErrors(spec: Fields, options: { path: string; name: string; hasAffinity: boolean }): FieldError[] {
  const { path } = options
  const errors: FieldError[] = []
  let count = 0
  for (const { key, shownAs = key, secondAs = key, check } of SOURCES) {
    const source = maybeObject(spec, key)
    if (source === undefined) continue
    if (count > 0 && key !== 'flexVolume') {
      errors.push(forbidden(child(path, secondAs), 'may not specify more than 1 volume type'))
      continue
    }
    count++
    errors.push(...check(child(path, shownAs), source, options.name))
    if (key === 'local' && !options.hasAffinity) errors.push(required(child(path, 'nodeAffinity'), 'Local volume requires node affinity'))
  }
  return count === 0 ? [...errors, required(path, 'must specify a volume type')] : errors
}

/** The sources of a spec alone. A secret for expansion may be added later: with `before`, an added one is left out. */
export function sourcesOf(spec: Fields, before?: Fields): Fields {
  const out: Fields = {}
  for (const { key } of SOURCES) if (field(spec, key) !== undefined) out[key] = spec[key]
  const oldCsi = maybeObject(before, 'csi')
  if (oldCsi === undefined || field(oldCsi, 'controllerExpandSecretRef') !== undefined || maybeObject(out, 'csi') === undefined) return out
  const { controllerExpandSecretRef: _, ...csi } = object(out, 'csi')
  return { ...out, csi }
}

const GO_ORDER =
  'GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD Quobyte ISCSI FlexVolume Cinder CephFS FC Flocker AzureFile VsphereVolume AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO Local StorageOS CSI'.split(
    ' ',
  )

/** What changed, as the real server shows it: the struct of all sources, with the unset ones as null. */
export function sourceDiff(before: Fields, after: Fields): string {
  const render = (spec: Fields): string => {
    const known = new Map(SOURCES.map(({ key }) => [key.toLowerCase(), key]))
    const shown: Fields = {}
    for (const name of GO_ORDER) {
      const source = maybeObject(spec, known.get(name.toLowerCase()) ?? '')
      shown[name] = source === undefined ? null : Object.fromEntries(Object.entries(source).map(([key, value]) => [goName(key), value]))
    }
    return JSON.stringify(shown, null, 1)
  }
  return unifiedDiff(render(before), render(after))
}

const goName = (key: string): string => `${key.charAt(0).toUpperCase()}${key.slice(1)}`

export function sourceDefaults(spec: Fields): void {
  const set = (key: string, apply: (source: Fields) => void): void => {
    const source = maybeObject(spec, key)
    if (source !== undefined) apply(source)
  }
  set('hostPath', (source) => defaultValue(source, 'type', ''))
  set('iscsi', (source) => defaultString(source, 'iscsiInterface', 'default'))
  set('rbd', (source) => {
    defaultString(source, 'pool', 'rbd')
    defaultString(source, 'user', 'admin')
    defaultString(source, 'keyring', '/etc/ceph/keyring')
  })
  set('azureDisk', (source) => {
    defaultValue(source, 'cachingMode', 'ReadWrite')
    defaultValue(source, 'kind', 'Shared')
    defaultValue(source, 'fsType', 'ext4')
    defaultValue(source, 'readOnly', false)
  })
  set('scaleIO', (source) => {
    defaultString(source, 'storageMode', 'ThinProvisioned')
    defaultString(source, 'fsType', 'xfs')
  })
}
