/**
 * The objects a pod cannot start without: ConfigMaps, Secrets, its ServiceAccount and its PersistentVolumeClaims. Shared by
 * native rules and the Lua function `kube.getPodDependencies`. The order is fixed (by kind as listed here, then by name),
 * so that equal templates give equal answers. Since it runs for every template at every change, it walks the template once
 * and reads plain properties: none of the names here exists on every object.
 */
import { isJsonObject } from '../../../base/json.ts'
import type { Fields } from '../../../kube/fields.ts'
import { compareStrings } from '../../../kube/go-print.ts'
import type { DependentReference } from '../interpreter.ts'

export interface DependencyOptions {
  /** PersistentVolumeClaims that the owner creates itself, as a StatefulSet does. */
  ownClaims?: ReadonlySet<string>
}

export function podDependencies(template: unknown, namespace: string, options: DependencyOptions = {}): DependentReference[] {
  const pod = fields(fields(template)?.spec)
  if (pod === undefined) return []
  const found: Found = { configMaps: [], secrets: [], claims: [] }
  for (const reference of list(pod.imagePullSecrets)) addName(found.secrets, reference)
  for (const container of list(pod.initContainers)) addEnvironment(found, container)
  for (const container of list(pod.containers)) addEnvironment(found, container)
  for (const container of list(pod.ephemeralContainers)) addEnvironment(found, container)
  for (const volume of list(pod.volumes)) addVolume(found, volume, options.ownClaims)
  const accounts: string[] = []
  if (pod.serviceAccountName !== 'default') add(accounts, pod.serviceAccountName)
  const references: DependentReference[] = []
  addReferences(references, 'ConfigMap', found.configMaps, namespace)
  addReferences(references, 'Secret', found.secrets, namespace)
  addReferences(references, 'ServiceAccount', accounts, namespace)
  addReferences(references, 'PersistentVolumeClaim', found.claims, namespace)
  return references
}

/** Names, each once. */
interface Found {
  configMaps: string[]
  secrets: string[]
  claims: string[]
}

const fields = (value: unknown): Fields | undefined => (isJsonObject(value) ? value : undefined)

const NOTHING: readonly unknown[] = []
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NOTHING)

function add(names: string[], name: unknown): void {
  if (typeof name === 'string' && name !== '' && !names.includes(name)) names.push(name)
}

const addName = (names: string[], reference: unknown): void => add(names, fields(reference)?.name)

function addEnvironment(found: Found, value: unknown): void {
  const container = fields(value)
  if (container === undefined) return
  for (const source of list(container.envFrom)) {
    const from = fields(source)
    addName(found.configMaps, from?.configMapRef)
    addName(found.secrets, from?.secretRef)
  }
  for (const variable of list(container.env)) {
    const from = fields(fields(variable)?.valueFrom)
    if (from === undefined) continue
    addName(found.configMaps, from.configMapKeyRef)
    addName(found.secrets, from.secretKeyRef)
  }
}

/** Volume sources that name a Secret in a `secretRef`. */
const WITH_SECRET_REF = new Set(['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'])

function addVolume(found: Found, value: unknown, ownClaims: ReadonlySet<string> | undefined): void {
  const volume = fields(value)
  if (volume === undefined) return
  // A volume has its name and one source, so every other key is a source.
  for (const kind of Object.keys(volume)) {
    const source = fields(volume[kind])
    if (source === undefined) continue
    if (kind === 'configMap') add(found.configMaps, source.name)
    else if (kind === 'secret' || kind === 'azureFile') add(found.secrets, source.secretName)
    else if (kind === 'projected') addProjected(found, source.sources)
    else if (kind === 'csi') addName(found.secrets, source.nodePublishSecretRef)
    else if (kind === 'persistentVolumeClaim') addClaim(found.claims, source.claimName, ownClaims)
    else if (WITH_SECRET_REF.has(kind)) addName(found.secrets, source.secretRef)
  }
}

function addProjected(found: Found, sources: unknown): void {
  for (const source of list(sources)) {
    const projection = fields(source)
    addName(found.configMaps, projection?.configMap)
    addName(found.secrets, projection?.secret)
  }
}

function addClaim(claims: string[], name: unknown, own: ReadonlySet<string> | undefined): void {
  if (own === undefined || !own.has(name as string)) add(claims, name)
}

function addReferences(references: DependentReference[], kind: string, names: string[], namespace: string): void {
  if (names.length > 1) names.sort(compareStrings)
  for (const name of names)
    references.push(namespace === '' ? { apiVersion: 'v1', kind, name } : { apiVersion: 'v1', kind, namespace, name })
}
