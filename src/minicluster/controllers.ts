/** The controllers of a member cluster of `up`, beside housekeeping: workloads, scheduling, storage, nodes. One line each. */
import type { Controller } from '../runtime/controller.ts'
import type { MemberShape } from './shape.ts'

export interface MemberOptions {
  shape: MemberShape
}

export function memberControllers(_options: MemberOptions): Controller[] {
  return []
}
