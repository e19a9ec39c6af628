/**
 * The client as a container of the pod that reads: completes one sub path in a directory that it shares with the pod's other
 * containers, once, and leaves it as it is from then on. Files appear whole, under their names. What was done is recorded in a
 * second directory, so a container that is started again goes on where the last one was. It waits as long as something happens;
 * when nothing does, it gives up with the reason, which the pod's status then shows.
 */
import { mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { type Clock, sleep } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/random.ts'
import { requestIdOf } from '../../kube/materialised-volume.ts'
import type { BlockClient } from '../http/block-client.ts'
import { HttpError } from '../http/errors.ts'
import type { Requester } from '../http/request.ts'
import { type BlockFetcher, createBlockFetcher } from './block-fetcher.ts'
import { freeBytesOf } from './client.ts'
import { fillGeneration, type Progress } from './fill.ts'
import { type Generation, openGeneration, removeTree } from './generation.ts'
import { type Layout, layoutOf } from './layout.ts'
import type { LocalBlocks } from './local-blocks.ts'
import { linkVolume, type VolumeLink } from './master-link.ts'
import { reasonOf } from './reason.ts'
import { createSpace } from './space.ts'
import { emptyTree, type Tree, type Wanted, wantedOf } from './tree.ts'

export interface SidecarOptions {
  /** The files appear here. */
  directory: string
  /** What is known about them, for this program alone. */
  state: string
  /** Absolute and clean; `/` is the whole dataset. */
  subPath: string
  /** `http://host:port` of the master. */
  master: string
  node: string
  blockBytes: number
  local: LocalBlocks
  blocks: BlockClient
  requester: Requester
  token(): Promise<string>
  clock: Clock
  random: Random
  log: Log
  /** For tests. */
  freeBytes?(): number
}

/** A pod has one set of files. */
const ONLY = 1
const PARTIAL = '.sluice-partial'
const POLL_SECONDS = 25
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5000
/** Without any progress. A master that is started anew takes less. */
const PATIENCE_MS = 60_000
/** Another attempt would be refused as well. */
const FORBIDDEN = 403

/** Resolves when all files are there, or when the signal aborts; rejects with the reason why they will not be. */
export async function fillSidecar(options: SidecarOptions, signal: AbortSignal): Promise<'complete' | 'ended'> {
  const { directory, subPath, clock, log } = options
  const id = requestIdOf(subPath)
  mkdirSync(directory, { recursive: true })
  const generation = openGeneration(layoutFor(options, []), id, ONLY)
  if (generation.isReady) return 'complete'
  clearLeft(directory, generation)
  const link = linkVolume({ ...options, origin: options.master }, subPath)
  const filling: Filling = { ...options, id, generation, link, fetcher: createBlockFetcher({ ...options, link }), tree: emptyTree(subPath) }
  let quietSinceMs = clock.now()
  let [mostBytes, revision, isCurrent] = [0, -1, false]
  // Fetching the same blocks again and again is no progress.
  const onProgress = ({ doneBytes }: Progress): void => {
    if (doneBytes > mostBytes) quietSinceMs = clock.now()
    mostBytes = Math.max(mostBytes, doneBytes)
  }
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; ) {
    try {
      await link.update(filling.tree, isCurrent ? POLL_SECONDS : 0, signal)
      isCurrent = true
      const { tree } = filling
      if (!tree.isComplete || tree.revision !== revision) quietSinceMs = clock.now()
      revision = tree.revision
      if (!tree.isComplete) continue
      await fill(filling, onProgress, signal)
      return 'complete'
    } catch (error) {
      if (signal.aborted) break
      isCurrent = false
      const reason = reasonOf(error)
      log.write('warn', 'the files wait', { subPath, reason })
      const isRefused = error instanceof HttpError && error.status === FORBIDDEN
      if (isRefused || clock.now() - quietSinceMs >= PATIENCE_MS) throw new Error(reason)
      await sleep(clock, pauseMs, signal)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
  return 'ended'
}

interface Filling extends SidecarOptions {
  id: string
  generation: Generation
  link: VolumeLink
  fetcher: BlockFetcher
  tree: Tree
}

async function fill(filling: Filling, onProgress: (progress: Progress) => void, signal: AbortSignal): Promise<void> {
  const { directory, generation, subPath, log, freeBytes = () => freeBytesOf(directory) } = filling
  const wanted = wantedOf(filling.tree)
  const layout = layoutFor(filling, topNames(wanted))
  const yieldIfDue = () => new Promise<void>((resolve) => setImmediate(resolve))
  await fillGeneration({
    ...filling,
    layout,
    generation,
    older: [],
    wanted,
    space: createSpace({ freeBytes }),
    onProgress,
    yieldIfDue,
    signal,
  })
  removeTree(layout.partial)
  log.write('info', 'the files are complete', { subPath, files: wanted.files.size, bytes: wanted.bytes, hidden: wanted.hidden })
}

/** What is not whole must be on the same file system, so it is beside the files, under a name that none of them has. */
function layoutFor({ directory, state }: SidecarOptions, names: readonly string[]): Layout {
  let partial = PARTIAL
  while (names.includes(partial)) partial += '-'
  return { ...layoutOf(state), partial: path.join(directory, partial), generation: () => path.normalize(directory), hasForeignRoot: true }
}

const topNames = ({ files }: Pick<Wanted, 'files'> | Generation): string[] => [
  ...new Set([...files.keys()].map((relative) => relative.split('/', 1)[0] ?? '')),
]

/** Of a container that was killed. */
function clearLeft(directory: string, generation: Generation): void {
  const names = new Set(topNames(generation))
  for (const name of readdirSync(directory))
    if (/^\.sluice-partial-*$/.test(name) && !names.has(name)) removeTree(path.join(directory, name))
}
