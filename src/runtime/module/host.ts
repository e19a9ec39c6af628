/**
 * What a module needs of the machine under a cluster of `up`: the process that serves the cluster creates it before the API
 * server, and closes it after it. There is no host anywhere else: worlds script one, `sluice controllers` has none.
 */
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import type { NodeConnections } from '../../kube/node-connections.ts'

/** As much of the machine as a host may use. */
export interface HostMachine {
  clock: Clock
  random: Random
  log: Log
  env(name: string): string | undefined
  hardware: { cpus: number; memoryBytes: number }
  systemInfo: { architecture: string; operatingSystem: string; kernelVersion: string; osImage: string }
  files: { resolve(...parts: string[]): string }
  program: { file: string }
}

export interface HostPlace {
  machine: HostMachine
  cluster: string
  /** Number of the cluster among the members, from 1. */
  index: number
  /** How many members there are. */
  members: number
  /** Where the cluster keeps its files. */
  directory: string
}

export interface HostPart<Options> {
  /** The options of the module with what the host adds; `apiServer` once it is known. */
  options(apiServer?: { host: string; port: number }): Options
  /** How the API server reaches into pods. */
  nodes?: NodeConnections
  /** The location that the cluster reports. */
  location?: { region: string; zones: readonly string[] }
  /** Why pods with volumes cannot run for real here; undefined when they can. */
  refusal?: string
  /** How many pods have running processes. */
  runningPods(): number
  /** Ends everything that runs, each pod with its grace period. */
  endPods(): Promise<void>
  close(): void
}
