/** The scale subresource: an autoscaling/v1 Scale as a view of the replica fields of any kind that declares where they are. */
import { schemaFor } from '../../kinds/kubernetes/schemas.ts'
import {
  type ApplyContext,
  parentManagedFields,
  type ScaleOwnership,
  scaleManagedFields,
  serverSideApply,
  trackUpdate,
} from '../../kube/apply/index.ts'
import { invalid } from '../../kube/field-error.ts'
import { type ApiResponse, header } from '../../kube/http.ts'
import { groupVersion, type KubeObject } from '../../kube/meta.ts'
import { applyJsonPatch, applyMergePatch, parseJsonPatch, parseObjectPatch } from '../../kube/patch/index.ts'
import { formatSelectorObject, type LabelSelectorObject } from '../../kube/selector.ts'
import { badRequestError, failure, internalServerError, invalidError, notFoundError } from '../../kube/status.ts'
import { mediaType } from '../body.ts'
import { decodeAppliedBody, decodeVirtual } from '../codec.ts'
import type { Negotiated } from '../negotiation.ts'
import { convertTo, mutableCopy } from '../objects.ts'
import { parseWriteOptions, type WriteOptions } from '../options.ts'
import { respond } from '../respond.ts'
import { nowOf, type Scope } from '../scope.ts'
import { checkName } from '../write/metadata.ts'
import { updateObject } from '../write/update.ts'

const APPLY = 'application/apply-patch+yaml'
const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const

interface Scale extends KubeObject {
  spec: { replicas?: number }
  status: { replicas: number; selector?: string }
}

export async function scale(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const { served, server, info } = scope
  const show = (object: KubeObject): ApiResponse => {
    const shown = scaleOf(scope, convertTo(served, object, served.apiVersion))
    // Ownership matters while a Scale is written; the real server does not show it.
    delete shown.metadata.managedFields
    return respond(200, shown, negotiated.format, scope.warnings)
  }
  if (info.verb === 'get') {
    const stored = server.objects.get(served, info.namespace, info.name)
    if (stored === undefined) throw notFoundError(served.groupResource, info.name)
    return show(stored.object)
  }
  const isApply = mediaType(scope.request) === APPLY
  const kind = info.verb === 'update' ? 'UpdateOptions' : 'PatchOptions'
  const options = parseWriteOptions(kind, info.query, { userAgent: header(scope.request, 'user-agent') ?? '', isApply })
  const change = info.verb === 'update' ? replacement(scope) : patched(scope, options)
  const updated = await updateObject(scope, {
    name: info.name,
    options,
    mayCreate: false,
    ownsManagedFields: true,
    produce(live) {
      if (live === undefined) throw notFoundError(served.groupResource, info.name)
      const current = scaleOf(scope, live)
      const wanted = change(current)
      checkName(wanted, info.name)
      checkReplicas(scope, wanted)
      const tracked = isApply
        ? wanted
        : trackUpdate({ live: current, next: wanted, manager: options.fieldManager, context: scaleContext(scope) })
      return withReplicas(scope, live, tracked as Scale)
    },
  })
  return show(updated.object)
}

/** The parent with the requested replicas, and with the ownership of them that the Scale now has. */
function withReplicas(scope: Scope, live: KubeObject, wanted: Scale): KubeObject {
  const next = mutableCopy(live)
  next.metadata.resourceVersion = wanted.metadata.resourceVersion ?? live.metadata.resourceVersion
  writePath(next, mappingOf(scope).specReplicasPath, wanted.spec.replicas ?? 0)
  const managedFields = parentManagedFields(ownershipOf(scope, live), wanted.metadata.managedFields ?? [])
  if (managedFields === undefined) delete next.metadata.managedFields
  else next.metadata.managedFields = managedFields
  return next
}

function ownershipOf(scope: Scope, object: KubeObject): ScaleOwnership {
  const { definition, version } = scope.served
  const path = mappingOf(scope).specReplicasPath.split('.').slice(1)
  const versions = definition.versions.filter((one) => one.served)
  return {
    parent: object.metadata.managedFields ?? [],
    group: definition.group,
    version: version.name,
    replicasPaths: new Map(versions.map((one) => [groupVersion(definition.group, one.name), path])),
  }
}

