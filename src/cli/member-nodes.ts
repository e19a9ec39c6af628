/**
 * How the members of `up` look: options, what was kept from the last start, and defaults become the shape of each member.
 */
import type { Random } from '../base/random.ts'
import { tryParseQuantity } from '../kube/quantity.ts'
import { type MemberShape, type NodeSize, POD_NETWORKS, SIMULATED_NODE_SIZE } from '../minicluster/shape.ts'
import { CommandError, type Machine } from './machine.ts'

/** Kept in the data directory, so that a start without options finds the nodes of before. */
export interface NodeSettings {
  simulated: { count: number; size: NodeSize }
  /** Without a size, the machine is divided among the members. */
  process: { count: number; size?: NodeSize }
  /** Where the networks of pods begin: drawn once, so that several Sluices on one machine do not share addresses. */
  network?: number
}

export interface NodeOptions {
  nodes?: string
  nodeSize?: string
  processNodes?: string
  processNodeSize?: string
}

export const DEFAULT_NODES: NodeSettings = Object.freeze({ simulated: { count: 4, size: SIMULATED_NODE_SIZE }, process: { count: 1 } })
const MAX_SIMULATED_NODES = 10_000
const MAX_PROCESS_NODES = 10
const PROCESS_NODE_PODS = 110
const MEBIBYTE = 1024 * 1024
const REGIONS = ['east', 'west', 'north']

export function nodeSettings(options: NodeOptions, kept: NodeSettings | undefined, random: Random): NodeSettings {
  const before = kept ?? DEFAULT_NODES
  const size =
    options.processNodeSize === undefined
      ? before.process.size
      : sizeOf('--process-node-size', options.processNodeSize, SIMULATED_NODE_SIZE)
  return {
    simulated: {
      count: countOf('--nodes', options.nodes, MAX_SIMULATED_NODES) ?? before.simulated.count,
      size: options.nodeSize === undefined ? before.simulated.size : sizeOf('--node-size', options.nodeSize, before.simulated.size),
    },
    process: {
      count: countOf('--process-nodes', options.processNodes, MAX_PROCESS_NODES) ?? before.process.count,
      ...(size === undefined ? {} : { size }),
    },
    network: before.network ?? Math.floor(random.next() * POD_NETWORKS),
  }
}

/** `index` counts from 1. Regions repeat when there are more members than names for them. */
export function memberShape(
  machine: Pick<Machine, 'hardware'>,
  settings: NodeSettings,
  member: { name: string; index: number; members: number },
): MemberShape {
  const region = REGIONS[(member.index - 1) % REGIONS.length] ?? 'east'
  const size = settings.process.size ?? shareOf(machine, Math.max(1, member.members * settings.process.count))
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

function shareOf({ hardware }: Pick<Machine, 'hardware'>, shares: number): NodeSize {
  const milliCpu = Math.max(100, Math.floor((hardware.cpus * 1000) / shares))
  const mebibytes = Math.max(64, Math.floor(hardware.memoryBytes / MEBIBYTE / shares))
  return { cpu: `${milliCpu}m`, memory: `${mebibytes}Mi`, pods: PROCESS_NODE_PODS }
}

function countOf(flag: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text) || Number(text) > max)
    throw new CommandError(`${flag} takes a whole number from 0 to ${max}, not ${JSON.stringify(text)}`)
  return Number(text)
}

/** `cpu=8,memory=32Gi,pods=110`; what is not said stays as in `base`. */
function sizeOf(flag: string, text: string, base: NodeSize): NodeSize {
  const size = { ...base }
  for (const part of text.split(',')) {
    const [key = '', value = ''] = part.split('=')
    if (key !== 'cpu' && key !== 'memory' && key !== 'pods')
      throw new CommandError(`${flag} takes cpu=…,memory=…,pods=…; ${JSON.stringify(part)} is none of them`)
    const parsed = tryParseQuantity(value)
    if (value === '' || parsed.error !== undefined || parsed.value.unscaled <= 0n)
      throw new CommandError(`${flag}: ${key} must be a quantity above zero, such as 8 or 32Gi, not ${JSON.stringify(value)}`)
    if (key !== 'pods') size[key] = value
    else if (/^[1-9]\d{0,4}$/.test(value)) size.pods = Number(value)
    else throw new CommandError(`${flag}: pods must be a whole number, not ${JSON.stringify(value)}`)
  }
  return size
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
