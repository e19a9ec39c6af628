/**
 * The levels of a tiered store, in both spellings, as the stores that an engine sets up: which medium, which directories, and how
 * many bytes each may hold. What is wrong with a level is said beside it; admission refuses such levels, and engines that meet
 * them all the same leave them out.
 */
import { type Quantity, quantityValue, tryParseQuantity } from '../../kube/quantity.ts'
import { quoted } from '../volcano/annotations.ts'
import type { CacheTierLevel } from './cache-runtime.ts'
import type { TierLevel } from './runtime-parts.ts'

export type Medium = 'MEM' | 'SSD' | 'HDD'

export interface Store {
  /** A directory of the node; empty where the medium has none. */
  path: string
  quotaBytes: number
}

export interface Tier {
  /** The index of the level that it was made of. */
  level: number
  medium: Medium
  volume: 'hostPath' | 'emptyDir' | 'processMemory'
  stores: readonly Store[]
  high?: string
  low?: string
}

export interface TierProblem {
  /** Below the list of levels: `[0].quotaList`. */
  field: string
  detail: string
}

export interface Tiers {
  tiers: readonly Tier[]
  problems: readonly TierProblem[]
}

/** More levels than any engine has media, and more directories than any node has disks. */
const MOST_LEVELS = 16
const MOST_PATHS = 256

const ORDER: readonly Medium[] = ['MEM', 'SSD', 'HDD']

/** `tieredstore` of all runtimes but CacheRuntime: fastest first, whatever the order of the levels. */
export function tiersOf(levels: readonly TierLevel[] = []): Tiers {
  const found = collected(levels, tierOf)
  return { ...found, tiers: [...found.tiers].sort((a, b) => ORDER.indexOf(a.medium) - ORDER.indexOf(b.medium) || a.level - b.level) }
}

/** `tieredStore` of a CacheRuntime: in the order of the levels. */
export function cacheTiersOf(levels: readonly CacheTierLevel[] = []): Tiers {
  const found = collected(levels, cacheTierOf)
  const inMemory = levels.flatMap(({ processMemory }, i) => (processMemory === undefined ? [] : [i]))
  const [, second] = inMemory
  if (second === undefined) return found
  const detail = 'RuntimeTieredStore should have only one ProcessMemoryMediumSource for all levels: keep one'
  return { ...found, problems: [...found.problems, { field: `[${second}].processMemory`, detail }] }
}

type Made = { tier: Omit<Tier, 'level'>; problem?: undefined } | { tier?: undefined; problem: TierProblem }

function collected<L extends { high?: string; low?: string }>(levels: readonly L[], make: (level: L, index: number) => Made): Tiers {
  if (levels.length > MOST_LEVELS)
    return { tiers: [], problems: [{ field: '', detail: `has ${levels.length} levels, and may have ${MOST_LEVELS}: remove some` }] }
  const tiers: Tier[] = []
  const problems: TierProblem[] = []
  for (const [i, level] of levels.entries()) {
    const { tier, problem } = make(level, i)
    const { high, low } = level
    if (problem === undefined) tiers.push({ ...tier, level: i, ...(high ? { high } : {}), ...(low ? { low } : {}) })
    else problems.push({ ...problem, field: `[${i}]${problem.field}` })
  }
  return { tiers, problems }
}

const wrong = (field: string, detail: string): Made => ({ problem: { field, detail } })

