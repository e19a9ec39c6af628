/**
 * The seams that controllers use: what all modules of a cluster have contributed, in the order of `modules.ts`. Each seam
 * has its own file in this folder. Those that need no running cluster (pod admission, explainer, overview, story, seeded worlds) are
 * taken from the modules directly.
 */
import type { CsiDriver } from './csi-driver.ts'
import type { Narrowing } from './narrowing.ts'
import type { NodeData } from './node-data.ts'
import type { VolumeDriver } from './volume-driver.ts'

export interface Seams {
  narrowings: readonly Narrowing[]
  volumeDrivers: readonly VolumeDriver[]
  csiDrivers: readonly CsiDriver[]
  nodeData: readonly NodeData[]
}

export const NO_SEAMS: Seams = Object.freeze({ narrowings: [], volumeDrivers: [], csiDrivers: [], nodeData: [] })

export const joinSeams = (all: readonly Partial<Seams>[]): Seams => ({
  narrowings: all.flatMap(({ narrowings = [] }) => narrowings),
  volumeDrivers: all.flatMap(({ volumeDrivers = [] }) => volumeDrivers),
  csiDrivers: all.flatMap(({ csiDrivers = [] }) => csiDrivers),
  nodeData: all.flatMap(({ nodeData = [] }) => nodeData),
})
