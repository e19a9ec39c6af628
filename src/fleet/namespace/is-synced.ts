/** Which namespaces of the hub members get: all but system namespaces, the reserved ones, and those that opt out. */

import { clusterOfExecutionNamespace } from '../../kinds/karmada/names.ts'
import { CLUSTER_NAMESPACE, SKIP_NAMESPACE_LABEL, SYSTEM_NAMESPACE } from '../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../kube/meta.ts'

/** Regular expressions, each matching the whole name. */
const SKIPPED_NAMESPACES: readonly string[] = ['kube-.*']

const RESERVED: ReadonlySet<string> = new Set([SYSTEM_NAMESPACE, CLUSTER_NAMESPACE])

/** Every cluster has this one. */
const EVERYWHERE = 'default'

/** Throws when one of the expressions is invalid. */
export function isSynced(skipped: readonly string[] = SKIPPED_NAMESPACES): (namespace: KubeObject) => boolean {
  const expressions = skipped.map((text) => new RegExp(`^(?:${text})$`))
  return ({ metadata: { name = '', labels } }) =>
    name !== EVERYWHERE &&
    !RESERVED.has(name) &&
    clusterOfExecutionNamespace(name) === undefined &&
    labels?.[SKIP_NAMESPACE_LABEL]?.toLowerCase() !== 'true' &&
    !expressions.some((expression) => expression.test(name))
}
