/**
 * The hosts files of the pods on process nodes: written when a container starts, and again when the names of the namespace
 * change. Shared by the kubelet, which starts containers, and the controller that follows the Services: a container that
 * starts while names change ends up with the new ones, whichever of the two comes first.
 */
import type { ContainerMachine } from '../container-machine.ts'
import { hostsText, linesForOthers, type OwnLines } from './hosts-text.ts'

export interface HostsFiles {
  /** What is known about the Services of a namespace from now on. */
  setServices(namespace: string, lines: string): void
  /** Writes the file of a pod whose container is about to start, and returns its path. */
  begin(machine: ContainerMachine, podUid: string, own: OwnLines): Promise<string>
  /** Whether the file says what is known now, as far as this process knows. */
  isCurrent(podUid: string, of: Pick<OwnLines, 'namespace' | 'others'>): boolean
  /** Writes the file of a pod that has one. */
  update(machine: ContainerMachine, podUid: string, own: OwnLines): Promise<void>
  forget(podUid: string): void
}

const FILE = 'hosts'
const MACHINE_FILE = '/etc/hosts'
const MAX_MACHINE_BYTES = 64 * 1024

export function createHostsFiles(): HostsFiles {
  const namespaces = new Map<string, { lines: string; version: number }>()
  /** The version that each pod's file has. */
  const written = new Map<string, string>()
  const knownOf = (namespace: string): { lines: string; version: number } => namespaces.get(namespace) ?? NOTHING
  const linesOf = ({ namespace, others }: OwnLines): string =>
    [knownOf(namespace).lines, ...others.map((other) => linesForOthers(knownOf(other).lines))].join('')
  const versionOf = ({ namespace, others }: Pick<OwnLines, 'namespace' | 'others'>): string =>
    [namespace, ...others].map((one) => knownOf(one).version).join()

  /** Until nothing changed while it was written. */
  async function write(machine: ContainerMachine, podUid: string, target: { own: OwnLines; how: 'create' | 'replace' }): Promise<string> {
    const bytes = await machine.readFile(MACHINE_FILE, MAX_MACHINE_BYTES)
    const machineText = bytes === undefined ? '' : Buffer.from(bytes).toString('utf8')
    for (;;) {
      const [lines, version] = [linesOf(target.own), versionOf(target.own)]
      const path = await machine.writePodFile(podUid, { name: FILE, text: hostsText(target.own, lines, machineText), how: target.how })
      if (versionOf(target.own) !== version) continue
      written.set(podUid, version)
      return path
    }
  }

  return {
    setServices(namespace, lines) {
      const before = knownOf(namespace)
      if (before.lines !== lines) namespaces.set(namespace, { lines, version: before.version + 1 })
    },
    begin: (machine, podUid, own) => write(machine, podUid, { own, how: 'create' }),
    isCurrent: (podUid, of) => written.get(podUid) === versionOf(of),
    async update(machine, podUid, own) {
      await write(machine, podUid, { own, how: 'replace' })
    },
    forget: (podUid) => void written.delete(podUid),
  }
}

const NOTHING = { lines: '', version: 0 }
