/** What a process node is made of: its controllers, and what the surrounding process provides to them. */
import type { Controller } from '../../runtime/controller.ts'
import type { VolumeDriver } from '../../runtime/seams/volume-driver.ts'
import type { MemberShape } from '../shape.ts'
import { kubelet } from './controller.ts'
import { kubeletGarbage } from './garbage/controller.ts'
import { kubeletHosts } from './hosts/controller.ts'
import { createHostsFiles } from './hosts/hosts-files.ts'
import { processNodeRegistration } from './node/controller.ts'
import type { KubeletOptions } from './options.ts'

export type { KubeletOptions } from './options.ts'
export { createNodeShutdown, type NodeShutdown } from './shutdown.ts'

/** None if nothing here can run processes. Without process nodes, those of an earlier start are removed. */
export function kubeletControllers(
  shape: MemberShape,
  options: KubeletOptions | undefined,
  volumeDrivers: readonly VolumeDriver[],
): Controller[] {
  if (options === undefined) return []
  const registration = processNodeRegistration(shape, options.systemInfo)
  if (shape.process.count === 0) return [registration]
  const hosts = createHostsFiles()
  return [
    registration,
    kubelet(shape, options, { volumeDrivers, hosts }),
    kubeletHosts(shape, options.machine, hosts),
    kubeletGarbage(shape, options.machine),
  ]
}
