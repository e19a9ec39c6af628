/**
 * What a kubelet may do: the rules of ClusterRole `system:node`, narrowed to what belongs to its own node. Kubernetes keeps
 * a graph of pods and what they use; here the relation is looked up when a node asks, among the pods of one namespace.
 * PodCertificateRequests are not granted. NodeRestriction (limits on what a node may write) is admission, not here.
 */

import { isJsonObject } from '../../base/json.ts'
import type { AdmissionReader } from '../../kinds/admission.ts'
import { nodeIdentity } from '../../kinds/identity.ts'
import { parseFieldSelector, requiredField } from '../../kube/field-selector.ts'
import { goQuote } from '../../kube/go-print.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import type { Attributes, Decision } from './attributes.ts'
import { type PolicyRule, ruleAllows } from './rules.ts'

const ALLOW: Decision = { allowed: true, reason: '' }
const deny = (reason = ''): Decision => ({ allowed: false, reason })

/** undefined when the user is not a node; otherwise whether the node is allowed to. */
export function authorizeNode(ask: Attributes, read: AdmissionReader, nodeRules: readonly PolicyRule[]): Decision | undefined {
  const { isNode, nodeName } = nodeIdentity(ask.user)
  if (!isNode) return undefined
  if (nodeName === '') return deny(`unknown node for user ${goQuote(ask.user.name)}`)
  const narrowed = ask.isResource ? RESOURCES.get(`${ask.group}/${ask.resource}`)?.(ask, nodeName, read) : undefined
  if (narrowed !== undefined) return narrowed
  return nodeRules.some((rule) => ruleAllows(rule, ask)) ? ALLOW : deny()
}

type Narrow = (ask: Attributes, node: string, read: AdmissionReader) => Decision

const RESOURCES: ReadonlyMap<string, Narrow> = new Map<string, Narrow>([
  ['/secrets', (ask, node, read) => readRelated(ask, node, () => podUses(ask, { node, what: 'secret' }, read))],
  ['/configmaps', (ask, node, read) => readRelated(ask, node, () => podUses(ask, { node, what: 'configMap' }, read))],
  ['/persistentvolumeclaims', (ask, node, read) => claimAccess(ask, node, read)],
  ['/persistentvolumes', (ask, node, read) => getRelated(ask, node, () => volumeUsed(ask.name, node, read))],
  ['resource.k8s.io/resourceclaims', (ask, node, read) => getRelated(ask, node, () => podUses(ask, { node, what: 'resourceClaim' }, read))],
  ['storage.k8s.io/volumeattachments', (ask, node, read) => getRelated(ask, node, () => specNode(read, ask) === node)],
  ['/serviceaccounts', (ask, node, read) => serviceAccountAccess(ask, node, read)],
  ['coordination.k8s.io/leases', (ask, node) => leaseAccess(ask, node)],
  ['storage.k8s.io/csinodes', (ask, node) => csiNodeAccess(ask, node)],
  ['resource.k8s.io/resourceslices', (ask, node, read) => sliceAccess(ask, node, read)],
  ['/nodes', (ask, node) => nodeAccess(ask, node)],
  ['/pods', (ask, node, read) => podAccess(ask, node, read)],
])

const OWN_VERBS = new Set(['get', 'create', 'update', 'patch', 'delete'])

function related(ask: Attributes, node: string, isRelated: () => boolean): Decision {
  if (ask.name === '') return deny('No Object name found')
  return isRelated() ? ALLOW : deny(`no relationship found between node '${node}' and this object`)
}

function getRelated(ask: Attributes, node: string, isRelated: () => boolean): Decision {
  if (ask.verb !== 'get') return deny('can only get individual resources of this type')
  if (ask.subresource !== '') return deny('cannot get subresource')
  return related(ask, node, isRelated)
}

