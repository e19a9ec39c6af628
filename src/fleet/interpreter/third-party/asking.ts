/** Calls the bundled rules, for their tests. */
import assert from 'node:assert/strict'
import { deepFreeze } from '../../../base/json.ts'
import type { AggregatedStatusItem } from '../../../kinds/karmada/index.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import type { KindRules } from '../interpreter.ts'
import { bundledLayer } from './bundled-layer.ts'

export const layer = bundledLayer({ now: () => 0 })

/** The rules of an object's kind, which must exist; callers use only those that it has. */
export function rulesFor(object: KubeObject): Required<KindRules> {
  const rules = layer.rulesOf(object.apiVersion, object.kind)
  assert.ok(rules !== undefined, `${object.kind} has rules`)
  return rules as Required<KindRules>
}

export const aggregated = (template: KubeObject, items: readonly AggregatedStatusItem[]): Record<string, unknown> =>
  rulesFor(template).aggregate(template, items).status as Record<string, unknown>

export const withStatus = (object: KubeObject, status: unknown): KubeObject => deepFreeze({ ...object, status })
export const isHealthy = (object: KubeObject, status?: unknown): boolean =>
  rulesFor(object).health(status === undefined ? object : withStatus(object, status))
