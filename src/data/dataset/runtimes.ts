/**
 * Which runtime is the dataset's: the one of its name and namespace. The one it is bound to stays; of several that it is not
 * bound to none is taken, because the choice is the user's. Pure, but for the look-ups.
 */
import { type DatasetStatus, runtimeKinds } from '../../kinds/fluid/index.ts'
import { RUNTIME_CATEGORY, RUNTIME_TYPES, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { ObjectRef } from '../../kube/object-reference.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Reader } from '../../runtime/controller.ts'

export interface RuntimeKind {
  kind: string
  type: RuntimeType
  resource: Resource
}

export const RUNTIME_KINDS: readonly RuntimeKind[] = Object.freeze(
  runtimeKinds.flatMap(({ kind, resource }): RuntimeKind[] => {
    const type = (RUNTIME_TYPES as Readonly<Record<string, RuntimeType>>)[kind]
    return type === undefined ? [] : [{ kind, type, resource: resource as Resource }]
  }),
)

export interface Runtime extends RuntimeKind {
  object: KubeObject
}

export interface Choice {
  /** Not going; undefined: the dataset has none that it can use. */
  runtime: Runtime | undefined
  /** Those of its name that are not used and not going. */
  others: readonly Runtime[]
  /** Those that are on their way out. */
  going: readonly Runtime[]
}

export const runtimesNamed = ({ namespace, name }: ObjectRef, read: Pick<Reader, 'get'>): Runtime[] =>
  RUNTIME_KINDS.flatMap((kind) => {
    const object = read.get(kind.resource, namespace, name)
    return object === undefined ? [] : [{ ...kind, object }]
  })

export function choose(named: readonly Runtime[], bound: RuntimeType | undefined): Choice {
  const isGoing = ({ object }: Runtime): boolean => object.metadata.deletionTimestamp !== undefined
  const [live, going] = [named.filter((one) => !isGoing(one)), named.filter(isGoing)]
  const runtime = live.find(({ type }) => type === bound) ?? (live.length === 1 ? live[0] : undefined)
  return { runtime, others: live.filter((one) => one !== runtime), going }
}

const BOUND_PHASES: readonly string[] = ['Bound', 'Failed', 'Updating', 'DataMigrating']

/** The type of the runtime that the dataset is bound to, as its status says. */
export function boundType({ phase = '', runtimes = [] }: Partial<DatasetStatus> = {}): RuntimeType | undefined {
  if (!BOUND_PHASES.includes(phase)) return undefined
  const type = runtimes.find(({ category }) => category === RUNTIME_CATEGORY)?.type
  return RUNTIME_KINDS.find((kind) => kind.type === type)?.type
}