function readRelated(ask: Attributes, node: string, isRelated: () => boolean): Decision {
  if (ask.verb !== 'get' && ask.verb !== 'list' && ask.verb !== 'watch') return deny('can only read resources of this type')
  if (ask.subresource !== '') return deny('cannot read subresource')
  if (ask.namespace === '') return deny('can only read namespaced object of this type')
  return related(ask, node, isRelated)
}

function claimAccess(ask: Attributes, node: string, read: AdmissionReader): Decision {
  const isUsed = () => podUses(ask, { node, what: 'persistentVolumeClaim' }, read)
  if (ask.subresource !== 'status') return getRelated(ask, node, isUsed)
  if (ask.verb !== 'update' && ask.verb !== 'patch') return deny('can only get/update/patch this type')
  return related(ask, node, isUsed)
}

function serviceAccountAccess(ask: Attributes, node: string, read: AdmissionReader): Decision {
  const isUsed = () => podUses(ask, { node, what: 'serviceAccount' }, read)
  if (ask.verb === 'get' && ask.subresource === '') return readRelated(ask, node, isUsed)
  if (ask.verb !== 'create' || ask.name === '') return deny('can only create tokens for individual service accounts')
  if (ask.subresource !== 'token') return deny('can only create token subresource of serviceaccount')
  return related(ask, node, isUsed)
}

function leaseAccess(ask: Attributes, node: string): Decision {
  if (!OWN_VERBS.has(ask.verb)) return deny('can only get, create, update, patch, or delete a node lease')
  if (ask.namespace !== 'kube-node-lease') return deny('can only access leases in the "kube-node-lease" system namespace')
  if (ask.verb !== 'create' && ask.name !== node) return deny('can only access node lease with the same name as the requesting node')
  return ALLOW
}

function csiNodeAccess(ask: Attributes, node: string): Decision {
  if (!OWN_VERBS.has(ask.verb)) return deny('can only get, create, update, patch, or delete a CSINode')
  if (ask.subresource !== '') return deny('cannot authorize CSINode subresources')
  if (ask.verb !== 'create' && ask.name !== node) return deny('can only access CSINode with the same name as the requesting node')
  return ALLOW
}

function sliceAccess(ask: Attributes, node: string, read: AdmissionReader): Decision {
  if (ask.subresource !== '') return deny('cannot authorize ResourceSlice subresources')
  if (ask.verb === 'create') return ALLOW
  if (OWN_VERBS.has(ask.verb)) return related(ask, node, () => specNode(read, ask) === node)
  if (selects(ask, 'spec.nodeName', node)) return ALLOW
  return deny('can only list/watch/deletecollection resourceslices with nodeName field selector')
}

function nodeAccess(ask: Attributes, node: string): Decision {
  const isWrite = ask.verb === 'update' || ask.verb === 'patch'
  if (ask.subresource === 'status') return isWrite ? ALLOW : deny()
  if (ask.subresource !== '') return deny()
  if (isWrite || ask.verb === 'create') return ALLOW
  if (ask.verb !== 'get' && ask.verb !== 'list' && ask.verb !== 'watch') return deny()
  if (ask.name === node) return ALLOW
  if (ask.name === '') return deny(`node '${node}' cannot read all nodes, only its own Node object`)
  return deny(`node '${node}' cannot read '${ask.name}', only its own Node object`)
}

function podAccess(ask: Attributes, node: string, read: AdmissionReader): Decision {
  if (ask.subresource === 'status') return ask.verb === 'update' || ask.verb === 'patch' ? ALLOW : deny()
  if (ask.subresource === 'eviction') return ask.verb === 'create' ? ALLOW : deny()
  if (ask.subresource !== '') return deny()
  if (ask.verb === 'create' || ask.verb === 'delete') return ALLOW
  if (ask.verb === 'get') return getRelated(ask, node, () => specNode(read, ask) === node)
  if (ask.verb !== 'list' && ask.verb !== 'watch') return deny()
  if (selects(ask, 'spec.nodeName', node)) return ALLOW
  if (ask.name !== '') return related(ask, node, () => specNode(read, ask) === node)
  return deny('can only list/watch pods with spec.nodeName field selector')
}

