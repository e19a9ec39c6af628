/**
 * The record of a release, in the annotation `sluice.dev/released` of a binding: what was allowed, and what that was decided
 * from, so that it is computed anew only when that changes. Data that moves does not change it.
 */
import { createHash } from 'node:crypto'
import { formatTime } from '../../base/clock.ts'
import { isJsonObject } from '../../base/json.ts'
import type { Policy } from '../../kinds/karmada/index.ts'
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { SOURCE_VERSION } from '../../kinds/volcano/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'

export interface Release {
  /** The clusters that hold the data of all claims, sorted: whether they were ready then does not matter. */
  allow: readonly string[]
  /** By claim, the source with its version: `ds-1@v7`. */
  claims: Readonly<Record<string, string>>
  /** By claim, a digest of its identity and spec. */
  seen: Readonly<Record<string, string>>
  /** The policy and a digest of its placement. */
  policy: string
  /** The reschedule that was requested last. */
  rescheduled?: string
}

/** Whoever edits an object may write its keys in another order: that is no change. */
const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value, sortedKeys)).digest('base64url').slice(0, 8)

const sortedKeys = (_key: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareStrings(a, b))) : value

export const digestOfClaim = ({ metadata }: DataSourceClaim): string => digest([metadata.uid, metadata.generation ?? 0])

export const policyText = ({ metadata, spec }: Policy): string =>
  `${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}@${digest(spec?.placement ?? {})}`

export function sourceText({ metadata }: DataSource): string {
  const version = metadata.annotations?.[SOURCE_VERSION]
  return version === undefined ? (metadata.name ?? '') : `${metadata.name}@${version}`
}

/** Undefined when there is none, or when it cannot be read: then nothing was released. */
export function readRelease(text: string | undefined): Release | undefined {
  if (text === undefined) return undefined
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch {
    // Somebody has edited it: then nothing was released.
    return undefined
  }
  if (!isJsonObject(record)) return undefined
  const { allow, claims, seen, policy, rescheduled } = record
  if (!isTexts(allow) || !isTextMap(claims) || !isTextMap(seen) || typeof policy !== 'string') return undefined
  return { allow, claims, seen, policy, ...(typeof rescheduled === 'string' ? { rescheduled } : {}) }
}

/** The text of a release; `at` is when it was decided, and only for people. */
export const releaseText = ({ allow, claims, seen, policy, rescheduled }: Release, nowMs: number): string =>
  JSON.stringify({ allow, claims, policy, at: formatTime(nowMs), seen, ...(rescheduled === undefined ? {} : { rescheduled }) })

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === 'string')

const isTextMap = (value: unknown): value is Record<string, string> =>
  isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string')
