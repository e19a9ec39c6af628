/**
 * What a member of `up` has beyond its API server: the machine that its process nodes run pods on, the directories of its
 * volumes, its nodes, and how it decides where a pod runs.
 */
import { messageOf } from '../../base/error-text.ts'
import type { HostMachine, HostPart, HostPlace } from '../../runtime/module/host.ts'
import { OWN_IMAGE } from '../../runtime/own-image.ts'
import type { EntryPoint } from '../kubelet/entry-point.ts'
import { createNodeShutdown, type KubeletOptions } from '../kubelet/index.ts'
import { memberShape } from '../node-settings.ts'
import type { MiniclusterOptions } from '../options.ts'
import { createProcessMachine, memberConnections } from './index.ts'
import { volumeDirectories } from './volume-directories.ts'

export function processHost(place: HostPlace, options: MiniclusterOptions): HostPart<MiniclusterOptions> {
  const { machine, cluster: name, index, members, directory } = place
  const { resolve } = machine.files
  const shape = memberShape(machine, options.nodes, { name, index, members })
  const processes = createProcessMachine({
    directory: resolve(directory, 'pods'),
    dataDirectory: directory,
    clock: machine.clock,
    random: machine.random,
    shim: resolve(machine.program.file, '..', 'shim.mjs'),
    onError: (error) =>
      machine.log.write('error', 'the machine of a process node failed', {
        cluster: name,
        cause: messageOf(error),
      }),
  })
  const shutdown = createNodeShutdown(processes)
  const root = resolve(directory, 'volumes')
  const entryPoints = new Map([[OWN_IMAGE, ownEntryPoint(machine)]])
  const run = {
    hasProcessNodes: shape.process.count > 0,
    isMapped: (image: string) => options.images.has(image),
    entryPoints,
    resolves: processes.resolves,
  }
  const kubelet = {
    machine: processes,
    clock: machine.clock,
    images: options.images,
    entryPoints,
    volumesRoot: root,
    env: variablesOf(machine),
    shutdown,
    systemInfo: machine.systemInfo,
  }
  return {
    options: (apiServer) => ({
      ...options,
      shape,
      run,
      volumes: { root, directories: volumeDirectories(root) },
      kubelet: { ...kubelet, apiServer },
    }),
    location: { region: shape.region, zones: shape.zones },
    nodes: memberConnections((node) => (node.startsWith(`${shape.name}-process-`) ? processes : undefined)),
    refusal: processes.namespacesRefusal,
    runningPods: () => processes.pods().filter((uid) => processes.runsOf(uid).some(({ state }) => state.phase === 'running')).length,
    async endPods() {
      await shutdown.begin()
      processes.releaseIdle()
    },
    close: () => processes.close(),
  }
}

/** The programs of our own image: the bundle that runs now, and the cache engine beside it. */
const ownEntryPoint = ({ files, program: { file } }: HostMachine): EntryPoint => ({
  name: 'sluice',
  program: [process.execPath, file],
  subcommands: { cache: [process.execPath, files.resolve(file, '..', 'cache.mjs')] },
})

function variablesOf(machine: HostMachine): KubeletOptions['env'] {
  const names = ['PATH', 'HOME']
  return Object.fromEntries(
    names.map((name) => [name, machine.env(name)]).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
