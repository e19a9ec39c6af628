/**
 * The Work that brings an object to one cluster: the template with the cluster's share of replicas and completions, the
 * overrides applied last, marked as ours and without what belongs to the hub. Pure and deterministic, so that a Work that
 * is up to date is never written.
 */

import { type BindingKind, permanentIdOf } from '../../kinds/karmada/binding-kinds.ts'
import type { Binding, TargetCluster, Work } from '../../kinds/karmada/index.ts'
import { markedManifest } from '../../kinds/karmada/manifest-marks.ts'
import { executionNamespace, workName } from '../../kinds/karmada/names.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import {
  CONFLICT_ABORT,
  CONFLICT_OVERWRITE,
  CONFLICT_RESOLUTION_ANNOTATION,
  EXECUTION_FINALIZER,
  MANAGED_LABEL,
  MANAGED_VALUE,
  TEMPLATE_GENERATION,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from '../../kinds/karmada/well-known.ts'
import { withField } from '../../kube/fields.ts'
import { groupVersion, type KubeObject } from '../../kube/meta.ts'
import { refOf } from '../../kube/object-reference.ts'
import { pruneForMember } from '../interpreter/native/prune.ts'
import type { Overridden } from '../override/index.ts'
import { preservedLabels } from './preserved-labels.ts'
import { workId } from './work-id.ts'

export interface WorkInput {
  kind: BindingKind
  binding: Binding
  /** As the hub has it. */
  template: KubeObject
  target: TargetCluster
  /** The template with the replicas of this cluster: what the interpreter returned, or the template itself. */
  revised: KubeObject
  /** For a Job whose completions are divided. */
  completions?: number
  /** Throws when a policy cannot be applied. */
  override(object: KubeObject): Pick<Overridden, 'object' | 'annotations'>
  /** Permanent id of the Work, if it has one already. */
  workId?: string
  /** Whether preserved state is added (default true). */
  takesState?: boolean
}

export function workFor(input: WorkInput): Work {
  const { kind, binding, target } = input
  const divided = input.completions === undefined ? input.revised : withField(input.revised, ['spec', 'completions'], input.completions)
  const { object, annotations: overrides } = input.override(divided)
  const namespace = executionNamespace(target.name)
  const name = workNameOf(binding)
  const bindingId = permanentIdOf(kind, binding)
  const id = input.workId ?? workId(bindingId, target.name)
  const conflict = { [CONFLICT_RESOLUTION_ANNOTATION]: conflictResolution(object, binding) }
  const references = kind.nameAnnotations(refOf(binding))
  const state = input.takesState === false ? {} : preservedLabels(binding.spec, target.name)
  const manifest = manifestFor(input.template, object, {
    workId: id,
    labels: { ...state, [MANAGED_LABEL]: MANAGED_VALUE, [kind.idLabel]: bindingId },
    annotations: { ...references, [WORK_NAMESPACE]: namespace, [WORK_NAME]: name, ...conflict },
  })
  return {
    apiVersion: groupVersion(WORKS.group, WORKS.version),
    kind: WORKS.kind,
    metadata: {
      name,
      namespace,
      labels: { [kind.idLabel]: bindingId, [WORK_ID]: id },
      annotations: { ...references, ...conflict, ...overrides },
      finalizers: [EXECUTION_FINALIZER],
    },
    spec: {
      workload: { manifests: [manifest] },
      suspendDispatching: isSuspended(binding, target.name),
      preserveResourcesOnDeletion: binding.spec.preserveResourcesOnDeletion === true,
    },
  }
}

export function workNameOf({ spec: { resource } }: Binding): string {
  return workName(resource.kind, resource.name, resource.namespace)
}

function isSuspended({ spec: { suspension } }: Binding, cluster: string): boolean {
  return suspension?.dispatching === true || suspension?.dispatchingOnClusters?.clusterNames?.includes(cluster) === true
}

/** The object's own annotation wins; then the policy. */
function conflictResolution(object: KubeObject, { spec }: Binding): string {
  const own = object.metadata.annotations?.[CONFLICT_RESOLUTION_ANNOTATION]
  if (own === CONFLICT_OVERWRITE || own === CONFLICT_ABORT) return own
  return spec.conflictResolution === 'Overwrite' ? CONFLICT_OVERWRITE : CONFLICT_ABORT
}

interface Marks {
  workId: string
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
}

/** The managed keys are recorded last: what pruning removes must not be removed from the member's object too. */
function manifestFor(template: KubeObject, object: KubeObject, { workId, ...marks }: Marks): KubeObject {
  const { uid = '', generation = 0 } = template.metadata
  const ofTemplate = { [TEMPLATE_UID]: uid, ...(generation > 0 ? { [TEMPLATE_GENERATION]: String(generation) } : {}) }
  const marked: KubeObject = {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, ...marks.labels },
      annotations: { ...object.metadata.annotations, ...ofTemplate, ...marks.annotations },
    },
  }
  return markedManifest(pruneForMember(marked), workId)
}
