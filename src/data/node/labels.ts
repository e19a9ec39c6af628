/**
 * The labels of a node that say which datasets it has a cache of, as Fluid writes them: schedulers and people go by them. They
 * are made anew from the workers on the node; labels of these names that no worker accounts for are left over. Pure.
 */
import { capacityLabel, commonLabel, exclusiveValue, leavingLabel, runtimeLabel } from '../../kinds/fluid/names.ts'
import { shortSizeText } from '../../kinds/fluid/sizes.ts'
import { LABELS, RUNTIME_TYPES, type RuntimeType } from '../../kinds/fluid/well-known.ts'
import type { CachedDataset, Quotas } from './workers.ts'

type Labels = Readonly<Record<string, string>>

const PREFIX = 'fluid.io/s-'
/** Of our own: a worker is about to leave. */
const LEAVING_PREFIX = 'sluice.dev/l-'
const TRUE = 'true'
const LONGEST_VALUE = 63
const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const TYPES: readonly RuntimeType[] = Object.values(RUNTIME_TYPES)
const CAPACITIES = ['memory', 'disk', 'total'] as const

export const isLeavingLabel = (key: string): boolean => key.startsWith(LEAVING_PREFIX)

export const isOwnLabel = (key: string): boolean =>
  key.startsWith(PREFIX) || isLeavingLabel(key) || key === LABELS.exclusive || key === LABELS.datasetNumber

/** What to change in the labels of a node, as a merge patch; undefined: nothing. */
export function labelChanges(live: Labels, datasets: readonly CachedDataset[]): Record<string, string | null> | undefined {
  const wanted = wantedLabels(live, datasets)
  const changes = new Map<string, string | null>()
  for (const key of Object.keys(live)) if (isOwnLabel(key) && !wanted.has(key)) changes.set(key, null)
  for (const [key, value] of wanted) if (!Object.hasOwn(live, key) || live[key] !== value) changes.set(key, value)
  return changes.size === 0 ? undefined : Object.fromEntries(changes)
}

function wantedLabels(live: Labels, datasets: readonly CachedDataset[]): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>()
  if (datasets.length === 0) return wanted
  // Of two datasets whose names lead to the same keys, the first one's sizes are shown.
  for (const dataset of datasets.toReversed()) for (const [key, value] of labelsOfDataset(live, dataset)) wanted.set(key, value)
  wanted.set(LABELS.datasetNumber, String(datasets.length))
  const exclusive = datasets.filter(({ isExclusive }) => isExclusive).flatMap((dataset) => exclusiveTextOf(dataset) ?? [])
  const [first] = exclusive
  const current = Object.hasOwn(live, LABELS.exclusive) ? live[LABELS.exclusive] : undefined
  if (first !== undefined) wanted.set(LABELS.exclusive, current !== undefined && exclusive.includes(current) ? current : first)
  return wanted
}

/** Values are limited more than names are: the UID stands for those that are too long. */
function exclusiveTextOf(dataset: CachedDataset): string | undefined {
  const text = exclusiveValue(dataset)
  return text.length <= LONGEST_VALUE ? text : dataset.uid
}

function labelsOfDataset(live: Labels, dataset: CachedDataset): [string, string][] {
  const { type, quotas } = dataset
  const named = { ...dataset, uid: dataset.uid ?? '' }
  /** Undefined: as it is on the node, if it is. */
  const label = (key: string, value: string | undefined): [string, string][] => {
    // A key that is long has the UID at its end. If that is not known any more, what is there stays.
    const isKnown = !key.endsWith('-')
    if (isKnown && value !== undefined) return [[key, value]]
    return Object.entries(live).filter(([one]) => (isKnown ? one === key : one.startsWith(key) && UID.test(one.slice(key.length))))
  }
  const common = [...label(commonLabel(named), TRUE), ...(dataset.isLeaving ? label(leavingLabel(named), TRUE) : [])]
  if (type === undefined)
    return [
      ...common,
      ...TYPES.flatMap((one) => [
        ...label(runtimeLabel(one, named), undefined),
        ...CAPACITIES.flatMap((of) => label(capacityLabel(of, one, named), undefined)),
      ]),
    ]
  const capacities = quotas === undefined ? {} : capacityTexts(quotas)
  return [
    ...common,
    ...label(runtimeLabel(type, named), TRUE),
    ...CAPACITIES.flatMap((of) =>
      quotas !== undefined && capacities[of] === undefined ? [] : label(capacityLabel(of, type, named), capacities[of]),
    ),
  ]
}

function capacityTexts({ memoryBytes, diskBytes }: Quotas): Partial<Record<(typeof CAPACITIES)[number], string>> {
  return {
    ...(memoryBytes === undefined ? {} : { memory: shortSizeText(memoryBytes) }),
    ...(diskBytes === undefined ? {} : { disk: shortSizeText(diskBytes) }),
    total: shortSizeText((memoryBytes ?? 0) + (diskBytes ?? 0)),
  }
}
