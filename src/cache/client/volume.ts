/**
 * One sub path of the dataset on this node: follows the inventory, completes a generation of files whenever it differs from the
 * newest complete one, and says how far it is. A failure is a wait with a reason; it goes on by itself where it was. While a new
 * generation fills, the complete one stays the one that pods get.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type Clock, sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { GENERATION, stateText, type VolumeState } from '../../kube/materialised-volume.ts'
import type { BlockFetcher } from './block-fetcher.ts'
import type { Figures } from './figures.ts'
import { fillGeneration, type Progress } from './fill.ts'
import { type Generation, openGeneration, removeUnused } from './generation.ts'
import type { Layout } from './layout.ts'
import type { VolumeLink } from './master-link.ts'
import { reasonOf } from './reason.ts'
import type { Space } from './space.ts'
import { emptyTree, type Wanted, wantedOf } from './tree.ts'

export interface VolumeOptions {
  id: string
  subPath: string
  layout: Layout
  link: VolumeLink
  fetcher: BlockFetcher
  space: Space
  blockBytes: number
  clock: Clock
  log: Log
  figures?: Figures
}

const POLL_SECONDS = 25
const STATE_MS = 1000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000
/** A pod may just be about to use the generation before: see removeUnused. */
const KEPT_MS = 60_000

