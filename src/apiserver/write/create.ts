/**
 * POST, and the creating half of PUT and apply. Order as in the real server: managed fields → mutating admission →
 * system fields and the kind's preparation → validation → validating admission → the store.
 */
import { deepClone, setOwn } from '../../base/json.ts'
import { uuid } from '../../base/random.ts'
import type { RuleContext } from '../../kinds/kind.ts'
import type { FieldError } from '../../kube/field-error.ts'
import { type KubeObject, parseGroupVersion } from '../../kube/meta.ts'
import { nameIsPathSegment } from '../../kube/names.ts'
import { alreadyExistsError, failure, invalidError, type StatusError } from '../../kube/status.ts'
import { validateObjectMeta } from '../../kube/validate-meta.ts'
import type { Served } from '../catalog.ts'
import { convertTo, encodeObject, mutableCopy } from '../objects.ts'
import type { WriteOptions } from '../options.ts'
import { nowOf, type Scope, warn } from '../scope.ts'
import { mutatingAdmission, validatingAdmission } from './admit.ts'
import { trackManagedFields } from './managed-fields.ts'
import { alignNamespace, dedupeOwnerReferences, fillNewMetadata, generatedName } from './metadata.ts'

const GENERATED_NAME_TRIES = 8

/** `decoded` is private, in the request's version, defaulted. Returns the stored object in the storage version. */
export async function createObject(scope: Scope, decoded: KubeObject, options: WriteOptions): Promise<KubeObject> {
  alignNamespace(scope, decoded)
  dedupeOwnerReferences(scope, decoded, false)
  return admitAndStore(scope, trackManagedFields(scope, { live: undefined, next: decoded, manager: options.fieldManager }), options)
}

/** The same for an object whose managed fields are already set (apply). */
export async function admitAndStore(scope: Scope, tracked: KubeObject, options: WriteOptions): Promise<KubeObject> {
  const name = tracked.metadata.name ?? ''
  await mutatingAdmission(scope, { operation: 'CREATE', object: tracked, name, dryRun: options.dryRun })
  dedupeOwnerReferences(scope, tracked, true)
  const object = asStored(scope, tracked)
  const isNameGiven = (object.metadata.name ?? '') !== ''
  fillNewMetadata(scope, object)
  prepareNew(scope, object)
  await validatingAdmission(scope, { operation: 'CREATE', object, name: object.metadata.name ?? '', dryRun: options.dryRun })
  return storeNew(scope, object, { isNameGiven, dryRun: options.dryRun })
}

/** What is stored is read back as if it had been sent: fields that preparation removed come back with their defaults. */
export function applyStoredDefaults(scope: Scope, object: KubeObject): void {
  const { definition, storageApiVersion } = scope.served
  if (!definition.builtin || definition.rules.applyDefaults === undefined) return
  // Fields that this subresource may not change were put back from the stored object, which is frozen: defaults need a copy.
  thaw(object)
  definition.rules.applyDefaults(object, parseGroupVersion(storageApiVersion).version)
}

/** Replaces everything frozen below a value with copies. */
function thaw(value: object): void {
  for (const [key, child] of Object.entries(value)) {
    if (typeof child !== 'object' || child === null) continue
    if (Object.isFrozen(child)) setOwn(value, key, deepClone(child))
    else thaw(child)
  }
}

/** A private copy in the storage version. */
export function asStored(scope: Scope, object: KubeObject): KubeObject {
  const converted = convertTo(scope.served, object, scope.served.storageApiVersion)
  return converted === object ? object : mutableCopy(converted)
}

function prepareNew(scope: Scope, object: KubeObject): void {
  const { rules } = scope.served.definition
  const context = ruleContext(scope, 'create')
  if (rules.tracksGeneration) object.metadata.generation = 1
  rules.prepareForCreate?.(object, context)
  const { standardFinalizers = false, afterOwnChecks = false } = rules.metadataChecks ?? {}
  const { namespaced } = scope.served.definition
  const metadata = validateObjectMeta(object.metadata, { namespaced, validateName: rules.validateName, standardFinalizers })
  const own = rules.validateCreate?.(object, context) ?? []
  const errors: FieldError[] = afterOwnChecks && own.length > 0 ? own : [...metadata, ...own]
  // A name that the kind itself accepts must still work as a path segment.
  if (errors.length === 0) errors.push(...validateObjectMeta(object.metadata, { namespaced, validateName: nameIsPathSegment }))
  if (errors.length > 0) throw invalidError(kindOfErrors(scope.served), object.metadata.name ?? '', errors)
  for (const text of rules.warnings?.(object, undefined, context) ?? []) warn(scope, text)
}

