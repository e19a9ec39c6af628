/** What a process node is made of: its controllers, and what the process around it gives to them. */
import type { Controller } from '../../runtime/controller.ts'
import type { MemberShape } from '../shape.ts'
import { kubelet } from './controller.ts'
import { kubeletGarbage } from './garbage/controller.ts'
import { processNodeRegistration } from './node/controller.ts'
import type { KubeletOptions } from './options.ts'

export type { KubeletOptions } from './options.ts'
export { createNodeShutdown, type NodeShutdown } from './shutdown.ts'

/** None where no process node is asked for, or nothing is there to run processes. */
export function kubeletControllers(shape: MemberShape, options: KubeletOptions | undefined): Controller[] {
  if (options === undefined || shape.process.count === 0) return []
  return [processNodeRegistration(shape, options.facts), kubelet(shape, options), kubeletGarbage(shape, options.machine)]
}
