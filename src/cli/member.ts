/**
 * What a member of `up` has beyond its API server: its nodes, the machine its process nodes run pods on, the directories
 * of its volumes, and how it decides where a pod runs.
 */
import type { NodeConnections } from '../kube/node-connections.ts'
import type { RunPlacementOptions } from '../minicluster/admission/run-placement.ts'
import type { MemberOptions } from '../minicluster/controllers.ts'
import { createNodeShutdown, type KubeletOptions, type NodeShutdown } from '../minicluster/kubelet/index.ts'
import { createProcessMachine, memberConnections, type ProcessMachine } from '../minicluster/process/index.ts'
import { volumeDirectories } from '../minicluster/process/volume-directories.ts'
import type { MemberShape } from '../minicluster/shape.ts'
import type { StartPlan } from './commands/up.ts'
import type { Machine } from './machine.ts'
import { memberShape } from './member-nodes.ts'

export interface Member {
  /** Where it says it stands. */
  place: { region: string; zones: readonly string[] }
  run: RunPlacementOptions
  /** How the API server reaches into the member's pods. */
  nodes: NodeConnections
  /** Why pods with volumes cannot run for real here; undefined when they can. */
  refusal: string | undefined
  /** Options of the controllers, once it is known where the API server listens. */
  options(apiServer: { host: string; port: number }): MemberOptions
  /** Ends everything that runs, each with its grace; the pods stay and say why. */
  shutdown: NodeShutdown
  /** Pods that have something running. */
  runningPods(): number
  close(): void
}

export interface MemberPlace {
  name: string
  /** Counts from 1. */
  index: number
  directory: string
}

export function memberOf(machine: Machine, plan: StartPlan, place: MemberPlace): Member {
  const shape = memberShape(machine, plan.nodes, { name: place.name, index: place.index, members: plan.members })
  const { resolve } = machine.files
  const processes = createProcessMachine({
    directory: resolve(place.directory, 'pods'),
    dataDirectory: place.directory,
    clock: machine.clock,
    random: machine.random,
    shim: resolve(machine.program.file, '..', 'shim.mjs'),
    onError: (error) =>
      machine.log.write('error', 'the machine of a process node failed', {
        cluster: place.name,
        cause: error instanceof Error ? error.message : String(error),
      }),
  })
  const shutdown = createNodeShutdown(processes)
  const root = resolve(place.directory, 'volumes')
  const volumes = { root, directories: volumeDirectories(root) }
  const run = placementOf(shape, plan, processes)
  return {
    place: { region: shape.region, zones: shape.zones },
    run,
    nodes: memberConnections((node) => (node.startsWith(`${shape.name}-process-`) ? processes : undefined)),
    refusal: processes.namespacesRefusal,
    options: (apiServer) => ({
      shape,
      stages: plan.stages,
      run,
      volumes,
      kubelet: {
        machine: processes,
        clock: machine.clock,
        images: plan.images,
        volumesRoot: root,
        apiServer,
        env: envOf(machine),
        shutdown,
        facts: machine.facts,
      },
    }),
    shutdown,
    runningPods: () => processes.pods().filter((uid) => processes.runsOf(uid).some(({ state }) => state.phase === 'running')).length,
    close: () => processes.close(),
  }
}

function placementOf(shape: MemberShape, plan: StartPlan, processes: ProcessMachine): RunPlacementOptions {
  return {
    hasProcessNodes: shape.process.count > 0,
    isMapped: (image) => plan.images.has(image),
    resolves: processes.resolves,
  }
}

function envOf(machine: Machine): KubeletOptions['env'] {
  const names = ['PATH', 'HOME']
  return Object.fromEntries(
    names.map((name) => [name, machine.env(name)]).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
