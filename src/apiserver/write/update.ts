/**
 * The one read-modify-write path: PUT, every kind of PATCH, apply and the updating subresources differ only in how they
 * `produce` the next object from the live one.
 */
import { deepEqual } from '../../base/json.ts'
import type { KindDefinition, MetadataChecks } from '../../kinds/kind.ts'
import { keepTimesWhenUnchanged } from '../../kube/apply/index.ts'
import type { FieldError } from '../../kube/field-error.ts'
import { invalid } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { nameIsPathSegment } from '../../kube/names.ts'
import { conflictError, failure, invalidError, notFoundError, staleConflictError } from '../../kube/status.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../kube/validate-meta.ts'
import { convertTo, mutableCopy, registryKey, type Stored } from '../objects.ts'
import type { WriteOptions } from '../options.ts'
import { type Scope, warn } from '../scope.ts'
import { mutatingAdmission, validatingAdmission } from './admit.ts'
import { admitAndStore, applyStoredDefaults, asStored, checkSize, kindOfErrors, ruleContext } from './create.ts'
import { trackManagedFields } from './managed-fields.ts'
import { alignNamespace, carryOverMetadata, checkName, dedupeOwnerReferences } from './metadata.ts'

export interface UpdateRequest {
  name: string
  options: WriteOptions
  /**
   * The next object in the request's version, private, decoded and defaulted. `live` is frozen, in the request's version;
   * undefined when there is none and `mayCreate` allows making one.
   */
  produce(live: KubeObject | undefined): KubeObject | Promise<KubeObject>
  mayCreate: boolean
  /** Apply has set managed fields itself. */
  ownsManagedFields?: boolean
  /** PUT: a uid in the body is a precondition. */
  uidIsPrecondition?: boolean
}

export interface Updated {
  /** Storage version. */
  object: KubeObject
  created: boolean
}

const MAX_TRIES = 10
const CUSTOM_METADATA_CHECKS: MetadataChecks = {
  standardFinalizers: false,
  update: { asChange: 1, asNew: 0 },
  status: { asChange: 1, asNew: 0 },
}

export function updateObject(scope: Scope, update: UpdateRequest): Promise<Updated> {
  const { served, server, info } = scope
  return server.objects.exclusively(served, info.namespace, update.name, async () => {
    for (let attempt = 1; ; attempt++) {
      const stored = server.objects.get(served, info.namespace, update.name)
      if (stored === undefined) return createInstead(scope, update)
      const object = await updateOnce(scope, update, stored)
      if (object !== undefined) return { object, created: false }
      if (attempt >= MAX_TRIES) throw staleConflictError(served.groupResource, update.name)
    }
  })
}

async function createInstead(scope: Scope, update: UpdateRequest): Promise<Updated> {
  if (!update.mayCreate) throw notFoundError(scope.served.groupResource, update.name)
  const produced = await update.produce(undefined)
  checkName(produced, update.name)
  if ((produced.metadata.uid ?? '') !== '')
    throw conflictError(
      scope.served.groupResource,
      update.name,
      `uid mismatch: the provided object specified uid ${produced.metadata.uid}, and no existing object was found`,
    )
  alignNamespace(scope, produced)
  dedupeOwnerReferences(scope, produced, false)
  const tracked = update.ownsManagedFields
    ? produced
    : trackManagedFields(scope, { live: undefined, next: produced, manager: update.options.fieldManager })
  return { object: await admitAndStore(scope, tracked, update.options), created: true }
}

/** Undefined when a concurrent write came first and everything must be computed again. */
async function updateOnce(scope: Scope, update: UpdateRequest, stored: Stored): Promise<KubeObject | undefined> {
  const { served, server } = scope
  const old = stored.object
  const live = convertTo(served, old, served.apiVersion)
  const produced = await update.produce(live)
  checkName(produced, update.name)
  alignNamespace(scope, produced)
  checkUidPrecondition(scope, update, produced, old)
  dedupeOwnerReferences(scope, produced, false)
  const tracked = update.ownsManagedFields
    ? produced
    : trackManagedFields(scope, { live, next: produced, manager: update.options.fieldManager })
  const admitted = { operation: 'UPDATE' as const, name: update.name, dryRun: update.options.dryRun, oldObject: old }
  await mutatingAdmission(scope, { ...admitted, object: tracked })
  dedupeOwnerReferences(scope, tracked, true)

  const prepared = asStored(scope, tracked)
  checkRevision(scope, update.name, prepared, old)
  prepareUpdate(scope, prepared, old)
  applyStoredDefaults(scope, prepared)
  const object = keepTimesWhenUnchanged(old, prepared)
  await validatingAdmission(scope, { ...admitted, object })

  if (isFinished(scope, object)) return removeFinished(scope, update, object, stored)
  // An object that is still stored in an earlier storage version is written even so: that is how objects are migrated.
  const isMigrated = (stored.version.object() as KubeObject).apiVersion === served.storageApiVersion
  if (isMigrated && deepEqual(object, old)) return old
  checkSize(scope, object)
  if (update.options.dryRun) return object
  const result = await server.objects.put(served, object, stored.version)
  return result.ok ? (result.version.object() as KubeObject) : undefined
}

