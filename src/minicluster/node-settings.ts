/**
 * What the members of `up` look like: flags, what was kept from the last start, and defaults become the shape of each member.
 */
import type { Random } from '../base/random.ts'
import { type Parsed, parsed, unparsed } from '../kube/parsed.ts'
import { tryParseQuantity } from '../kube/quantity.ts'
import type { Flag } from '../runtime/module/flags.ts'
import type { HostMachine } from '../runtime/module/host.ts'
import { type MemberShape, type NodeSize, POD_NETWORKS, SIMULATED_NODE_SIZE } from './shape.ts'

/** Kept in the data directory, so that a start without options has the same nodes as before. */
export interface NodeSettings {
  simulated: { count: number; size: NodeSize }
  /** Without a size, each is as large as the member's share of the machine: together, the nodes of a member are overcommitted. */
  process: { count: number; size?: NodeSize }
  /** Where the pod networks begin: drawn once, so that several Sluices on one machine do not share addresses. */
  network?: number
}

export const DEFAULT_NODES: NodeSettings = Object.freeze({ simulated: { count: 4, size: SIMULATED_NODE_SIZE }, process: { count: 3 } })
const MAX_SIMULATED_NODES = 10_000
const MAX_PROCESS_NODES = 10
const PROCESS_NODE_PODS = 110
const MEBIBYTE = 1024 * 1024
const REGIONS = ['east', 'west', 'north']

/** What was kept, or the defaults; the network is drawn once. */
export function settingsFrom(kept: NodeSettings | undefined, random: Random): NodeSettings {
  const before = kept ?? DEFAULT_NODES
  return { ...before, network: before.network ?? Math.floor(random.next() * POD_NETWORKS) }
}

/** The flags of `up` about nodes: each changes the settings; its error says what it accepts. */
export const NODE_FLAGS: readonly Flag<NodeSettings>[] = [
  {
    flag: '--nodes <n>',
    about: 'simulated nodes of each member (default 4, then as before)',
    read: (text, settings) => {
      const count = countOf('--nodes', text, MAX_SIMULATED_NODES)
      return count.error !== undefined ? count : parsed({ ...settings, simulated: { ...settings.simulated, count: count.value } })
    },
  },
  {
    flag: '--node-size <size>',
    about: 'of a simulated node, as cpu=8,memory=32Gi,pods=110 (default that)',
    read: (text, settings) => {
      const size = sizeOf('--node-size', text, settings.simulated.size)
      return size.error !== undefined ? size : parsed({ ...settings, simulated: { ...settings.simulated, size: size.value } })
    },
  },
  {
    flag: '--process-nodes <n>',
    about: 'nodes of each member whose pods run as processes of this machine (default 3, then as before)',
    read: (text, settings) => {
      const count = countOf('--process-nodes', text, MAX_PROCESS_NODES)
      return count.error !== undefined ? count : parsed({ ...settings, process: { ...settings.process, count: count.value } })
    },
  },
  {
    flag: '--process-node-size <size>',
    about: 'of each process node (default the machine divided by the members, so that several together are overcommitted)',
    read: (text, settings) => {
      const size = sizeOf('--process-node-size', text, SIMULATED_NODE_SIZE)
      return size.error !== undefined ? size : parsed({ ...settings, process: { ...settings.process, size: size.value } })
    },
  },
]

/** `index` counts from 1. Regions repeat when there are more members than names for them. */
export function memberShape(
  machine: Pick<HostMachine, 'hardware'>,
  settings: NodeSettings,
  member: { name: string; index: number; members: number },
): MemberShape {
  const region = REGIONS[(member.index - 1) % REGIONS.length] ?? 'east'
  const size = settings.process.size ?? shareOf(machine, Math.max(1, member.members))
  return {
    index: member.index,
    network: settings.network,
    name: member.name,
    region,
    zones: [`${region}-a`, `${region}-b`],
    simulated: settings.simulated,
    process: { count: settings.process.count, size },
  }
}

function shareOf({ hardware }: Pick<HostMachine, 'hardware'>, shares: number): NodeSize {
  const milliCpu = Math.max(100, Math.floor((hardware.cpus * 1000) / shares))
  const mebibytes = Math.max(64, Math.floor(hardware.memoryBytes / MEBIBYTE / shares))
  return { cpu: `${milliCpu}m`, memory: `${mebibytes}Mi`, pods: PROCESS_NODE_PODS }
}

function countOf(flag: string, text: string, max: number): Parsed<number> {
  if (!/^\d+$/.test(text) || Number(text) > max)
    return unparsed(`${flag} takes a whole number from 0 to ${max}, not ${JSON.stringify(text)}`)
  return parsed(Number(text))
}

/** `cpu=8,memory=32Gi,pods=110`; what is left out stays as in `base`. */
function sizeOf(flag: string, text: string, base: NodeSize): Parsed<NodeSize> {
  const size = { ...base }
  for (const part of text.split(',')) {
    const [key = '', value = ''] = part.split('=')
    if (key !== 'cpu' && key !== 'memory' && key !== 'pods')
      return unparsed(`${flag} takes cpu=…,memory=…,pods=…; ${JSON.stringify(part)} is none of them`)
    const quantity = tryParseQuantity(value)
    if (value === '' || quantity.error !== undefined || quantity.value.unscaled <= 0n)
      return unparsed(`${flag}: ${key} must be a quantity above zero, such as 8 or 32Gi, not ${JSON.stringify(value)}`)
    if (key !== 'pods') size[key] = value
    else if (/^[1-9]\d{0,4}$/.test(value)) size.pods = Number(value)
    else return unparsed(`${flag}: pods must be a whole number, not ${JSON.stringify(value)}`)
  }
  return parsed(size)
}

/** What a data directory kept; anything unreadable counts as nothing kept. */
export function keptNodes(value: unknown): NodeSettings | undefined {
  const { simulated, process, network } = (value ?? {}) as Partial<NodeSettings>
  const isCount = (count: unknown): boolean => Number.isInteger(count) && Number(count) >= 0
  if (!isCount(simulated?.count) || !isSize(simulated?.size) || !isCount(process?.count)) return undefined
  if (process?.size !== undefined && !isSize(process.size)) return undefined
  return { simulated, process, network: isCount(network) ? network : undefined } as NodeSettings
}

const isSize = (size: NodeSize | undefined): boolean =>
  typeof size === 'object' &&
  size !== null &&
  typeof size.cpu === 'string' &&
  typeof size.memory === 'string' &&
  Number.isInteger(size.pods)
