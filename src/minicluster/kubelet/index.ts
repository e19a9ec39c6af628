/** What a process node is made of: its controllers, and what the surrounding process provides to them. */
import type { Controller } from '../../runtime/controller.ts'
import type { Seams } from '../../runtime/seams/seams.ts'
import type { MemberShape } from '../shape.ts'
import { kubelet } from './controller.ts'
import { kubeletCsi } from './csi/controller.ts'
import { NodeVolumes } from './csi/node-volumes.ts'
import { kubeletGarbage } from './garbage/controller.ts'
import { kubeletHosts } from './hosts/controller.ts'
import { createHostsFiles } from './hosts/hosts-files.ts'
import { processNodeRegistration } from './node/controller.ts'
import { processNodes } from './node/node.ts'
import { kubeletNodeData } from './node-data/controller.ts'
import { KeptRecords } from './node-data/records.ts'
import type { KubeletOptions } from './options.ts'
import { createSharedDirectories } from './volumes/shared-directories.ts'

export type { KubeletOptions } from './options.ts'
export { createNodeShutdown, type NodeShutdown } from './shutdown.ts'

/** None if nothing here can run processes. Without process nodes, those of an earlier start are removed. */
export function kubeletControllers(
  shape: MemberShape,
  options: KubeletOptions | undefined,
  { volumeDrivers, csiDrivers, nodeData }: Pick<Seams, 'volumeDrivers' | 'csiDrivers' | 'nodeData'>,
): Controller[] {
  if (options === undefined) return []
  const registration = processNodeRegistration(shape, options.systemInfo)
  if (shape.process.count === 0) return [registration]
  const { machine, clock, volumesRoot } = options
  const nodes = processNodes(shape).map(({ name }) => name)
  const csi = new NodeVolumes({ machine, clock, nodes: () => nodes, drivers: csiDrivers, volumesRoot })
  const hosts = createHostsFiles()
  const kept = { nodeData, records: new KeptRecords(machine, nodes), shared: createSharedDirectories() }
  const isOurs = (node: string): boolean => nodes.includes(node)
  return [
    registration,
    kubelet(shape, options, { volumeDrivers, csi, hosts, ...kept }),
    kubeletHosts(shape, machine, hosts),
    kubeletGarbage(shape, machine),
    ...(csiDrivers.length === 0 ? [] : [kubeletCsi({ volumes: csi, machine, isOurs })]),
    ...(nodeData.length === 0 ? [] : [kubeletNodeData({ ...kept, machine, csi, isOurs })]),
  ]
}
