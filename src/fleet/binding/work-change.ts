/**
 * What has to change about a Work: only the parts that differ, as a merge patch. Labels and annotations of others stay;
 * override annotations that no longer apply are removed. Pure.
 */
import { deepEqual, isJsonObject } from '../../base/json.ts'
import type { Work } from '../../kinds/karmada/index.ts'
import { APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES, EXECUTION_FINALIZER } from '../../kinds/karmada/well-known.ts'

type Texts = Readonly<Record<string, string>>

/** Undefined when nothing differs. */
export function workChange(live: Work, wanted: Work): Record<string, unknown> | undefined {
  const labels = differences(live.metadata.labels ?? {}, wanted.metadata.labels ?? {})
  const annotations = {
    ...differences(live.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}),
    ...noLongerReported(live.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}),
  }
  const own = live.metadata.finalizers ?? []
  const metadata = {
    ...(isEmpty(labels) ? {} : { labels }),
    ...(isEmpty(annotations) ? {} : { annotations }),
    ...(own.includes(EXECUTION_FINALIZER) ? {} : { finalizers: [...own, EXECUTION_FINALIZER] }),
  }
  const patch = {
    ...(isEmpty(metadata) ? {} : { metadata }),
    ...(equalButForNulls(live.spec, wanted.spec) ? {} : { spec: wanted.spec }),
  }
  return isEmpty(patch) ? undefined : patch
}

const isEmpty = (object: object): boolean => Object.keys(object).length === 0

const differences = (live: Texts, wanted: Texts): Record<string, string> =>
  Object.fromEntries(Object.entries(wanted).filter(([key, value]) => live[key] !== value))

const noLongerReported = (live: Texts, wanted: Texts): Record<string, null> =>
  Object.fromEntries(
    [APPLIED_OVERRIDES, APPLIED_CLUSTER_OVERRIDES]
      .filter((key) => live[key] !== undefined && wanted[key] === undefined)
      .map((key) => [key, null]),
  )

/** A server may drop nulls when it patches; null means the same as absent. */
export function equalButForNulls(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equalButForNulls(item, b[i]))
  if (!isJsonObject(a) || !isJsonObject(b)) return deepEqual(a ?? undefined, b ?? undefined)
  const isSame = (key: string): boolean => equalButForNulls(own(a, key), own(b, key))
  return Object.keys(a).every(isSame) && Object.keys(b).every((key) => Object.hasOwn(a, key) || isSame(key))
}

const own = (object: Record<string, unknown>, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)
