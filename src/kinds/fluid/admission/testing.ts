/** For tests: admits an object through the same steps and in the same order as a server: defaults, what admission changes, schema, what admission refuses. */
import { deepClone, deepFreeze } from '../../../base/json.ts'
import { type FieldError, fieldErrorMessage } from '../../../kube/field-error.ts'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'
import type { AdmissionContext, AdmissionRequest } from '../../admission.ts'
import type { OwnKind } from '../../schema/define-kind.ts'
import { fluidKinds } from '../index.ts'
import { fluidAdmission, type HostPathPrefixes } from './index.ts'

export interface Coming {
  /** Updated when there is an old one, created otherwise. */
  old?: KubeObject
  /** What exists besides. */
  existing?: readonly KubeObject[]
  /** Default: all. */
  hostPathPrefixes?: HostPathPrefixes
  /** Whether the namespace of the other dataset consents (default true). */
  mayRefer?: boolean
  /** Whether the user may create pods (default true). */
  mayCreatePods?: boolean
}

export interface Verdict {
  object: KubeObject
  /** What the schema drops. */
  unknown: string[]
  /** What the schema refuses; admission sees only what passes it. */
  schema: string[]
  /** What admission refuses. */
  refused: string[]
  warnings: string[]
}

const USER = { name: 'ann', groups: [] }

/** Metadata is the minimum that the kind needs; `content` is everything else, of any shape. */
export function anObject(kind: OwnKind, content: Record<string, unknown>, metadata: ObjectMeta = {}): KubeObject {
  return {
    apiVersion: `${kind.group}/${kind.storageVersion}`,
    kind: kind.kind,
    metadata: { name: 'one', ...(kind.scope === 'Namespaced' ? { namespace: 'work' } : {}), ...metadata },
    ...deepClone(content),
  }
}

export async function admit(
  coming: KubeObject,
  { old, existing = [], hostPathPrefixes = 'all', mayRefer = true, mayCreatePods = true }: Coming = {},
): Promise<Verdict> {
  const kind = fluidKinds.find((own) => own.kind === coming.kind)
  if (kind === undefined) throw new Error(`no kind ${coming.kind}`)
  const object = deepClone(coming)
  const { definition } = kind
  const unknown = definition.versions[0]?.coerce?.(object).unknown ?? []
  definition.rules.applyDefaults?.(object, kind.storageVersion)
  const admissions = fluidAdmission({ hostPathPrefixes, mayRefer: () => mayRefer }).filter(
    ({ resources, operations }) =>
      resources.some(({ group, resource }) => group === kind.group && resource === kind.plural) &&
      operations.includes(old === undefined ? 'CREATE' : 'UPDATE'),
  )
  const warnings: string[] = []
  const given = { ...contextOf(existing, warnings), authorMay: async () => mayCreatePods }
  for (const { mutate } of admissions) await mutate?.({ ...requestOf(kind, object, old), object }, given)
  const context = { operation: old === undefined ? 'create' : 'update', subresource: '', now: '2025-06-01T10:20:30Z', user: USER } as const
  const schema =
    (old === undefined ? definition.rules.validateCreate?.(object, context) : definition.rules.validateUpdate?.(object, old, context)) ?? []
  if (schema.length > 0) return { object, unknown, schema: schema.map(fieldErrorMessage), refused: [], warnings: [] }
  const request = requestOf(kind, object, old)
  const errors: FieldError[] = []
  for (const { validate } of admissions) errors.push(...((await validate?.(request, given)) ?? []))
  return { object, unknown, schema: [], refused: errors.map(fieldErrorMessage), warnings }
}

function requestOf(kind: OwnKind, object: KubeObject, oldObject: KubeObject | undefined): AdmissionRequest {
  return {
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    group: kind.group,
    resource: kind.plural,
    version: kind.storageVersion,
    kind: kind.kind,
    subresource: '',
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
    object: deepFreeze(deepClone(object)),
    ...(oldObject === undefined ? {} : { oldObject: deepFreeze(deepClone(oldObject)) }),
    user: USER,
    dryRun: false,
  }
}

const pluralOf = ({ kind }: KubeObject): string => fluidKinds.find((own) => own.kind === kind)?.plural ?? `${kind.toLowerCase()}s`

function contextOf(existing: readonly KubeObject[], warnings: string[]): AdmissionContext {
  const of = (resource: string) => existing.filter((object) => pluralOf(object) === resource)
  return {
    read: {
      get: ({ resource }, namespace, name) =>
        of(resource).find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace),
      list: ({ resource }) => of(resource),
    },
    nowMs: 0,
    newUid: () => '00000000-0000-4000-8000-000000000000',
    warn: (message) => void warnings.push(message),
    authorMay: async () => true,
    async adjust() {
      throw new Error('nothing here changes other objects')
    },
  }
}