function scaleContext(scope: Scope): ApplyContext {
  return {
    gvk: SCALE,
    schemaOf: (apiVersion) => (apiVersion === 'autoscaling/v1' ? schemaFor(SCALE.group, SCALE.version, SCALE.kind) : undefined),
    convert: (object) => object,
    subresource: 'scale',
    resetPaths: [['status']],
    now: nowOf(scope),
  }
}

function mappingOf(scope: Scope): { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string } {
  return scope.served.definition.scale ?? { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
}

function scaleOf(scope: Scope, object: KubeObject): Scale {
  const mapping = mappingOf(scope)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = readPath(object, mapping.specReplicasPath)
  if (replicas === undefined && !scope.served.definition.builtin)
    throw internalServerError(`the spec replicas field ${JSON.stringify(mapping.specReplicasPath)} does not exist`)
  const status: Scale['status'] = { replicas: Number(readPath(object, mapping.statusReplicasPath) ?? 0) }
  const selector = selectorOf(scope, object)
  if (selector !== '') status.selector = selector
  const spec = Number(replicas ?? 0) === 0 ? {} : { replicas: Number(replicas) }
  const managedFields = scaleManagedFields(ownershipOf(scope, object))
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp, ...(managedFields === undefined ? {} : { managedFields }) }
  return { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata, spec, status }
}

function selectorOf(scope: Scope, object: KubeObject): string {
  const path = scope.served.definition.scale?.labelSelectorPath
  if (path !== undefined) return String(readPath(object, path) ?? '')
  if (!scope.served.definition.builtin) return ''
  const selector = readPath(object, '.spec.selector')
  if (selector === undefined) return ''
  // A ReplicationController's selector is a plain map of labels.
  const isMap = scope.served.definition.kind === 'ReplicationController'
  return formatSelectorObject((isMap ? { matchLabels: selector } : selector) as LabelSelectorObject)
}

function replacement(scope: Scope): (current: Scale) => Scale {
  const sent = decodeVirtual(scope, SCALE) as Scale
  return () => ({ ...sent, spec: sent.spec ?? {} })
}

function patched(scope: Scope, options: WriteOptions): (current: Scale) => Scale {
  const type = mediaType(scope.request)
  const text = scope.request.body ?? new Uint8Array()
  if (type === 'application/json-patch+json') {
    const operations = parseJsonPatch(text)
    return (current) => asScale(applyJsonPatch(current, operations))
  }
  if (type === 'application/merge-patch+json' || type === 'application/strategic-merge-patch+json') {
    const patch = parseObjectPatch(text)
    return (current) => asScale(applyMergePatch(current, patch))
  }
  if (type === APPLY) {
    const { object: applied } = decodeAppliedBody(text)
    const { fieldManager: manager, force } = options
    return (current) => asScale(serverSideApply({ live: current, applied, manager, force, context: scaleContext(scope) }).object)
  }
  throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
}

function asScale(value: unknown): Scale {
  const scale = value as Scale
  if (typeof scale.spec !== 'object' || scale.spec === null) return { ...scale, spec: {} }
  if (scale.spec.replicas !== undefined && !Number.isInteger(scale.spec.replicas))
    throw badRequestError('Scale in version "v1" cannot be handled as a Scale: spec.replicas must be a whole number')
  const { replicas = 0 } = scale.spec
  if (replicas !== (replicas | 0))
    throw badRequestError(
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal number ${replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    )
  return scale
}

function checkReplicas(scope: Scope, wanted: Scale): void {
  const replicas = wanted.spec.replicas ?? 0
  if (replicas >= 0) return
  const { definition } = scope.served
  if (definition.builtin)
    throw invalidError(SCALE, scope.info.name, [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')])
  throw invalidError(definition, scope.info.name, [
    invalid(mappingOf(scope).specReplicasPath, replicas, 'should be a non-negative integer'),
  ])
}

/** Paths of the scale subresource are plain dotted names (`.spec.replicas`). */
function readPath(object: KubeObject, path: string): unknown {
  let value: unknown = object
  for (const part of path.split('.').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

function writePath(object: KubeObject, path: string, value: unknown): void {
  const parts = path.split('.').slice(1)
  const last = parts.pop() ?? ''
  let at = object as Record<string, unknown>
  for (const part of parts) {
    if (!Object.hasOwn(at, part) || typeof at[part] !== 'object' || at[part] === null) at[part] = {}
    at = at[part] as Record<string, unknown>
  }
  at[last] = value
}
