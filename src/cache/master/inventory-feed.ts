/**
 * `GET /v1/inventory`: the changes after a revision, or a whole snapshot when that revision is unknown; with `wait` the answer
 * comes when there is something newer, or when the time is over.
 */
import type { Clock } from '../../base/clock.ts'
import { datasetPath, isBelow } from '../config/paths.ts'
import { HttpError } from '../http/errors.ts'
import type { Exchange } from '../http/server.ts'
import type { Inventory } from '../inventory/inventory.ts'
import type { InventoryLine } from '../protocol/file.ts'

/** The first line of a whole snapshot: what was known before is void. */
export type FeedLine = InventoryLine | { snapshot: true }

const LONGEST_WAIT_SECONDS = 30
const NUMBER = /^[0-9]{1,15}$/

export interface Feed {
  inventory: Inventory
  clock: Clock
  /** What the asker may read. */
  readable: string
}

export async function inventoryLines({ inventory, clock, readable }: Feed, { query, signal }: Exchange): Promise<Iterable<FeedLine>> {
  const subPath = datasetPath(query.get('subPath') ?? readable)
  if (subPath === undefined) throw new HttpError(400, 'BadQuery', 'subPath must be absolute and clean')
  if (!isBelow(subPath, readable)) throw new HttpError(403, 'NotGranted', `this ticket opens ${readable} alone`)
  const since = numberOf(query.get('since'), 'since')
  const wait = Math.min(numberOf(query.get('wait'), 'wait') ?? 0, LONGEST_WAIT_SECONDS)
  if (since === undefined) return snapshotLines(inventory, subPath)
  let lines = inventory.since(since, subPath)
  // Whoever still believes that the first listing goes on has something to learn, though no file changed.
  const isKnown = query.get('complete') !== 'false' || !inventory.isComplete
  if (lines !== undefined && isNothing(lines) && isKnown && wait > 0) {
    await changeOrTimeout({ inventory, clock, readable: subPath }, { since, waitMs: wait * 1000, signal })
    lines = inventory.since(since, subPath)
  }
  return lines ?? snapshotLines(inventory, subPath)
}

function* snapshotLines(inventory: Inventory, subPath: string): Generator<FeedLine> {
  const { revision, isComplete, entries } = inventory.snapshot(subPath)
  yield { snapshot: true }
  for (const add of entries) yield { add }
  yield { revision, isComplete }
}

const isNothing = (lines: readonly InventoryLine[]): boolean => lines.every((line) => 'revision' in line)

/** Resolves when something below the path changed, when completeness changed, when time is up, or when nobody waits any more. */
function changeOrTimeout({ inventory, clock, readable }: Feed, of: { since: number; waitMs: number; signal: AbortSignal }): Promise<void> {
  const { isComplete } = inventory
  return new Promise((resolve) => {
    const done = () => {
      stopListening()
      cancel()
      of.signal.removeEventListener('abort', done)
      resolve()
    }
    const stopListening = inventory.onChange(() => {
      const lines = inventory.since(of.since, readable)
      if (inventory.isComplete !== isComplete || lines === undefined || !isNothing(lines)) done()
    })
    const cancel = clock.after(of.waitMs, done)
    of.signal.addEventListener('abort', done, { once: true })
    if (of.signal.aborted) done()
  })
}

function numberOf(text: string | null, name: string): number | undefined {
  if (text === null || text === '') return undefined
  if (!NUMBER.test(text)) throw new HttpError(400, 'BadQuery', `${name} must be a whole number`)
  return Number(text)
}