function tierOf(level: TierLevel): Made {
  const { mediumtype: medium, volumeType: volume = 'hostPath', path = '', quota, quotaList = '' } = level
  const paths = path.split(',', MOST_PATHS + 1).map((one) => one.trim().replace(/\/+$/, ''))
  if (paths.length > MOST_PATHS) return wrong('.path', `has more than ${MOST_PATHS} paths: remove some`)
  if (paths.length > 1 && paths.includes('')) return wrong('.path', `${quoted(path)} has an empty entry: remove a comma`)
  if (new Set(paths).size < paths.length) return wrong('.path', `${quoted(path)} has the same path twice: remove one`)
  const stores = (quotas: readonly number[]): Made => ({
    tier: { medium, volume, stores: paths.map((one, i) => ({ path: one, quotaBytes: quotas[i] ?? 0 })) },
  })
  if (quotaList !== '') {
    const quotas = quotaList.split(',', MOST_PATHS + 1)
    if (quotas.length !== paths.length)
      return wrong(
        '.quotaList',
        `length of quotaList must be consistent with length of paths: it has ${quotas.length} entries for ${paths.length} paths`,
      )
    const bytes = quotas.map(bytesOf)
    const bad = bytes.findIndex((one) => one === undefined || one < 0)
    return bad < 0
      ? stores(bytes as number[])
      : wrong('.quotaList', `${quoted(quotas[bad] ?? '')} is no amount of bytes: write for example 10Gi`)
  }
  if (quota === undefined)
    return wrong('.quota', 'either quota or quotaList must be set: say how much the level may hold, for example 10Gi')
  const bytes = bytesOf(quota)
  if (bytes === undefined || bytes < 0) return wrong('.quota', `${quoted(String(quota))} is no amount of bytes: write for example 10Gi`)
  return stores(paths.map(() => Math.floor(bytes / paths.length)))
}

function cacheTierOf({ processMemory, emptyDir, hostPath }: CacheTierLevel, i: number): Made {
  const media = [processMemory, emptyDir, hostPath].filter((medium) => medium !== undefined).length
  if (media > 1)
    return wrong('', `only one storage medium can be specified per level at index ${i}, but found ${media}: make a level of each`)
  if (processMemory !== undefined) {
    const bytes = bytesOf(processMemory.quota)
    if (bytes === undefined || bytes <= 0)
      return wrong('.processMemory.quota', `process memory quota cannot be zero at level index ${i}: write for example 2Gi`)
    return { tier: { medium: 'MEM', volume: 'processMemory', stores: [{ path: '', quotaBytes: bytes }] } }
  }
  if (emptyDir !== undefined) {
    const bytes = bytesOf(emptyDir.quota)
    if (bytes === undefined || bytes <= 0) return wrong('.emptyDir.quota', 'must be more than zero: write for example 10Gi')
    return { tier: { medium: emptyDir.medium === 'Memory' ? 'MEM' : 'HDD', volume: 'emptyDir', stores: [{ path: '', quotaBytes: bytes }] } }
  }
  if (hostPath === undefined) return wrong('', `no storage medium is specified at index ${i}: give it processMemory, emptyDir or hostPath`)
  return hostTierOf(hostPath)
}

function hostTierOf({ paths: given, quotas }: NonNullable<CacheTierLevel['hostPath']>): Made {
  const paths = given.map((path) => path.replace(/(?!^)\/+$/, ''))
  if (paths.length > MOST_PATHS) return wrong('.hostPath.paths', `has more than ${MOST_PATHS} paths: remove some`)
  if (quotas.length !== paths.length)
    return wrong('.hostPath.quotas', `must have as many entries as paths: it has ${quotas.length} for ${paths.length} paths`)
  if (new Set(paths).size < paths.length) return wrong('.hostPath.paths', 'has the same path twice: remove one')
  const bytes = quotas.map(bytesOf)
  const bad = bytes.findIndex((one) => one === undefined || one <= 0)
  if (bad >= 0) return wrong(`.hostPath.quotas[${bad}]`, 'must be more than zero: write for example 10Gi')
  return { tier: { medium: 'HDD', volume: 'hostPath', stores: paths.map((path, i) => ({ path, quotaBytes: bytes[i] ?? 0 })) } }
}

/** Whole bytes that a number can count exactly; undefined for what is no quantity or beyond that. */
function bytesOf(quantity: string | number): number | undefined {
  const { value }: { value?: Quantity } = tryParseQuantity(quantity)
  const bytes = value === undefined ? Number.NaN : quantityValue(value)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