/** Resolves when the signal aborts. */
export async function runVolume(options: VolumeOptions, signal: AbortSignal): Promise<void> {
  const { id, subPath, layout, link, clock, log } = options
  const tree = emptyTree(subPath)
  const states = stateWriter(options)
  const unfollow = options.figures?.follow(states.current)
  let generations = generationsOf(layout, id).map((number) => openGeneration(layout, id, number))
  const supersededAtMs = new Map<number, number>()
  let pauseMs = FIRST_PAUSE_MS
  let isCurrent = false
  const ready = (): Generation | undefined => generations.findLast((generation) => generation.isReady)

  async function turn(): Promise<void> {
    await link.update(tree, isCurrent ? POLL_SECONDS : 0, signal)
    if (!tree.isComplete && ready() === undefined) {
      isCurrent = true
      return states.write({ state: 'waiting', message: "the dataset's files are still being listed" })
    }
    // What a listing has not reached yet is not gone.
    if (tree.isComplete) {
      const wanted = wantedOf(tree)
      if (!isSame(ready(), wanted)) await fill(wanted)
      states.write(doneState(ready(), wanted))
    }
    isCurrent = true
    cleanUp()
    await options.fetcher.reportUses(signal)
  }

  async function fill(wanted: Wanted): Promise<void> {
    let generation = generations.at(-1)
    if (generation === undefined || generation.isReady || generation.number < (ready()?.number ?? 0)) {
      generation = openGeneration(layout, id, nextNumber(layout, id))
      generations.push(generation)
    }
    states.begin(wanted, ready())
    const older = generations.filter(({ isReady }) => isReady).reverse()
    const yieldIfDue = () => new Promise<void>((resolve) => setImmediate(resolve))
    await fillGeneration({ ...options, generation, older, wanted, onProgress: states.progress, yieldIfDue, signal })
    log.write('info', 'a volume is complete', { subPath, generation: generation.number, files: wanted.files.size, bytes: wanted.bytes })
  }

  function cleanUp(): void {
    const newest = ready()?.number ?? 0
    generations = generations.filter((generation) => {
      const { number } = generation
      if (number >= newest) return true
      const sinceMs = supersededAtMs.get(number) ?? clock.now()
      supersededAtMs.set(number, sinceMs)
      return clock.now() - sinceMs < KEPT_MS || !removeUnused(layout, id, number)
    })
  }

  while (!signal.aborted) {
    try {
      await turn()
      pauseMs = FIRST_PAUSE_MS
    } catch (error) {
      if (signal.aborted) break
      isCurrent = false
      options.figures?.failed()
      const message = reasonOf(error)
      states.fail(message, ready())
      log.write('warn', 'a volume waits', { subPath, reason: message })
      await sleep(clock, pauseMs, signal)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
  states.end()
  unfollow?.()
}

/** After the request is gone: true when nothing is left of the volume. */
export function removeVolume(layout: Layout, id: string): boolean {
  rmSync(layout.stateFile(id), { force: true })
  const isGone = generationsOf(layout, id)
    .map((number) => removeUnused(layout, id, number))
    .every(Boolean)
  if (isGone) for (const directory of [layout.generations(id), layout.records(id)]) rmSync(directory, { recursive: true, force: true })
  return isGone
}

function generationsOf(layout: Layout, id: string): number[] {
  mkdirSync(layout.generations(id), { recursive: true })
  return readdirSync(layout.generations(id))
    .filter((name) => GENERATION.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}

/** Never one that pods may still have, nor one that a record is left of. */
const nextNumber = (layout: Layout, id: string): number => {
  mkdirSync(layout.records(id), { recursive: true })
  const recorded = readdirSync(layout.records(id)).map((name) => Number.parseInt(name, 10) || 0)
  return Math.max(0, ...generationsOf(layout, id), ...recorded) + 1
}

function isSame(generation: Generation | undefined, { files }: Wanted): boolean {
  if (generation === undefined || generation.files.size !== files.size) return false
  for (const [relative, { version }] of files) if (generation.files.get(relative)?.version !== version) return false
  return true
}

const doneState = (
  generation: Generation | undefined,
  { files, bytes, hidden }: Wanted,
): Partial<VolumeState> & Pick<VolumeState, 'state'> => ({
  state: 'ready',
  doneBytes: bytes,
  totalBytes: bytes,
  doneFiles: files.size,
  totalFiles: files.size,
  generation: generation?.number ?? 0,
  ...(hidden > 0 ? { message: `${hidden} files are left out: directories have their names` } : {}),
})

/** Writes states/<id>.json: at once when the state changes, else once a second at most. */
function stateWriter({ id, subPath, layout, clock, log }: VolumeOptions) {
  let state: VolumeState = { subPath, state: 'waiting', doneBytes: 0, totalBytes: 0, doneFiles: 0, totalFiles: 0, generation: 0 }
  let written = ''
  let writtenAtMs = Number.NEGATIVE_INFINITY
  let cancelLater: (() => void) | undefined
  const notLater = (): void => {
    cancelLater?.()
    cancelLater = undefined
  }
  /** So that the last progress before a pause is seen. */
  const later = (): void => {
    cancelLater ??= clock.after(writtenAtMs + STATE_MS - clock.now(), () => {
      try {
        flush()
      } catch (error) {
        log.write('warn', 'the state of a volume cannot be written', { subPath, error: messageOf(error) })
      }
    })
  }
  const flush = (): void => {
    notLater()
    const text = stateText(id, state)
    writtenAtMs = clock.now()
    if (text === written) return
    mkdirSync(layout.states, { recursive: true })
    const temporary = `${layout.stateFile(id)}.tmp`
    writeFileSync(temporary, text)
    renameSync(temporary, layout.stateFile(id))
    written = text
  }
  const write = (change: Partial<VolumeState>): void => {
    const { message: _, ...rest } = state
    state = { ...rest, ...change }
    flush()
  }
  let isShown = true
  return {
    current: () => state,
    write,
    begin({ files, bytes }: Wanted, ready: Generation | undefined): void {
      // A pod that starts now gets the complete one; there is nothing to wait for.
      isShown = ready === undefined
      if (isShown) write({ state: 'filling', doneBytes: 0, doneFiles: 0, totalBytes: bytes, totalFiles: files.size })
    },
    progress({ doneBytes, doneFiles }: Progress): void {
      if (!isShown) return
      state = { ...state, doneBytes, doneFiles }
      if (clock.now() - writtenAtMs >= STATE_MS) flush()
      else later()
    },
    fail(message: string, ready: Generation | undefined): void {
      if (ready === undefined) write({ state: 'waiting', message })
      else write({ state: 'ready', generation: ready.number, message: `the newest files are not here yet: ${message}` })
    },
    end: flush,
  }
}
