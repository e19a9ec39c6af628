/** The controllers of a member cluster of `up`, beside housekeeping: workloads, scheduling, storage, nodes. One line each. */
import type { Controller } from '../runtime/controller.ts'
import { nodeRegistration } from './nodes/registration/controller.ts'
import { simulatedNodes } from './nodes/simulated/controller.ts'
import type { Stage } from './nodes/simulated/stages.ts'
import type { MemberShape } from './shape.ts'
import { replicaSet } from './workloads/replica-set/controller.ts'
import { statefulSet } from './workloads/stateful-set/controller.ts'

export interface MemberOptions {
  shape: MemberShape
  /** The life of simulated pods (default: they start, run, end well if they are meant to end). */
  stages?: readonly Stage[]
}

export function memberControllers(options: MemberOptions): Controller[] {
  return [
    // Nodes.
    nodeRegistration(options.shape),
    simulatedNodes(options.stages),
    // Workloads.
    replicaSet,
    statefulSet,
  ]
}
