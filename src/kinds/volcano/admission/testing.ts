/** For tests: admits an object through the same steps and in the same order as a server: defaults, schema, admission. */
import { deepClone, deepFreeze } from '../../../base/json.ts'
import { type FieldError, fieldErrorMessage } from '../../../kube/field-error.ts'
import type { KubeObject, ObjectMeta } from '../../../kube/meta.ts'
import type { AdmissionContext, AdmissionRequest } from '../../admission.ts'
import type { OwnKind } from '../../schema/define-kind.ts'
import { volcanoAdmission } from './index.ts'

export interface Coming {
  metadata?: ObjectMeta
  /** Updated when there is an old one, created otherwise. */
  old?: KubeObject
  /** The names of the clusters that exist. */
  clusters?: readonly string[]
}

export interface Verdict {
  object: KubeObject
  /** What the schema refuses; admission sees only what passes it. */
  schema: string[]
  /** What admission refuses. */
  refused: string[]
  warnings: string[]
}

const USER = { name: 'ann', groups: [] }

/** Metadata is the minimum that the kind needs; `content` is everything else, of any shape. */
export function aComing(kind: OwnKind, content: Record<string, unknown>, metadata: ObjectMeta = {}): KubeObject {
  return {
    apiVersion: `${kind.group}/${kind.storageVersion}`,
    kind: kind.kind,
    metadata: { name: 'one', ...(kind.scope === 'Namespaced' ? { namespace: 'work' } : {}), ...metadata },
    ...deepClone(content),
  }
}

export async function admit(kind: OwnKind, content: Record<string, unknown>, coming: Coming = {}): Promise<Verdict> {
  const { metadata, old } = coming
  const object = aComing(kind, content, metadata)
  const { definition } = kind
  definition.versions[0]?.coerce?.(object)
  definition.rules.applyDefaults?.(object, kind.storageVersion)
  const context = { operation: old === undefined ? 'create' : 'update', subresource: '', now: '2025-06-01T10:20:30Z', user: USER } as const
  const schema =
    (old === undefined ? definition.rules.validateCreate?.(object, context) : definition.rules.validateUpdate?.(object, old, context)) ?? []
  if (schema.length > 0) return { object, schema: schema.map(fieldErrorMessage), refused: [], warnings: [] }
  return { schema: [], ...(await admitRequest(requestOf({ group: kind.group, resource: kind.plural }, object, old), coming)), object }
}

/** Admission alone, for objects of kinds that are not ours and for what another definition lets in. */
export async function admitRequest(
  request: AdmissionRequest,
  { clusters = [] }: Pick<Coming, 'clusters'> = {},
): Promise<Pick<Verdict, 'refused' | 'warnings'>> {
  const warnings: string[] = []
  const errors: FieldError[] = []
  for (const { resources, operations, validate } of volcanoAdmission()) {
    const isSeen = resources.some(({ group, resource }) => group === request.group && resource === request.resource)
    if (isSeen && operations.includes(request.operation)) errors.push(...((await validate?.(request, contextOf(clusters, warnings))) ?? []))
  }
  return { refused: errors.map(fieldErrorMessage), warnings }
}

export function requestOf(
  of: { group: string; resource: string },
  object: KubeObject,
  oldObject: KubeObject | undefined,
): AdmissionRequest {
  return {
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    ...of,
    version: 'v1alpha1',
    kind: object.kind,
    subresource: '',
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
    object: deepFreeze(deepClone(object)),
    ...(oldObject === undefined ? {} : { oldObject: deepFreeze(deepClone(oldObject)) }),
    user: USER,
    dryRun: false,
  }
}

function contextOf(clusters: readonly string[], warnings: string[]): AdmissionContext {
  const stored = clusters.map((name): KubeObject => ({ apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name } }))
  return {
    read: {
      get: ({ resource }, _, name) => (resource === 'clusters' ? stored.find(({ metadata }) => metadata.name === name) : undefined),
      list: () => stored,
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
