/** What the process nodes of a member need from the process they run in. */
import type { Clock } from '../../base/clock.ts'
import type { ContainerMachine } from './container-machine.ts'
import type { EntryPoints } from './entry-point.ts'
import type { NodeShutdown } from './shutdown.ts'

export interface KubeletOptions {
  machine: ContainerMachine
  clock: Clock
  /** Image → directory used in its place: `--image NAME=DIR`. */
  images?: ReadonlyMap<string, string>
  /** Images whose program is on this machine, by repository. */
  entryPoints?: EntryPoints
  /** Where pods reach the API server of their cluster (default: no environment variables for it). */
  apiServer?: { host: string; port: number }
  /** Variables every container has, besides `HOSTNAME` and those of the API server. `PATH` and `HOME` are the machine's. */
  env?: Readonly<Record<string, string>>
  /** Where volumes of the class `local` are (default: where the volumes say). */
  volumesRoot?: string
  /** Asks the nodes to stop everything gracefully. */
  shutdown?: NodeShutdown
  /** What the nodes report about this machine. */
  systemInfo?: NodeSystemInfo
}

export interface NodeSystemInfo {
  architecture: string
  operatingSystem: string
  kernelVersion: string
  osImage: string
}
