/** Labels and annotations of volumes and claims: those that are ours, and those that a runtime wants on them besides. Pure. */
import { isJsonObject } from '../../base/json.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { commonLabel, datasetId } from '../../kinds/fluid/names.ts'
import { ANNOTATIONS, CREATED_BY_FLUID, LABELS } from '../../kinds/fluid/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { checkLabelValue, checkQualifiedName } from '../../kube/names.ts'

/** What every key of `commonLabel` begins with. */
export const COMMON_PREFIX = 'fluid.io/s-'
const OUR_KEYS: readonly string[] = [LABELS.datasetId, LABELS.referringName, LABELS.referringNamespace, ANNOTATIONS.createdBy]

/** Labels and annotations that a runtime wants on its volume and claim: annotation `data.fluid.io/metadataList`. */
interface WantedMetadata {
  labels: Record<string, string>
  annotations: Record<string, string>
}

export function ourMetadata({ metadata: { namespace = '', name = '', uid = '' } }: Dataset, wanted: WantedMetadata): WantedMetadata {
  const dataset = { namespace, name, uid }
  return {
    labels: { ...wanted.labels, [commonLabel(dataset)]: 'true', [LABELS.datasetId]: datasetId(dataset) },
    annotations: { ...wanted.annotations, [ANNOTATIONS.createdBy]: CREATED_BY_FLUID },
  }
}

/** Of a label or annotation that every volume and claim of a dataset has. */
export const isOurKey = (key: string): boolean => OUR_KEYS.includes(key) || key.startsWith(COMMON_PREFIX)

/** What cannot be read counts as absent: it is the wish of whoever wrote the runtime, and harms nobody else. */
export function wantedMetadata({ metadata }: KubeObject, kind: string): WantedMetadata {
  const found: WantedMetadata = { labels: {}, annotations: {} }
  const list = parsedList(metadata.annotations?.[ANNOTATIONS.metadataList])
  for (const one of list) {
    const selector = isJsonObject(one) && isJsonObject(one.selector) ? one.selector : undefined
    if (selector?.kind !== kind || (selector.group ?? '') !== '') continue
    const { labels, annotations } = one as Record<string, unknown>
    for (const [key, value] of Object.entries(textsOf(labels))) if (checkLabelValue(value).length === 0) found.labels[key] = value
    Object.assign(found.annotations, textsOf(annotations))
  }
  return found
}

/**
 * A volume belongs to the cluster, and storage controllers act on what its metadata says: what Kubernetes and this control plane
 * write there is not for tenants to write.
 */
const RESERVED = /^(?:[^/]+\.)?(?:kubernetes\.io|k8s\.io|sluice\.dev)\//
const isWritable = (key: string): boolean => checkQualifiedName(key).length === 0 && !RESERVED.test(key)

function parsedList(text: string | undefined): unknown[] {
  if (text === undefined) return []
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    // Not JSON: see above.
    return []
  }
}

const textsOf = (value: unknown): Record<string, string> =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && isWritable(entry[0])),
      )
    : {}
