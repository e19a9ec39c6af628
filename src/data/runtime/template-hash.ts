/**
 * Parts of a template are owned as a whole: which fields of them were applied before, no record tells. A field that is gone from
 * the template would stay in the workload, because that has everything that is wanted. So each says from which template it is. Pure.
 */
import { createHash } from 'node:crypto'
import { isJsonObject } from '../../base/json.ts'
import type { KubeObject } from '../../kube/meta.ts'

const TEMPLATE_HASH = 'sluice.dev/template-hash'
const LENGTH = 16

export function withTemplateHash<T extends KubeObject>(workload: T): T {
  const { template } = (workload.spec ?? {}) as { template?: unknown }
  const hash = createHash('sha256')
    .update(JSON.stringify(template, sortedKeys) ?? '')
    .digest('hex')
    .slice(0, LENGTH)
  return { ...workload, metadata: { ...workload.metadata, annotations: { ...workload.metadata.annotations, [TEMPLATE_HASH]: hash } } }
}

/** The order in which fields were written means nothing. */
const sortedKeys = (_key: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
