/** Where a component stores what it caches: volumes and mounts of its pods, memory that they need, and what they are told. */
import type { CacheTierLevel } from '../../../kinds/fluid/index.ts'
import type { Container, Volume, VolumeMount } from '../../../kinds/kubernetes/types.ts'
import { addQuantities, canonicalQuantity, formatQuantity, isZeroQuantity, parseQuantity, type Quantity } from '../../../kube/quantity.ts'
import { tierVolumeName } from './volume-names.ts'

/** One directory of a tiered store, as a container sees it. */
export interface TierDirectory {
  volume: Volume
  mount: VolumeMount
  /** What it takes from the memory of the container. */
  memory: Quantity | undefined
}

/** A level as runtime.json describes it. */
export interface LevelConfig {
  mountPaths?: readonly string[]
  mediumType: 'MEM' | 'HDD'
  quotas?: readonly string[]
  high?: string
  low?: string
}

const MEMORY_PATH = '/dev/shm'
const STORE_PATH = '/etc/fluid/mount/tiered-store'

export const directoriesOf = (levels: readonly CacheTierLevel[]): TierDirectory[] =>
  levels.flatMap(({ processMemory, emptyDir, hostPath }, i): TierDirectory[] => {
    if (processMemory !== undefined) {
      const name = tierVolumeName(i, 'memory')
      const volume = { name, emptyDir: { medium: 'Memory', sizeLimit: textOf(processMemory.quota) } }
      return [{ volume, mount: { name, mountPath: MEMORY_PATH }, memory: parseQuantity(processMemory.quota) }]
    }
    if (hostPath !== undefined)
      return hostPath.paths.map((path, j) => {
        const name = tierVolumeName(i, `index-${j}`)
        const type = hostPath.type ?? 'DirectoryOrCreate'
        return { volume: { name, hostPath: { path, type } }, mount: { name, mountPath: hostPathMount(i, j) }, memory: undefined }
      })
    if (emptyDir === undefined) return []
    const { medium = '', quota } = emptyDir
    const name = tierVolumeName(i, 'index-0')
    const volume = { name, emptyDir: { ...(medium === '' ? {} : { medium }), sizeLimit: textOf(quota) } }
    return [{ volume, mount: { name, mountPath: emptyDirMount(i) }, memory: medium === 'Memory' ? parseQuantity(quota) : undefined }]
  })

const hostPathMount = (level: number, index: number): string => `${STORE_PATH}/level-${level}-index-${index}-hostpath`
const emptyDirMount = (level: number): string => `${STORE_PATH}/level-${level}-index-0-emptydir`

export const levelConfigs = (levels: readonly CacheTierLevel[]): LevelConfig[] =>
  levels.map(({ processMemory, emptyDir, hostPath, high, low }, i): LevelConfig => {
    const marks = { ...(high === undefined ? {} : { high }), ...(low === undefined ? {} : { low }) }
    if (processMemory !== undefined)
      return { mountPaths: [MEMORY_PATH], mediumType: 'MEM', quotas: [textOf(processMemory.quota)], ...marks }
    if (hostPath !== undefined)
      return {
        mountPaths: hostPath.paths.map((_path, j) => hostPathMount(i, j)),
        mediumType: 'HDD',
        quotas: hostPath.quotas.map(textOf),
        ...marks,
      }
    if (emptyDir === undefined) return { mediumType: 'HDD', ...marks }
    const mediumType = emptyDir.medium === 'Memory' ? 'MEM' : 'HDD'
    return { mountPaths: [emptyDirMount(i)], mediumType, quotas: [textOf(emptyDir.quota)], ...marks }
  })

/** What cannot be read was refused before. */
const textOf = (quota: number | string): string => canonicalQuantity(quota).value ?? String(quota)

/** Memory of tiers counts where memory is restricted at all. */
export function withTierMemory(resources: Container['resources'], directories: readonly TierDirectory[]): Container['resources'] {
  const memory = directories.flatMap((one) => one.memory ?? [])
  if (memory.length === 0 || resources === undefined) return resources
  const raised = (amounts: Record<string, string> | undefined): Record<string, string> | undefined => {
    const own = amounts?.memory === undefined ? undefined : parseQuantity(amounts.memory)
    if (own === undefined || isZeroQuantity(own)) return amounts
    return { ...amounts, memory: formatQuantity(memory.reduce(addQuantities, own)) }
  }
  const { requests, limits } = resources as { requests?: Record<string, string>; limits?: Record<string, string> }
  return {
    ...resources,
    ...(requests === undefined ? {} : { requests: raised(requests) }),
    ...(limits === undefined ? {} : { limits: raised(limits) }),
  }
}
