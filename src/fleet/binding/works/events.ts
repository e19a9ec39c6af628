/** Events about the Works of a binding: on the binding and on the template, once per transition. Pure. */
import { deepEqual } from '../../../base/json.ts'
import type { BindingKind } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding } from '../../../kinds/karmada/index.ts'
import { APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES } from '../../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { refOf } from '../../../kube/object-reference.ts'
import type { EventIntent, KeyedEvent } from '../../../runtime/controller.ts'
import type { Hindrance, WantedWork } from './wanted.ts'

export const SYNC_WORK_FAILED = 'SyncWorkFailed'

interface Subject {
  kind: BindingKind
  binding: Binding
  template: KubeObject | undefined
}

export function syncSucceeded({ kind, binding, template }: Subject): EventIntent[] {
  const message = `Sync work of ${kind.display(refOf(binding))} successful.`
  const reported = (of: KubeObject): EventIntent => ({ of, type: 'Normal', reason: 'SyncWorkSucceed', message })
  return template === undefined ? [reported(binding)] : [reported(binding), reported(template)]
}

export function syncFailures({ binding, template }: Subject, hindrances: readonly Hindrance[]): KeyedEvent[] {
  return hindrances.flatMap(({ cluster, message, isOverride }) => {
    const reported = (of: KubeObject, reason: string, text: string): KeyedEvent => ({
      key: `${of.kind} ${reason} ${text}`,
      of,
      type: 'Warning',
      reason,
      message: text,
    })
    const ofWork = (of: KubeObject): KeyedEvent => reported(of, SYNC_WORK_FAILED, `cluster(${cluster}): ${message}`)
    if (template === undefined) return [ofWork(binding)]
    return [ofWork(binding), ofWork(template), ...(isOverride === true ? [reported(template, 'ApplyOverridePolicyFailed', message)] : [])]
  })
}

interface Applied {
  policyName: string
  overriders: unknown
}

/** Policies that were not applied to the Work before, or not in this form. */
export function newlyApplied(template: KubeObject, { cluster, work, live }: WantedWork): EventIntent[] {
  const namespace = template.metadata.namespace ?? ''
  const texts: [string, (name: string) => string][] = [
    [APPLIED_CLUSTER_OVERRIDES, (name) => `Apply cluster override policy(${name}) for cluster(${cluster}) succeed.`],
    [APPLIED_OVERRIDES, (name) => `Apply override policy(${namespace}/${name}) for cluster(${cluster}) succeed.`],
  ]
  return texts.flatMap(([annotation, textOf]) => {
    const before = appliedIn(live, annotation)
    const isNew = (one: Applied): boolean => !before.some((other) => deepEqual(one, other))
    const names = new Set(
      appliedIn(work, annotation)
        .filter(isNew)
        .map(({ policyName }) => policyName),
    )
    return [...names].map(
      (name): EventIntent => ({ of: template, type: 'Normal', reason: 'ApplyOverridePolicySucceed', message: textOf(name) }),
    )
  })
}

/** Anyone may have written the annotation of a Work: what cannot be parsed is ignored. */
function appliedIn(work: KubeObject | undefined, annotation: string): Applied[] {
  const text = work?.metadata.annotations?.[annotation]
  if (text === undefined) return []
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? (value as Applied[]) : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}