function checkUidPrecondition(scope: Scope, update: UpdateRequest, object: KubeObject, old: KubeObject): void {
  const uid = object.metadata.uid ?? ''
  if (!update.uidIsPrecondition || uid === '' || uid === old.metadata.uid) return
  throw conflictError(
    scope.served.groupResource,
    update.name,
    `StorageError: invalid object, Code: 4, Key: ${registryKey(scope.served, old)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
  )
}

/** A resourceVersion in the body is a precondition; without one, kinds that allow it are overwritten. */
function checkRevision(scope: Scope, name: string, object: KubeObject, old: KubeObject): void {
  const given = object.metadata.resourceVersion ?? ''
  const { definition } = scope.served
  if (given === '' || given === '0') {
    if (definition.rules.allowUnconditionalUpdate === false)
      throw invalidError({ group: definition.group, kind: definition.plural }, name, [
        invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
      ])
    object.metadata.resourceVersion = old.metadata.resourceVersion
  } else if (!/^\d+$/.test(given)) throw failure(500, '', `strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`)
  else if (given !== old.metadata.resourceVersion) throw staleConflictError(scope.served.groupResource, name)
}

function prepareUpdate(scope: Scope, object: KubeObject, old: KubeObject): void {
  const { definition } = scope.served
  const { rules } = definition
  const context = ruleContext(scope, 'update')
  carryOverMetadata(object, old)
  rules.prepareForUpdate?.(object, old, context)
  const errors: FieldError[] = [
    ...metadataErrors(object, old, { definition, isSubresource: context.subresource !== '' }),
    ...(rules.validateUpdate?.(object, old, context) ?? []),
  ]
  if (errors.length > 0) throw invalidError(kindOfErrors(scope.served), object.metadata.name ?? '', errors)
  for (const text of rules.warnings?.(object, old, context) ?? []) warn(scope, text)
}

/** Checked in general and again by the kind itself, as the real server does: causes repeat, the message does not. */
function metadataErrors(
  object: KubeObject,
  old: KubeObject,
  { definition, isSubresource }: { definition: KindDefinition; isSubresource: boolean },
): FieldError[] {
  const { namespaced, rules } = definition
  const checks = rules.metadataChecks ?? CUSTOM_METADATA_CHECKS
  const passes = isSubresource ? checks.status : checks.update
  const { standardFinalizers } = checks
  const asNew = (): FieldError[] =>
    validateObjectMeta(object.metadata, { namespaced, validateName: rules.validateName, standardFinalizers })
  const asChange = (): FieldError[] => validateObjectMetaUpdate(object.metadata, old.metadata, { standardFinalizers })
  return [
    ...validateObjectMeta(object.metadata, { namespaced, validateName: nameIsPathSegment }),
    ...validateObjectMetaUpdate(object.metadata, old.metadata),
    ...Array.from({ length: passes.asNew }, asNew).flat(),
    ...Array.from({ length: passes.asChange }, asChange).flat(),
  ]
}

/** The last finalizer of an object that is being deleted is gone. */
function isFinished(scope: Scope, object: KubeObject): boolean {
  const meta = object.metadata
  if (meta.deletionTimestamp === undefined || (meta.finalizers ?? []).length > 0) return false
  if (scope.served.definition.rules.holdsDeletion?.(object) ?? false) return false
  return (meta.deletionGracePeriodSeconds ?? 0) === 0
}

async function removeFinished(scope: Scope, update: UpdateRequest, object: KubeObject, stored: Stored): Promise<KubeObject | undefined> {
  const last = mutableCopy(object)
  last.metadata.resourceVersion = stored.object.metadata.resourceVersion
  if (update.options.dryRun) return last
  // Watchers see the deleted object as it was last stored.
  const result = await scope.server.objects.remove(scope.served, stored.object, stored.version)
  return result.ok ? last : undefined
}
