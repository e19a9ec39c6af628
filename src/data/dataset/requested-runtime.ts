/**
 * The runtime that a dataset asks for by an annotation instead of one that its user writes: `sluice.dev/runtime` names the class,
 * `sluice.dev/cache-quota` how much its worker may hold, `sluice.dev/preload` whether it is filled before anybody reads. Pure.
 */
import { CacheRuntime, type CacheRuntimeSpec, type Dataset } from '../../kinds/fluid/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { checkDns1123Subdomain } from '../../kube/names.ts'
import { canonicalQuantity, quantitySign, quantityValue, tryParseQuantity } from '../../kube/quantity.ts'
import { datasetReference } from '../dataset-owner.ts'
import { shown } from './text.ts'

export const CLASS = 'sluice.dev/runtime'
const QUOTA = 'sluice.dev/cache-quota'
const PRELOAD = 'sluice.dev/preload'
const DEFAULT_QUOTA = '1Gi'

/** Undefined: the dataset asks for none. */
export type RequestedRuntime = { runtime: KubeObject; problem?: undefined } | { problem: string; runtime?: undefined } | undefined

export function requestedRuntime(dataset: Dataset): RequestedRuntime {
  const { namespace, name, annotations = {} } = dataset.metadata
  const runtimeClassName = annotations[CLASS]
  if (runtimeClassName === undefined) return undefined
  if (checkDns1123Subdomain(runtimeClassName).length > 0)
    return { problem: `annotation ${CLASS} ${quoted(runtimeClassName)} cannot be the name of a CacheRuntimeClass: write builtin` }
  const quota = annotations[QUOTA] ?? DEFAULT_QUOTA
  const { value } = tryParseQuantity(quota)
  if (value === undefined || quantitySign(value) <= 0 || !Number.isSafeInteger(quantityValue(value)))
    return { problem: `annotation ${QUOTA} ${quoted(quota)} is no size above 0 that can be counted: write for example 10Gi` }
  const preload = annotations[PRELOAD] ?? 'false'
  if (preload !== 'true' && preload !== 'false')
    return { problem: `annotation ${PRELOAD} ${quoted(preload)} is neither true nor false: write one of them, in quotes` }
  const spec: CacheRuntimeSpec = {
    runtimeClassName,
    ...(preload === 'true' ? { options: { preload } } : {}),
    worker: { replicas: 1, tieredStore: { levels: [{ emptyDir: { quota: canonicalQuantity(quota).value ?? quota } }] } },
  }
  const { group, storageVersion, kind } = CacheRuntime
  return {
    runtime: {
      apiVersion: `${group}/${storageVersion}`,
      kind,
      metadata: { namespace, name, ownerReferences: [datasetReference(dataset)] },
      spec,
    },
  }
}

const quoted = (text: string): string => JSON.stringify(shown(text, 64))
