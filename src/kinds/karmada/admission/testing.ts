/** For tests: admits an object through the same steps and in the same order as a server. */
import { deepClone, deepFreeze } from '../../../base/json.ts'
import { seededRandom, uuid } from '../../../base/random.ts'
import { type FieldError, fieldErrorMessage } from '../../../kube/field-error.ts'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'
import type { AdmissionContext, AdmissionRequest, Right } from '../../admission.ts'
import type { RuleContext } from '../../kind.ts'
import type { OwnKind } from '../../schema/define-kind.ts'
import { type KarmadaAdmissionOptions, karmadaAdmission } from './index.ts'

export const NOW = '2025-06-01T10:20:30Z'

export interface Coming {
  metadata?: ObjectMeta
  old?: KubeObject
  /** The existing objects of the same kind. */
  stored?: readonly KubeObject[]
  options?: KarmadaAdmissionOptions
  /** What the author may do (default: anything). */
  may?(right: Right): boolean
}

export interface Admitted {
  object: KubeObject
  /** What the schema refuses; admission sees only what passes it. */
  schema: string[]
  /** What admission refuses. */
  refused: string[]
}

/** Metadata is the minimum that the kind needs; `content` is everything else, of any shape. */
export function aComing(kind: OwnKind, content: Record<string, unknown>, metadata: ObjectMeta = {}): KubeObject {
  const namespace = kind.scope === 'Namespaced' ? { namespace: 'work' } : {}
  return {
    apiVersion: `${kind.group}/${kind.storageVersion}`,
    kind: kind.kind,
    metadata: { name: 'one', ...namespace, ...metadata },
    ...deepClone(content),
  }
}

/** Created, or updated when there is an old one. */
export async function admit(kind: OwnKind, content: Record<string, unknown>, coming: Coming = {}): Promise<Admitted> {
  const { metadata, old, options } = coming
  const object = aComing(kind, content, metadata)
  const { definition } = kind
  definition.versions[0]?.coerce?.(object)
  definition.rules.applyDefaults?.(object, kind.storageVersion)
  const request = requestOf(kind, object, old)
  const context = contextOf(coming)
  const applicable = karmadaAdmission(options).filter(
    ({ resources, operations }) =>
      operations.includes(request.operation) && resources.some(({ group, resource }) => group === kind.group && resource === kind.plural),
  )
  for (const admission of applicable) await admission.mutate?.(request, context)
  const schema = schemaErrors(kind, object, old)
  const refused: FieldError[] = []
  if (schema.length === 0) for (const admission of applicable) refused.push(...((await admission.validate?.(request, context)) ?? []))
  return { object, schema: schema.map(fieldErrorMessage), refused: refused.map(fieldErrorMessage) }
}

function schemaErrors(kind: OwnKind, object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const { rules } = kind.definition
  const context: RuleContext = { operation: old === undefined ? 'create' : 'update', subresource: '', now: NOW, user: USER }
  return (old === undefined ? rules.validateCreate?.(object, context) : rules.validateUpdate?.(object, old, context)) ?? []
}

const USER = { name: 'ann', groups: [] }

function requestOf(kind: OwnKind, object: KubeObject, oldObject: KubeObject | undefined): AdmissionRequest {
  return {
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    group: kind.group,
    version: kind.storageVersion,
    kind: kind.kind,
    resource: kind.plural,
    subresource: '',
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
    object,
    ...(oldObject === undefined ? {} : { oldObject: deepFreeze(deepClone(oldObject)) }),
    user: USER,
    dryRun: false,
  }
}

function contextOf({ stored = [], may = () => true }: Pick<Coming, 'stored' | 'may'>): AdmissionContext {
  const random = seededRandom(7)
  return {
    read: {
      get: (_, __, name) => stored.find(({ metadata }) => metadata.name === name),
      list: () => stored,
    },
    nowMs: Date.parse(NOW),
    newUid: () => uuid(random),
    warn() {},
    authorMay: async (right) => may(right),
    async adjust() {
      throw new Error('nothing here changes other objects')
    },
  }
}
