/**
 * Which sources fulfil a claim, and where a source is. Pure, and defined for whatever is stored: an object without a spec,
 * or with a selector that cannot be read, matches nothing. `sourceKeys` and `claimKeys` are for indexes in either direction:
 * whatever matches shares a key, so that nobody has to try all.
 */
import { deepEqual } from '../../base/json.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { matchesLabels, selectorFromObject } from '../../kube/selector.ts'
import { equalityKeys, labelKeys } from '../../kube/selector-keys.ts'
import { clusterMatcher } from '../karmada/cluster-affinity-match.ts'
import type { Cluster } from '../karmada/index.ts'
import type { DataSource, DataSourceClaim, DataSourceSpec } from './index.ts'

/** What is looked at; objects that another definition let in may lack a spec. */
type Claim = { spec?: Partial<DataSourceClaim['spec']> }
type Source = Pick<DataSource, 'metadata'> & { spec?: Partial<DataSourceSpec> }

const NOTHING: readonly never[] = Object.freeze([])

/** The form of the proposal, with `workloadSelector`; otherwise the claim is for the one workload that it names. */
export const isSeedForm = ({ spec }: Claim): boolean => spec?.workloadSelector !== undefined

/** Whether the claim names this very object, of whatever system and type it is. */
export const isPreBoundTo = (claim: Claim, { metadata }: Source): boolean =>
  isPreBound(claim) && claim.spec?.dataSourceName === metadata.name

export function matches(claim: Claim, source: Source): boolean {
  const { spec: wanted } = claim
  const { spec: offered } = source
  if (wanted === undefined || offered === undefined || !isText(wanted.system) || !isText(wanted.dataSourceType)) return false
  if (wanted.system !== offered.system || wanted.dataSourceType !== offered.type) return false
  if (!isSeedForm(claim))
    return isText(wanted.dataSourceName) && wanted.dataSourceName === offered.name && deepEqual(attributesOf(wanted), attributesOf(offered))
  return isPreBound(claim) ? isPreBoundTo(claim, source) : isSelected(wanted, attributesOf(offered))
}

const isText = (value: string | undefined): value is string => value !== undefined && value !== ''

/** An empty name counts as absent, as it does in Go. */
const isPreBound = (claim: Claim): boolean => isSeedForm(claim) && isText(claim.spec?.dataSourceName)

const attributesOf = ({ attributes }: { attributes?: Record<string, string> }): Record<string, string> => attributes ?? {}

function isSelected({ attributesSelector }: Partial<DataSourceClaim['spec']>, attributes: Record<string, string>): boolean {
  if (attributesSelector === undefined) return true
  const { value: selector } = selectorFromObject(attributesSelector)
  return selector !== undefined && matchesLabels(selector, attributes)
}

/** The keys under which claims find this source. */
export function sourceKeys(source: Source): readonly string[] {
  const { spec, metadata } = source
  const keys = [objectNameKey(metadata.name ?? '')]
  if (!isText(spec?.system) || !isText(spec.type)) return keys
  const { system, type } = spec
  if (isText(spec.name)) keys.push(dataNameKey(system, type, spec.name))
  const pairs = labelKeys(selectable(attributesOf(spec))).map((pair) => attributeKey(system, type, pair))
  return [...keys, typeKey(system, type), ...pairs]
}

/** The keys under which sources find this claim; none when nothing can match it. */
export function claimKeys(claim: Claim): readonly string[] {
  const { spec } = claim
  const { system, dataSourceType: type, dataSourceName: name } = spec ?? {}
  if (isPreBound(claim)) return [objectNameKey(name ?? '')]
  if (!isText(system) || !isText(type)) return NOTHING
  if (!isSeedForm(claim)) return isText(name) ? [dataNameKey(system, type, name)] : NOTHING
  const selector = selectorFromObject(spec?.attributesSelector)
  if (selector.error !== undefined) return NOTHING
  const pairs = equalityKeys(selector.value)
  return pairs.length === 0 ? [typeKey(system, type)] : pairs.map((pair) => attributeKey(system, type, pair))
}

/** No selector can demand a value that is no label value: such attributes need no key. */
function selectable(attributes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value.length <= LONGEST_LABEL_VALUE))
}

const LONGEST_LABEL_VALUE = 63

// The parts may contain any text: only an injective encoding keeps them apart.
const objectNameKey = (name: string): string => JSON.stringify(['object', name])
const dataNameKey = (system: string, type: string, name: string): string => JSON.stringify(['name', system, type, name])
const typeKey = (system: string, type: string): string => JSON.stringify(['type', system, type])
const attributeKey = (system: string, type: string, pair: string): string => JSON.stringify(['attribute', system, type, pair])

export interface SourceClusters {
  /** Those that the locality selects, sorted; clusters that are named need not exist. */
  readonly named: readonly string[]
  /** Those of them that exist. */
  readonly joined: readonly string[]
}

/**
 * Where the data of a source is. With names and an affinity, those that both select: an affinity selects among the clusters
 * that exist. Without either the data is nowhere; an empty affinity selects every cluster, as in a placement.
 */
export function clustersOf({ spec }: { spec?: Partial<DataSourceSpec> }, clusters: readonly Cluster[]): SourceClusters {
  const { clusterAffinity, clusterNames = [] } = spec?.locality ?? {}
  const names = new Set(clusterNames.filter((name) => name !== ''))
  if (clusterAffinity === undefined) return { named: sorted(names), joined: sorted(namesOf(clusters.filter(isIn(names)))) }
  const isSelected = clusterMatcher(clusterAffinity)
  const isNamed = clusterNames.length === 0 ? () => true : isIn(names)
  const found = sorted(namesOf(clusters.filter((cluster) => isNamed(cluster) && isSelected(cluster))))
  return { named: found, joined: found }
}

const isIn =
  (names: ReadonlySet<string>) =>
  ({ metadata }: Cluster): boolean =>
    names.has(metadata.name ?? '')

const namesOf = (clusters: readonly Cluster[]): string[] => clusters.map(({ metadata }) => metadata.name ?? '')

const sorted = (names: Iterable<string>): string[] => [...names].sort(compareStrings)
