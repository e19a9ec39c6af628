/**
 * The Works that a binding should have, one per target. What does not depend on the cluster is done once per number of
 * replicas, so that a binding over many clusters asks the interpreter only as often as there are different numbers. A
 * failure for one cluster does not hold up the others.
 */

import { messageOf } from '../../../base/error-text.ts'
import { type BindingKind, permanentIdOf } from '../../../kinds/karmada/binding-kinds.ts'
import type { Binding, Cluster, TargetCluster, Work } from '../../../kinds/karmada/index.ts'
import { executionNamespace } from '../../../kinds/karmada/names.ts'
import { WORK_ID } from '../../../kinds/karmada/well-known.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { refOf } from '../../../kube/object-reference.ts'
import type { Interpreter } from '../../interpreter/interpreter.ts'
import { type Overridden, OverrideError } from '../../override/index.ts'
import { completionsByCluster } from '../job-completions.ts'
import { replicasFor, targetsOf } from '../targets.ts'
import { workChange } from '../work-change.ts'
import { workFor, workNameOf } from '../work-for.ts'
import { isWithin } from '../works-index.ts'

export interface WantedWork {
  cluster: string
  work: Work
  /** The one that exists now. */
  live: Work | undefined
  /** What has to change about it; undefined for one that is being deleted: once it is gone, the key is enqueued. */
  patch: Record<string, unknown> | undefined
}

/** Whether anything has to be written for it. */
export const isDue = ({ live, patch }: WantedWork): boolean => live === undefined || patch !== undefined

export interface Hindrance {
  cluster: string
  message: string
  /** An external party failed to answer: no event will announce that it recovered. */
  mayPass: boolean
  /** An override policy could not be applied. */
  isOverride?: boolean
}

export interface WantedInput {
  kind: BindingKind
  binding: Binding
  template: KubeObject
  interpreter: Interpreter
  /** The Cluster object, and whether its execution namespace exists. */
  placeOf(cluster: string): { cluster: Cluster | undefined; hasNamespace: boolean }
  liveOf(namespace: string, name: string): Work | undefined
  override(object: KubeObject, cluster: Cluster): Overridden
  /** Whether preserved state is added (default true). */
  takesState?: boolean
}

export async function wantedWorks(input: WantedInput): Promise<{ wanted: WantedWork[]; hindrances: Hindrance[] }> {
  const { binding, template } = input
  const targets = targetsOf(binding.spec)
  const completions = completionsByCluster(template, binding.spec, targets)
  const revised = reviser(input)
  const outcomes = await Promise.all(
    targets.map((target) => wantedWork(input, { target, completions: completions.get(target.name), revised })),
  )
  return {
    wanted: outcomes.filter((one): one is WantedWork => 'work' in one),
    hindrances: outcomes.filter((one): one is Hindrance => !('work' in one)),
  }
}

interface PerTarget {
  target: TargetCluster
  completions: number | undefined
  revised(replicas: number | undefined): Promise<KubeObject>
}

async function wantedWork(input: WantedInput, { target, completions, revised }: PerTarget): Promise<WantedWork | Hindrance> {
  const { kind, binding, template, takesState } = input
  const { cluster, hasNamespace } = input.placeOf(target.name)
  const namespace = executionNamespace(target.name)
  const hindered = (error: unknown, more: Partial<Hindrance> = {}): Hindrance => ({
    cluster: target.name,
    message: messageOf(error),
    mayPass: false,
    ...more,
  })
  if (cluster === undefined) return hindered('there is no such cluster')
  if (!hasNamespace) return hindered(`its execution namespace ${namespace} does not exist`)
  const live = input.liveOf(namespace, workNameOf(binding))
  const owner = live === undefined ? undefined : otherOwner(kind, binding, live)
  if (owner !== undefined) return hindered(`Work ${namespace}/${workNameOf(binding)} belongs to ${owner}`)
  let own: KubeObject
  try {
    own = await revised(replicasFor(binding.spec, target))
  } catch (error) {
    return hindered(error, { mayPass: true })
  }
  try {
    const override = (object: KubeObject): Overridden => input.override(object, cluster)
    const workId = live?.metadata.labels?.[WORK_ID]
    const work = workFor({ kind, binding, template, target, revised: own, completions, override, workId, takesState })
    const isStaying = live !== undefined && live.metadata.deletionTimestamp === undefined
    return { cluster: target.name, work, live, patch: isStaying ? workChange(live, work) : undefined }
  } catch (error) {
    return hindered(error, { isOverride: error instanceof OverrideError })
  }
}

/** A Work of the same name that belongs to another is never taken over. */
export function otherOwner(kind: BindingKind, binding: Binding, work: KubeObject): string | undefined {
  const id = permanentIdOf(kind, work)
  if (id !== '' && id === permanentIdOf(kind, binding) && isWithin(kind, work, binding)) return undefined
  const named = kind.namedBy(work)
  const { namespace, name } = refOf(binding)
  if (named === undefined) return 'another maker'
  return named.namespace === namespace && named.name === name ? undefined : kind.display(named)
}

/** Asks the interpreter once per number of replicas. */
function reviser({ template, interpreter }: WantedInput): PerTarget['revised'] {
  const answers = new Map<number, Promise<KubeObject>>()
  const isRevised = interpreter.has(template, 'ReviseReplica')
  return (replicas) => {
    if (replicas === undefined || !isRevised) return Promise.resolve(template)
    const known = answers.get(replicas) ?? interpreter.revise(template, replicas)
    answers.set(replicas, known)
    return known
  }
}
