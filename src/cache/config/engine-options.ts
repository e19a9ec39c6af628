/**
 * The options of the engine itself, which are texts in runtime.json. A component's options arrive merged (class, runtime,
 * component); all programs must agree on `blockSize` and `replicas`, so these are read from the worker's.
 */
import { parseDuration } from '../../kube/go-duration.ts'
import { quantityValue, tryParseQuantity } from '../../kube/quantity.ts'
import { DEFAULT_BLOCK_BYTES, MAX_BLOCK_BYTES, MIN_BLOCK_BYTES } from '../protocol/block.ts'
import { ConfigError } from './fields.ts'
import { type RuntimeConfig, shares } from './runtime-config.ts'

export interface EngineOptions {
  blockBytes: number
  /** 0: sources are listed once, and again only when asked. */
  syncIntervalMs: number
  /** On how many workers each block belongs. */
  replicas: number
  high?: number
  low?: number
  allowPrivateAddresses: boolean
  /** The cache is filled with everything that is mounted, before anybody reads. */
  preload: boolean
  /** Nothing is evicted: what does not fit is read from its source each time. */
  pin: boolean
  /** Most bytes of materialised files on a node; absent: what the disk has. */
  nodeQuotaBytes?: number
}

const DEFAULT_SYNC_MS = 60_000
const LONGEST_SYNC_MS = 30 * 24 * 3_600_000
const MOST_COPIES = 16

/** Throws ConfigError. */
export function engineOptions({ master, worker, client }: RuntimeConfig): EngineOptions {
  const quota = client.options.get('nodeQuota')
  return {
    blockBytes: blockBytesOf(worker.options.get('blockSize')),
    syncIntervalMs: syncIntervalOf(master.options.get('metadataSyncInterval')),
    replicas: copiesOf(worker.options.get('replicas')),
    ...shares(worker.options.get('high'), worker.options.get('low'), 'options'),
    allowPrivateAddresses: isTrue(
      'allowPrivateAddresses',
      master.options.get('allowPrivateAddresses') ?? worker.options.get('allowPrivateAddresses'),
    ),
    preload: isTrue('preload', master.options.get('preload')),
    pin: isTrue('pin', worker.options.get('pin')),
    ...(quota === undefined ? {} : { nodeQuotaBytes: quantity('nodeQuota', quota, { least: 1, most: Number.MAX_SAFE_INTEGER }) }),
  }
}

const blockBytesOf = (text: string | undefined): number =>
  text === undefined ? DEFAULT_BLOCK_BYTES : quantity('blockSize', text, { least: MIN_BLOCK_BYTES, most: MAX_BLOCK_BYTES })

function quantity(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const parsed = tryParseQuantity(text)
  const bytes = parsed.value === undefined ? Number.NaN : Number(quantityValue(parsed.value))
  if (!Number.isInteger(bytes) || bytes < least || bytes > most)
    throw new ConfigError(`option ${name}: ${show(text)} is not an amount from ${least} to ${most} bytes, such as 4Mi`)
  return bytes
}

function syncIntervalOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SYNC_MS
  const ms = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1000 : Number((parseDuration(text).value ?? -1n) / 1_000_000n)
  if (!(ms >= 0 && ms <= LONGEST_SYNC_MS))
    throw new ConfigError(
      `option metadataSyncInterval: ${show(text)} is neither seconds nor a duration such as 90s or 5m, of at most 30 days`,
    )
  // A listing per millisecond is nobody's wish.
  return ms === 0 ? 0 : Math.max(1000, ms)
}

function copiesOf(text: string | undefined): number {
  const copies = text === undefined ? 1 : /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (copies < 1 || copies > MOST_COPIES)
    throw new ConfigError(`option replicas: ${show(text ?? '')} is not a number from 1 to ${MOST_COPIES}`)
  return copies
}

function isTrue(name: string, text: string | undefined): boolean {
  if (text !== undefined && text !== 'true' && text !== 'false')
    throw new ConfigError(`option ${name}: ${show(text)} is neither true nor false`)
  return text === 'true'
}

const show = (text: string): string => JSON.stringify(text.slice(0, 100))
