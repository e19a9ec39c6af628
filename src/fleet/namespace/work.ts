/** The Work that brings a namespace to one cluster, and what has to change about an existing one. Pure. */

import { deepEqual } from '../../base/json.ts'
import { markedManifest } from '../../kinds/karmada/manifest-marks.ts'
import { executionNamespace, workName } from '../../kinds/karmada/names.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import {
  APPLIED_CLUSTER_OVERRIDES,
  EXECUTION_FINALIZER,
  MANAGED_LABEL,
  MANAGED_VALUE,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from '../../kinds/karmada/well-known.ts'
import type { Work } from '../../kinds/karmada/work.ts'
import { groupVersion, type KubeObject, type OwnerReference } from '../../kube/meta.ts'
import { pruneForMember } from '../interpreter/native/prune.ts'

/** What override policies make of an object, and the annotations that record it on a Work. */
export interface Overridden {
  object: KubeObject
  annotations: Readonly<Record<string, string>>
}

export const workNameOf = (namespace: string): string => workName('Namespace', namespace, '')

export interface WorkInput {
  namespace: KubeObject
  cluster: string
  overridden: Overridden
  /** The existing Work. */
  live: Work | undefined
}

export function workFor({ namespace, cluster, overridden, live }: WorkInput): Work {
  const { name = '', uid = '' } = namespace.metadata
  const at = { namespace: executionNamespace(cluster), name: workNameOf(name) }
  const { metadata, ...rest } = overridden.object
  const marked = {
    ...rest,
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [MANAGED_LABEL]: MANAGED_VALUE },
      annotations: { ...metadata.annotations, [TEMPLATE_UID]: uid, [WORK_NAMESPACE]: at.namespace, [WORK_NAME]: at.name },
    },
  }
  const manifest = markedManifest(pruneForMember(marked), live?.metadata.labels?.[WORK_ID] ?? '')
  const owner: OwnerReference = { apiVersion: 'v1', kind: 'Namespace', name, uid, controller: true, blockOwnerDeletion: true }
  return {
    apiVersion: groupVersion(WORKS.group, WORKS.version),
    kind: WORKS.kind,
    metadata: { ...at, finalizers: [EXECUTION_FINALIZER], ownerReferences: [owner], annotations: { ...overridden.annotations } },
    spec: { workload: { manifests: [manifest] } },
  } as Work
}

/** The namespace that we made a Work for; undefined for a Work that a binding, or anyone else, made. */
export function ownerOf({ metadata }: Work): OwnerReference | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner?.apiVersion === 'v1' && owner.kind === 'Namespace' ? owner : undefined
}

/** A merge patch, or undefined when the Work is as it should be. */
export function changeOf(live: Work, wanted: Work): Record<string, unknown> | undefined {
  const before = live.metadata.annotations?.[APPLIED_CLUSTER_OVERRIDES]
  const after = wanted.metadata.annotations?.[APPLIED_CLUSTER_OVERRIDES]
  const isSameSpec = deepEqual(live.spec?.workload?.manifests, wanted.spec?.workload?.manifests)
  if (before === after && isSameSpec) return undefined
  return {
    ...(before === after ? {} : { metadata: { annotations: { [APPLIED_CLUSTER_OVERRIDES]: after ?? null } } }),
    ...(isSameSpec ? {} : { spec: { workload: wanted.spec?.workload } }),
  }
}
