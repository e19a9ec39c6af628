/**
 * What the real server fills into a pod spec while decoding it: everything of SetDefaults_* below PodSpec, plus the
 * aliases that its conversion keeps equal (`serviceAccount`). Idempotent, and looks at nothing but the spec.
 */

import { type Fields, isFields, isSet, maybeObject, maybeString, number, objects, raw, string } from '../fields.ts'
import { usesLatestTag } from './image-name.ts'
import { roundUpToMilli } from './quantities.ts'

/** The keys of a volume that are not sources. */
const VOLUME_NAME = 'name'
const DEFAULT_MODE = 0o644

export function setDefault(target: Fields, key: string, value: unknown): void {
  if (!isSet(target, key)) target[key] = value
}

/** Unset and zero are the same for fields that are not pointers. */
function setDefaultOverZero(target: Fields, key: string, value: unknown): void {
  const current = raw(target, key)
  if (current === undefined || current === null || current === '' || current === 0) target[key] = value
}

/** The object at `key`, created if missing: structs held by value always exist. */
export function ensureFields(target: Fields, key: string): Fields {
  const current = target[key]
  if (isFields(current) && Object.hasOwn(target, key)) return current
  const made: Fields = {}
  target[key] = made
  return made
}

/** The objects of a list, each of which may be changed in place. */
function mutableItems(from: Fields, key: string): Fields[] {
  const value = raw(from, key)
  if (!Array.isArray(value)) return []
  return value.map((item, i) => {
    if (isFields(item)) return item
    const made: Fields = {}
    value[i] = made
    return made
  })
}

export function defaultPodSpec(spec: Fields): void {
  if (string(spec, 'serviceAccountName') === '' && string(spec, 'serviceAccount') !== '') spec.serviceAccountName = spec.serviceAccount
  if (string(spec, 'serviceAccountName') !== '') spec.serviceAccount = spec.serviceAccountName
  setDefaultOverZero(spec, 'dnsPolicy', 'ClusterFirst')
  setDefaultOverZero(spec, 'restartPolicy', 'Always')
  if (!isFields(raw(spec, 'securityContext'))) spec.securityContext = {}
  setDefault(spec, 'terminationGracePeriodSeconds', 30)
  setDefaultOverZero(spec, 'schedulerName', 'default-scheduler')
  for (const volume of mutableItems(spec, 'volumes')) defaultVolume(volume)
  for (const key of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of mutableItems(spec, key)) defaultContainer(container)
  }
  roundResourceMap(spec, 'overhead')
  const resources = maybeObject(spec, 'resources')
  if (resources !== undefined) roundResources(resources)
}

function defaultContainer(container: Fields): void {
  setDefaultOverZero(container, 'imagePullPolicy', usesLatestTag(string(container, 'image')) ? 'Always' : 'IfNotPresent')
  setDefaultOverZero(container, 'terminationMessagePath', '/dev/termination-log')
  setDefaultOverZero(container, 'terminationMessagePolicy', 'File')
  for (const port of mutableItems(container, 'ports')) setDefaultOverZero(port, 'protocol', 'TCP')
  for (const variable of mutableItems(container, 'env')) {
    const source = maybeObject(variable, 'valueFrom')
    defaultFieldRef(source)
    const fileKey = maybeObject(source, 'fileKeyRef')
    if (fileKey !== undefined) setDefault(fileKey, 'optional', false)
  }
  roundResources(ensureFields(container, 'resources'))
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) defaultProbe(maybeObject(container, key))
  const lifecycle = maybeObject(container, 'lifecycle')
  defaultHttpGet(maybeObject(lifecycle, 'postStart'))
  defaultHttpGet(maybeObject(lifecycle, 'preStop'))
}

function defaultProbe(probe: Fields | undefined): void {
  if (probe === undefined) return
  setDefaultOverZero(probe, 'timeoutSeconds', 1)
  setDefaultOverZero(probe, 'periodSeconds', 10)
  setDefaultOverZero(probe, 'successThreshold', 1)
  setDefaultOverZero(probe, 'failureThreshold', 3)
  defaultHttpGet(probe)
  const grpc = maybeObject(probe, 'grpc')
  if (grpc !== undefined && maybeString(grpc, 'service') === undefined) grpc.service = ''
}