async function storeNew(scope: Scope, object: KubeObject, how: { isNameGiven: boolean; dryRun: boolean }): Promise<KubeObject> {
  const { served, server } = scope
  applyStoredDefaults(scope, object)
  checkSize(scope, object)
  for (let attempt = 1; ; attempt++) {
    const { namespace = '', name = '' } = object.metadata
    let current = server.objects.get(served, namespace, name)?.object
    if (current === undefined) {
      if (how.dryRun) return object
      const result = await server.objects.put(served, object, undefined)
      if (result.ok) return result.version.object() as KubeObject
      current = result.current?.object() as KubeObject | undefined
    }
    // Only a generated name may be replaced by another.
    if (how.isNameGiven || attempt >= GENERATED_NAME_TRIES) throw existsError(scope, object, current)
    object.metadata.name = generatedName(scope, object.metadata.generateName ?? '')
  }
}

function existsError(scope: Scope, object: KubeObject, current: KubeObject | undefined): StatusError {
  const { name = '', generateName = '' } = object.metadata
  const { message = '', details } = alreadyExistsError(scope.served.groupResource, name).status
  const isMadeUp = generateName !== ''
  const said = isMadeUp ? `${message}, the server was not able to generate a unique name for the object` : message
  const isGoing = current?.metadata.deletionTimestamp !== undefined
  return failure(
    409,
    'AlreadyExists',
    isGoing ? `object is being deleted: ${said}` : said,
    isMadeUp ? { ...details, retryAfterSeconds: 1 } : details,
  )
}

/** Errors name the stored kind: an Event of events.k8s.io is validated as the core Event it becomes. */
export function kindOfErrors(served: Served): { group: string; kind: string } {
  return { group: parseGroupVersion(served.storageApiVersion).group, kind: served.definition.kind }
}

export function checkSize(scope: Scope, object: KubeObject): void {
  const limit = scope.server.limits.objectBytes
  if (isSurelyWithin(object, limit)) return
  const size = encodeObject(object).length
  if (size > limit)
    throw failure(
      413,
      'RequestEntityTooLarge',
      `Request entity is too large: the object takes ${size} bytes and at most ${limit} can be stored; split it up`,
    )
}

/** By an upper bound on the size of its strings and numbers: cheaper than serializing, which almost no object then needs. */
function isSurelyWithin(value: unknown, limit: number): boolean {
  return bytesLeft(value, limit) >= 0
}

const MAX_BYTES_OF_A_CHARACTER = 6
const MAX_BYTES_OF_A_NUMBER = 25

/** Negative as soon as the bound is exceeded. */
function bytesLeft(value: unknown, limit: number): number {
  if (typeof value === 'string') return limit - value.length * MAX_BYTES_OF_A_CHARACTER - 3
  if (typeof value !== 'object' || value === null) return limit - MAX_BYTES_OF_A_NUMBER
  let left = limit - 3
  if (Array.isArray(value)) for (let i = 0; i < value.length && left >= 0; i++) left = bytesLeft(value[i], left)
  else
    for (const key of Object.keys(value)) {
      left = bytesLeft((value as Record<string, unknown>)[key], left - key.length * MAX_BYTES_OF_A_CHARACTER - 3)
      if (left < 0) break
    }
  return left
}

export function ruleContext(scope: Scope, operation: 'create' | 'update'): RuleContext {
  // Scaling changes the object's own spec: to the rules it is an ordinary update.
  const subresource = scope.info.subresource === 'scale' ? '' : scope.info.subresource
  return { operation, subresource, now: nowOf(scope), user: scope.user, newUid: () => uuid(scope.server.random) }
}
