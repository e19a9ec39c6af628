/** How a Deployment writes its ReplicaSets: a new one for a new template, and one patch for each that changes, with its events. */
import { REPLICA_SETS } from '../../../kinds/kubernetes/resources.ts'
import type { Deployment, ReplicaSet } from '../../../kinds/kubernetes/types.ts'
import type { Action, EventIntent } from '../../../runtime/controller.ts'
import { controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { changedAnnotations, newestAnnotations, replicasAnnotations, sizeOf } from './annotations.ts'
import type { Goal, Step } from './sizes.ts'
import { HASH_LABEL, replicaSetName, templateHash, templateText } from './template.ts'

export interface NewSet {
  object: ReplicaSet
  action: Action
}

export interface NewSetInput {
  deployment: Deployment
  goal: Goal
  size: number
  revision: number
}

/** Its name, its labels and its selector carry the hash of the template. */
export function newSet({ deployment, goal, size, revision }: NewSetInput): NewSet {
  const { template, selector, minReadySeconds } = deployment.spec ?? {}
  const hash = templateHash(templateText(template), deployment.status?.collisionCount)
  const labels = { ...template?.metadata?.labels, [HASH_LABEL]: hash }
  const object: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: replicaSetName(deployment.metadata.name ?? '', hash),
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { ...newestAnnotations(deployment, undefined, revision), ...replicasAnnotations(goal) },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: size,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  }
  const { name = '' } = object.metadata
  const action: Action = {
    do: 'create',
    resource: REPLICA_SETS,
    object,
    events: size > 0 ? scaled(deployment, { name, from: 0, to: size }) : [],
    eventOnFailure: (why) => ({
      of: deployment,
      type: 'Warning',
      reason: 'ReplicaSetCreateError',
      message: `Failed to create new replica set "${name}": ${why}`,
    }),
  }
  return { object, action }
}

export interface ChangeInput {
  deployment: Deployment
  goal: Goal
  newest: ReplicaSet | undefined
  olds: readonly ReplicaSet[]
  revision: number
  steps: readonly Step[]
}

/** In the order of the steps; the newest also gets the Deployment's annotations, revision and minReadySeconds. */
export function setActions({ deployment, goal, newest, olds, revision, steps }: ChangeInput): Action[] {
  const sets = new Map([...olds, ...(newest === undefined ? [] : [newest])].map((set) => [set.metadata.name ?? '', set]))
  const named = new Set([...steps.map(({ name }) => name), ...(newest === undefined ? [] : [newest.metadata.name ?? ''])])
  return [...named].flatMap((name): Action[] => {
    const set = sets.get(name)
    if (set === undefined) return []
    const { minReadySeconds = 0 } = deployment.spec ?? {}
    const own = steps.filter((step) => step.name === name)
    const annotations = {
      ...(set === newest ? newestAnnotations(deployment, set, revision) : {}),
      ...(own.length > 0 ? changedAnnotations(set, replicasAnnotations(goal)) : {}),
    }
    const spec = {
      ...(set === newest && (set.spec?.minReadySeconds ?? 0) !== minReadySeconds ? { minReadySeconds } : {}),
      ...sizeChange(set, own),
    }
    if (Object.keys(annotations).length === 0 && Object.keys(spec).length === 0) return []
    const patch = {
      ...(Object.keys(annotations).length === 0 ? {} : { metadata: { annotations } }),
      ...(Object.keys(spec).length === 0 ? {} : { spec }),
    }
    return [{ do: 'patch', resource: REPLICA_SETS, of: set, patch, events: eventsOf(deployment, set, own) }]
  })
}

function sizeChange(set: ReplicaSet, steps: readonly Step[]): { replicas?: number } {
  const last = steps.at(-1)
  return last === undefined || last.to === sizeOf(set) ? {} : { replicas: last.to }
}

function eventsOf(deployment: Deployment, set: ReplicaSet, steps: readonly Step[]): EventIntent[] {
  let from = sizeOf(set)
  const events: EventIntent[] = []
  for (const { name, to } of steps) {
    if (to !== from) events.push(scaled(deployment, { name, from, to }))
    from = to
  }
  return events
}

const scaled = (of: Deployment, { name, from, to }: { name: string; from: number; to: number }): EventIntent => ({
  of,
  type: 'Normal',
  reason: 'ScalingReplicaSet',
  message: `Scaled ${from < to ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`,
})