function defaultHttpGet(handler: Fields | undefined): void {
  const httpGet = maybeObject(handler, 'httpGet')
  if (httpGet === undefined) return
  setDefaultOverZero(httpGet, 'path', '/')
  setDefaultOverZero(httpGet, 'scheme', 'HTTP')
}

function defaultFieldRef(holder: Fields | undefined): void {
  const fieldRef = maybeObject(holder, 'fieldRef')
  if (fieldRef !== undefined) setDefaultOverZero(fieldRef, 'apiVersion', 'v1')
}

function defaultVolume(volume: Fields): void {
  if (!Object.keys(volume).some((key) => key !== VOLUME_NAME && isSet(volume, key))) volume.emptyDir = {}
  const image = maybeObject(volume, 'image')
  if (image !== undefined) setDefaultOverZero(image, 'pullPolicy', usesLatestTag(string(image, 'reference')) ? 'Always' : 'IfNotPresent')
  const hostPath = maybeObject(volume, 'hostPath')
  if (hostPath !== undefined) setDefault(hostPath, 'type', '')
  for (const key of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const source = maybeObject(volume, key)
    if (source !== undefined) setDefault(source, 'defaultMode', DEFAULT_MODE)
  }
  for (const file of objects(maybeObject(volume, 'downwardAPI'), 'items')) defaultFieldRef(file)
  for (const source of objects(maybeObject(volume, 'projected'), 'sources')) {
    for (const file of objects(maybeObject(source, 'downwardAPI'), 'items')) defaultFieldRef(file)
    const token = maybeObject(source, 'serviceAccountToken')
    if (token !== undefined) setDefault(token, 'expirationSeconds', 3600)
  }
  defaultOldVolumeSources(volume)
  const claim = maybeObject(maybeObject(volume, 'ephemeral'), 'volumeClaimTemplate')
  if (claim !== undefined) defaultClaimSpec(ensureFields(claim, 'spec'))
}

function defaultOldVolumeSources(volume: Fields): void {
  const iscsi = maybeObject(volume, 'iscsi')
  if (iscsi !== undefined) setDefaultOverZero(iscsi, 'iscsiInterface', 'default')
  const rbd = maybeObject(volume, 'rbd')
  if (rbd !== undefined) {
    setDefaultOverZero(rbd, 'pool', 'rbd')
    setDefaultOverZero(rbd, 'user', 'admin')
    setDefaultOverZero(rbd, 'keyring', '/etc/ceph/keyring')
  }
  const azureDisk = maybeObject(volume, 'azureDisk')
  if (azureDisk !== undefined) {
    setDefault(azureDisk, 'cachingMode', 'ReadWrite')
    setDefault(azureDisk, 'fsType', 'ext4')
    setDefault(azureDisk, 'readOnly', false)
    setDefault(azureDisk, 'kind', 'Shared')
  }
  const scaleIO = maybeObject(volume, 'scaleIO')
  if (scaleIO !== undefined) {
    setDefaultOverZero(scaleIO, 'storageMode', 'ThinProvisioned')
    setDefaultOverZero(scaleIO, 'fsType', 'xfs')
  }
}

/** A claim's spec, in an ephemeral volume or in a StatefulSet's templates. */
export function defaultClaimSpec(spec: Fields): void {
  setDefault(spec, 'volumeMode', 'Filesystem')
  roundResources(ensureFields(spec, 'resources'))
}

function roundResources(resources: Fields): void {
  roundResourceMap(resources, 'limits')
  roundResourceMap(resources, 'requests')
}

/** Amounts finer than a thousandth are rounded up, as in the API since its first version. */
function roundResourceMap(holder: Fields, key: string): void {
  const amounts = maybeObject(holder, key)
  if (amounts === undefined) return
  for (const [name, amount] of Object.entries(amounts)) {
    if (typeof amount === 'string' && name !== '__proto__') amounts[name] = roundUpToMilli(amount)
  }
}

/** Ports of a pod on the host's network are host ports. */
export function defaultHostPorts(spec: Fields): void {
  for (const key of ['containers', 'initContainers']) {
    for (const container of objects(spec, key)) {
      for (const port of objects(container, 'ports')) {
        if (number(port, 'hostPort') === 0 && number(port, 'containerPort') !== 0) port.hostPort = port.containerPort
      }
    }
  }
}
