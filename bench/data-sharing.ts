/** The parts of `npm run bench:data` about datasets of several namespaces and about fewer workers, with their sizes. */

import { manyFiles } from './data-bytes.ts'
import { measureChanges } from './data-changes.ts'
import { measureReferences, type ReferenceShape } from './data-references.ts'
import { measureScaleIn } from './data-scale-in.ts'
import { changesTable, referencesTable, scaleInTable } from './data-sharing-tables.ts'
import type { EmbeddedFleet, EmbeddedShape } from './embedded-fleet.ts'

export interface SharingOptions {
  quick: boolean
  references?: string
  namespaces?: string
  changes?: string
  mebibytes?: string
}

export interface Bench {
  isWanted(part: string): boolean
  publish(part: string, table: string): void
  onFleet<T>(shape: EmbeddedShape, measure: (fleet: EmbeddedFleet) => Promise<T>): Promise<T>
}

const ONE_NODE: EmbeddedShape = { members: 1, transport: 'in-process', nodes: 1 }
const FILES = 8

/** How much was written where nothing should be. */
export async function measureSharing({ isWanted, publish, onFleet }: Bench, options: SharingOptions): Promise<number> {
  const { quick: isQuick, changes, mebibytes } = options
  if (isWanted('changes')) {
    const shape = { references: 10, changes: Number(changes ?? (isQuick ? 30 : 300)) }
    publish('changes', changesTable(await onFleet(ONE_NODE, (fleet) => measureChanges(fleet, shape))))
  }
  let written = 0
  if (isWanted('references')) {
    const shape = referenceShape(options)
    const { rest, restart } = await onFleet(ONE_NODE, (fleet) =>
      measureReferences(fleet, shape, (known) => publish('references', referencesTable(known))),
    )
    written = (rest?.writes ?? 0) + (restart?.changed ?? 0)
  }
  if (isWanted('scale-in')) {
    const files = manyFiles(FILES, Math.ceil(Number(mebibytes ?? (isQuick ? 256 : 2048)) / FILES))
    const shape = { files, rounds: isQuick ? 1 : 2, restSeconds: isQuick ? 3 : 10 }
    publish('scale-in', scaleInTable(await onFleet({ ...ONE_NODE, processNodes: 3 }, (fleet) => measureScaleIn(fleet, shape))))
  }
  return written
}

function referenceShape({ quick: isQuick, references, namespaces }: SharingOptions): ReferenceShape {
  const most = Number(references ?? (isQuick ? 100 : 1000))
  return {
    steps: [...[10, 30, 100, 300].filter((step) => step < most).slice(-2), most],
    namespaces: Number(namespaces ?? 20),
    plain: isQuick ? 50 : 200,
    restSeconds: isQuick ? 10 : 60,
    changes: isQuick ? 3 : 10,
  }
}
