/**
 * What CSI drivers have done, in the directory of the node they did it on, so that a restart of Sluice finds it again. A
 * record is written before its driver is called, and completed or removed afterwards:
 *
 *   csi/<key>/volume.json             a volume, and whether it is staged
 *   csi/<key>/pods/<uid>_<volume>.json  a pod that has it, and what was published
 */
import { createHash } from 'node:crypto'
import { isJsonObject } from '../../../base/json.ts'
import type { CsiPod, CsiVolume, Published } from '../../../runtime/seams/csi-driver.ts'
import type { ContainerMachine } from '../container-machine.ts'

export interface VolumeRecord {
  volume: CsiVolume
  isStaged: boolean
}

export interface UseRecord {
  pod: CsiPod
  /** Name of the volume in the pod. */
  name: string
  readOnly: boolean
  /** Undefined while it is being published. */
  published?: Published
}

export interface FoundRecord extends VolumeRecord {
  uses: UseRecord[]
}

const MAX_BYTES = 256 * 1024

/** Identifies a volume on a node; short enough for the name of a directory. */
export const keyOfVolume = ({ driver, uid }: CsiVolume): string =>
  createHash('sha256').update(`${driver}\n${uid}`).digest('hex').slice(0, 32)

export const keyOfUse = (podUid: string, name: string): string => `${podUid}_${name}`

export interface Records {
  find(node: string): Promise<FoundRecord[]>
  writeVolume(node: string, record: VolumeRecord): Promise<void>
  writeUse(node: string, volume: CsiVolume, use: UseRecord): Promise<void>
  removeVolume(node: string, volume: CsiVolume): Promise<void>
  removeUse(node: string, volume: CsiVolume, use: UseRecord): Promise<void>
}

export function createRecords(machine: () => ContainerMachine): Records {
  const top = (node: string): string => `${machine().nodeDirectory(node)}/csi`
  const at = (node: string, volume: CsiVolume): string => `${top(node)}/${keyOfVolume(volume)}`
  const fileOfUse = (node: string, volume: CsiVolume, { pod, name }: UseRecord): string =>
    `${at(node, volume)}/pods/${keyOfUse(pod.uid, name)}.json`

  async function readJson(file: string): Promise<unknown> {
    const bytes = await machine().readFile(file, MAX_BYTES)
    if (bytes === undefined) return undefined
    try {
      return JSON.parse(Buffer.from(bytes).toString())
    } catch {
      return undefined
    }
  }

  return {
    async find(node) {
      const found: FoundRecord[] = []
      for (const key of await machine().namesIn(top(node))) {
        const record = await readJson(`${top(node)}/${key}/volume.json`)
        if (!isVolumeRecord(record) || keyOfVolume(record.volume) !== key) continue
        const uses: UseRecord[] = []
        for (const name of await machine().namesIn(`${top(node)}/${key}/pods`)) {
          const use = await readJson(`${top(node)}/${key}/pods/${name}`)
          if (isUseRecord(use)) uses.push(use)
        }
        found.push({ ...record, uses })
      }
      return found
    },
    writeVolume: (node, record) => machine().writeFile(`${at(node, record.volume)}/volume.json`, JSON.stringify(record)),
    writeUse: (node, volume, use) => machine().writeFile(fileOfUse(node, volume, use), JSON.stringify(use)),
    removeVolume: (node, volume) => machine().removePath(at(node, volume)),
    removeUse: (node, volume, use) => machine().removePath(fileOfUse(node, volume, use)),
  }
}

const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string')

function isVolume(value: unknown): value is CsiVolume {
  return (
    isJsonObject(value) &&
    areTexts(value.driver, value.name, value.uid, value.handle) &&
    isJsonObject(value.attributes) &&
    areTexts(...Object.values(value.attributes)) &&
    Array.isArray(value.accessModes) &&
    areTexts(...value.accessModes) &&
    (value.claim === undefined || (isJsonObject(value.claim) && areTexts(value.claim.namespace, value.claim.name)))
  )
}

const isVolumeRecord = (value: unknown): value is VolumeRecord =>
  isJsonObject(value) && isVolume(value.volume) && typeof value.isStaged === 'boolean'

const isUseRecord = (value: unknown): value is UseRecord =>
  isJsonObject(value) &&
  isJsonObject(value.pod) &&
  areTexts(value.name, value.pod.uid, value.pod.name, value.pod.namespace, value.pod.serviceAccount) &&
  typeof value.readOnly === 'boolean' &&
  (value.published === undefined || isPublished(value.published))

const isPublished = (value: unknown): boolean =>
  isJsonObject(value) &&
  typeof value.path === 'string' &&
  (value.mounts === undefined ||
    (Array.isArray(value.mounts) && value.mounts.every((mount) => isJsonObject(mount) && areTexts(mount.path, mount.source))))
