/**
 * Names and keys of labels that are made of a dataset's namespace and name. Fluid makes the same ones, so that volumes,
 * nodes and pods are found again after switching control planes.
 */
import type { RuntimeType } from './well-known.ts'

/** A dataset, as far as names need it. */
export interface NamedDataset {
  namespace: string
  name: string
  uid: string
}

/** From this length on, the UID stands for namespace and name; the prefix counts. */
const TOO_LONG = 63

function keyed(prefix: string, { namespace, name, uid }: NamedDataset): string {
  const key = `${prefix}${namespace}-${name}`
  return key.length < TOO_LONG ? key : `${prefix}${uid}`
}

/** The value of `fluid.io/dataset-id`. */
export const datasetId = (dataset: NamedDataset): string => keyed('', dataset)

/** On nodes with a worker of the dataset, on its volume and on its claim. */
export const commonLabel = (dataset: NamedDataset): string => keyed('fluid.io/s-', dataset)

/** On nodes whose worker of the dataset is about to leave: volumes of co-located runtimes let no new reader come there. */
export const leavingLabel = (dataset: NamedDataset): string => keyed('sluice.dev/l-', dataset)

/** On nodes with a worker of the dataset, for its type of runtime. */
export const runtimeLabel = (type: RuntimeType, dataset: NamedDataset): string => keyed(`fluid.io/s-${type}-`, dataset)

const CAPACITIES = { memory: 'm', disk: 'd', total: 't' } as const

/** On nodes with a worker of the dataset: how much a worker can hold. */
export const capacityLabel = (of: keyof typeof CAPACITIES, type: RuntimeType, dataset: NamedDataset): string =>
  keyed(`fluid.io/s-h-${type}-${CAPACITIES[of]}-`, dataset)

/** On nodes that need a client of the dataset. */
export const fuseLabel = (dataset: NamedDataset): string => keyed('fluid.io/f-', dataset)

/** The value of `fluid_exclusive`. */
export const exclusiveValue = ({ namespace, name }: Pick<NamedDataset, 'namespace' | 'name'>): string => `${namespace}_${name}`

/** The volume of a dataset; also the handle of the volume. Its claim has the name of the dataset. */
export const volumeName = ({ namespace, name }: Pick<NamedDataset, 'namespace' | 'name'>): string => `${namespace}-${name}`

export const runtimeFinalizer = (type: RuntimeType): string => `${type}-runtime-controller-finalizer`

/**
 * Pods of masters and workers are labelled with the revision that they were made from, `<name of the set>-<10 digits>`; a value of a
 * label has 63 characters at most.
 */
export const LONGEST_SET_NAME = 52

const LONGEST_PARTS: Readonly<Record<string, string>> = {
  CacheRuntime: '-worker',
  AlluxioRuntime: '-worker',
  JuiceFSRuntime: '-worker',
  JindoRuntime: '-jindofs-worker',
}

/** Of a runtime of this kind, if its pods limit it more than services and labels do. */
export function longestNameOf(kind: string): number | undefined {
  const part = Object.hasOwn(LONGEST_PARTS, kind) ? LONGEST_PARTS[kind] : undefined
  return part === undefined ? undefined : LONGEST_SET_NAME - part.length
}

const CLIENT_PARTS: Readonly<Partial<Record<RuntimeType, string>>> = { cache: '-client', jindo: '-jindofs-fuse' }

/** The DaemonSet of the clients of a runtime. */
export const clientName = (type: RuntimeType, runtime: string): string => `${runtime}${CLIENT_PARTS[type] ?? '-fuse'}`
