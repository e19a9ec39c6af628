/** How a set is updated and scaled, read once with its defaults. What cannot be read is as cautious as the default. */
import type { AdvancedStatefulSet, AdvancedStatefulSetSpec } from '../../kinds/fluid/advanced-stateful-set.ts'
import { type IntOrString, scaledIntOrPercent } from '../../kube/int-or-string.ts'
import { replicasOf } from '../../runtime/workloads/stateful-set/ordinals.ts'

type RollingUpdate = NonNullable<NonNullable<AdvancedStatefulSetSpec['updateStrategy']>['rollingUpdate']>
export type Priority = NonNullable<NonNullable<RollingUpdate['unorderedUpdate']>['priorityStrategy']>

export interface Strategy {
  /** Pods get the new revision only when somebody else deletes them. */
  isOnDelete: boolean
  isPaused: boolean
  /** Undefined when the set says nothing about its rolling update. */
  partition: number | undefined
  /** At least 1. */
  maxUnavailable: number
  minReadySeconds: number
  podUpdatePolicy: 'ReCreate' | 'InPlaceIfPossible' | 'InPlaceOnly'
  /** The order of ordinals does not count, but these priorities. */
  unordered: Priority | undefined
  /** While pods are created, if Parallel; undefined: no limit. */
  scaleMaxUnavailable: number | undefined
}

export function strategyOf(set: AdvancedStatefulSet): Strategy {
  const { updateStrategy, scaleStrategy } = set.spec
  const how = updateStrategy?.rollingUpdate
  const replicas = replicasOf(set)
  const atScale = scaleStrategy?.maxUnavailable
  return {
    isOnDelete: updateStrategy?.type === 'OnDelete',
    isPaused: how?.paused === true,
    partition: how === undefined ? undefined : Math.max(0, how.partition),
    maxUnavailable: atLeastOne(how?.maxUnavailable, replicas),
    minReadySeconds: how?.minReadySeconds ?? 0,
    podUpdatePolicy: policyOf(how?.podUpdatePolicy),
    unordered: how?.unorderedUpdate === undefined ? undefined : (how.unorderedUpdate.priorityStrategy ?? {}),
    scaleMaxUnavailable: atScale === undefined ? undefined : atLeastOne(atScale, replicas),
  }
}

const atLeastOne = (value: IntOrString | undefined, replicas: number): number =>
  Math.max(1, scaledIntOrPercent(value ?? 1, replicas, false).value ?? 1)

const policyOf = (text: string | undefined): Strategy['podUpdatePolicy'] =>
  text === 'InPlaceIfPossible' || text === 'InPlaceOnly' ? text : 'ReCreate'