function selects(ask: Attributes, field: string, value: string): boolean {
  return requiredField(parseFieldSelector(ask.fieldSelector ?? '').value ?? [], field) === value
}

function specNode(read: AdmissionReader, ask: Attributes): unknown {
  const object = read.get({ group: ask.group, resource: ask.resource }, ask.namespace, ask.name)
  return isJsonObject(object?.spec) ? object.spec.nodeName : undefined
}

/** A volume belongs to a node when the claim it is bound to does. */
function volumeUsed(name: string, node: string, read: AdmissionReader): boolean {
  const volume = read.get({ group: '', resource: 'persistentvolumes' }, '', name)
  const claim = isJsonObject(volume?.spec) && isJsonObject(volume.spec.claimRef) ? volume.spec.claimRef : {}
  if (typeof claim.namespace !== 'string' || typeof claim.name !== 'string') return false
  return podUses({ namespace: claim.namespace, name: claim.name }, { node, what: 'persistentVolumeClaim' }, read)
}

type Used = 'secret' | 'configMap' | 'persistentVolumeClaim' | 'resourceClaim' | 'serviceAccount'

function podUses(of: ObjectRef, { node, what }: { node: string; what: Used }, read: AdmissionReader): boolean {
  return read
    .list({ group: '', resource: 'pods' }, of.namespace)
    .some((pod) => isJsonObject(pod.spec) && pod.spec.nodeName === node && namesUsed(pod, what).has(of.name))
}

/** Keys under which a pod's spec refers to an object of that type, wherever they appear (volumes, projected sources, env). */
const REFERENCES: Readonly<Record<Used, readonly (readonly [holder: string, field: string])[]>> = {
  secret: [
    ['secret', 'secretName'],
    ['secret', 'name'],
    ['secretRef', 'name'],
    ['secretKeyRef', 'name'],
    ['imagePullSecrets', 'name'],
    ['nodePublishSecretRef', 'name'],
  ],
  configMap: [
    ['configMap', 'name'],
    ['configMapRef', 'name'],
    ['configMapKeyRef', 'name'],
  ],
  persistentVolumeClaim: [['persistentVolumeClaim', 'claimName']],
  resourceClaim: [
    ['resourceClaims', 'resourceClaimName'],
    ['resourceClaimStatuses', 'resourceClaimName'],
  ],
  serviceAccount: [],
}

function namesUsed(pod: KubeObject, what: Used): Set<string> {
  const names = new Set<string>()
  const spec = isJsonObject(pod.spec) ? pod.spec : {}
  if (what === 'serviceAccount') return typeof spec.serviceAccountName === 'string' ? names.add(spec.serviceAccountName) : names
  const visit = (value: unknown, holder: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, holder)
    if (!isJsonObject(value)) return
    for (const [of, field] of REFERENCES[what]) {
      const name = of === holder ? value[field] : undefined
      if (typeof name === 'string') names.add(name)
    }
    for (const key of Object.keys(value)) visit(value[key], key)
  }
  visit(spec, '')
  if (what === 'resourceClaim') visit(pod.status, '')
  if (what === 'persistentVolumeClaim') for (const name of ephemeralClaims(pod, spec.volumes)) names.add(name)
  return names
}

/** The claim of a generic ephemeral volume is named after the pod and the volume. */
function ephemeralClaims(pod: KubeObject, volumes: unknown): string[] {
  if (!Array.isArray(volumes)) return []
  return volumes
    .filter((v) => isJsonObject(v) && isJsonObject(v.ephemeral))
    .map((v) => `${pod.metadata.name ?? ''}-${isJsonObject(v) && typeof v.name === 'string' ? v.name : ''}`)
}
