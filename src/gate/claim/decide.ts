/**
 * Which source a claim gets and what its conditions say: pure, from what was seen. A bound claim keeps its source while that
 * can be used; otherwise the best of the others is taken, once. Texts name objects and states, never counts or times.
 */

import { type DataName, dataNameText } from '../../kinds/volcano/annotations.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { isSeedForm } from '../../kinds/volcano/matching.ts'
import type { WaitReason } from '../../kinds/volcano/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import type { Progress } from '../workload/index.ts'

/** A source that matches and that the claim may use. */
export interface Candidate {
  source: DataSource
  /** Made by a workload of another namespace. */
  isForeign: boolean
  /** With how many of the workloads it shares a cluster. */
  fits: number
}

export type Resolution = { source: DataSource } | { reason: WaitReason; message: string }

export const isGoing = ({ metadata }: DataSource): boolean => metadata.deletionTimestamp !== undefined

/** The best of them; undefined when none can be bound. */
export function bestOf(candidates: readonly Candidate[]): DataSource | undefined {
  let best: Candidate | undefined
  for (const candidate of candidates) if (best === undefined || compare(candidate, best) < 0) best = candidate
  return best?.source
}

const compare = (a: Candidate, b: Candidate): number =>
  Number(a.isForeign) - Number(b.isForeign) ||
  b.fits - a.fits ||
  compareStrings(a.source.metadata.creationTimestamp ?? '', b.source.metadata.creationTimestamp ?? '') ||
  compareStrings(a.source.metadata.name ?? '', b.source.metadata.name ?? '')

/** A workload that says that it makes the data. */
export interface Maker {
  /** `Job default/daily`. */
  name: string
  isForeign: boolean
  /** It has an end at which the data is there. */
  hasEnd: boolean
  state: Progress['state']
  /** Why it is held, in one word. */
  heldReason?: string
}

export interface Unresolved {
  claim: DataSourceClaim
  /** The object that the claim names, if it may be used but is something else. */
  mismatch: DataSource | undefined
  /** Sources that match and may be used, but are being deleted. */
  going: readonly DataSource[]
  /** The data that the claim asks for, if by name. */
  data: DataName | undefined
  /** Those who make the data and may be used, oldest first. */
  makers: readonly Maker[]
  /** The members of the cycle that it is on. */
  cycle: string | undefined
  /** There may be sources that it may not use: then it must not be told from silence. */
  mayBeWithheld: boolean
}

/** Why there is no source. */
export function unresolved(seen: Unresolved): Resolution {
  const { claim, mismatch, going, makers, cycle, mayBeWithheld } = seen
  if (mismatch !== undefined) return { reason: 'NoSuchSource', message: mismatchText(claim, mismatch) }
  const [first] = [...going].sort((a, b) => compareStrings(a.metadata.name ?? '', b.metadata.name ?? ''))
  if (first !== undefined) return { reason: 'SourceGoing', message: `DataSource ${first.metadata.name} is being deleted` }
  if (cycle !== undefined) return { reason: 'DependencyCycle', message: `these claims wait for each other: ${cycle}` }
  const maker = awaited(makers)
  if (maker !== undefined) return waitFor(maker, seen)
  if (mayBeWithheld) return { reason: 'NotPermitted', message: NOT_PERMITTED }
  return { reason: 'NoSuchSource', message: absentText(seen) }
}

/** Depends on nothing that exists in other namespaces. */
const NOT_PERMITTED =
  'no DataSource that this namespace may use matches; data that workloads of another namespace make can be used with a ReferenceGrant there'

/** The one that a claim waits for: rather one that can still succeed, rather a near one, rather the oldest. */
function awaited(makers: readonly Maker[]): Maker | undefined {
  const rank = ({ state, hasEnd, isForeign }: Maker): number => (state === 'failed' ? 4 : 0) + (hasEnd ? 0 : 2) + (isForeign ? 1 : 0)
  let best: Maker | undefined
  for (const maker of makers) if (best === undefined || rank(maker) < rank(best)) best = maker
  return best
}

function waitFor(maker: Maker, { data }: Unresolved): Resolution {
  const makes = `${maker.name} makes ${data === undefined ? 'it' : dataNameText(data)}`
  if (maker.state === 'failed') return { reason: 'ProducerFailed', message: `${makes}, and has failed` }
  if (!maker.hasEnd) return { reason: 'NotProducedYet', message: `${makes}, but never finishes by itself` }
  return { reason: 'NotProducedYet', message: `${makes}, and ${doing(maker)}` }
}

function doing({ state, heldReason }: Maker): string {
  switch (state) {
    case 'held':
      return heldReason === undefined ? 'is held' : `is held: ${heldReason}`
    case 'running':
      return 'is running'
    case 'succeeded':
      return 'has succeeded, but there is no DataSource yet'
    default:
      return 'is not placed yet'
  }
}

const typeText = (system: string | undefined, type: string | undefined): string => `${system}/${type}`

function absentText({ claim, data }: Unresolved): string {
  const { system, dataSourceType, dataSourceName, attributesSelector } = claim.spec ?? {}
  if (data !== undefined) return `there is no DataSource for ${dataNameText(data)}, and no workload says that it makes it`
  const type = typeText(system, dataSourceType)
  if (!isSeedForm(claim)) return `there is no DataSource for ${type}/${dataSourceName} with exactly these attributes`
  if (dataSourceName) return `there is no DataSource ${dataSourceName}`
  if (attributesSelector === undefined) return `there is no DataSource of ${type}`
  return `no DataSource of ${type} has the attributes that the claim demands`
}

const mismatchText = ({ spec }: DataSourceClaim, { metadata, spec: found }: DataSource): string =>
  `DataSource ${metadata.name} is of ${typeText(found?.system, found?.type)}, not of ${typeText(spec?.system, spec?.dataSourceType)}`
