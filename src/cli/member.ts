/** What a member of `up` has beyond its API server: its nodes, and how it decides where a pod runs. */
import type { RunPlacementOptions } from '../minicluster/admission/run-placement.ts'
import type { MemberOptions } from '../minicluster/controllers.ts'
import type { StartPlan } from './commands/up.ts'
import type { Machine } from './machine.ts'
import { memberShape } from './member-nodes.ts'

export interface Member {
  options: MemberOptions
  run: RunPlacementOptions
}

export function memberOf(machine: Machine, plan: StartPlan, { name, index }: { name: string; index: number }): Member {
  const shape = memberShape(machine, plan.nodes, { name, index, members: plan.members })
  const run: RunPlacementOptions = { hasProcessNodes: false, isMapped: (image) => plan.images.has(image), resolves: () => false }
  return { options: { shape, stages: plan.stages, run }, run }
}
