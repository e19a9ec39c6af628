/**
 * A worker of the cache: keeps blocks, serves them, fetches those that are missing, and hands them over when it leaves. Puts the
 * parts together; `options.ts` says what it is made of, `server.ts` what it answers.
 */

import { setMaxListeners } from 'node:events'
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import { BlockStore } from '../blocks/store.ts'
import { createHttpServer } from '../http/server.ts'
import { MAX_BLOCK_BYTES, MIN_BLOCK_BYTES, parseBlockName } from '../protocol/block.ts'
import { createAccess } from './access.ts'
import { BlockAnswers } from './block-answers.ts'
import { Clearing } from './clearing.ts'
import { Fetches } from './fetches.ts'
import { FileLookup } from './file-lookup.ts'
import { Handover } from './handover.ts'
import { Heartbeats } from './heartbeats.ts'
import { Holds } from './holds.ts'
import { newCounters, WORKER_LIMITS } from './limits.ts'
import { Loads } from './loads.ts'
import { Members } from './members.ts'
import type { Worker, WorkerOptions, WorkerReport } from './options.ts'
import { Peers } from './peers.ts'
import { serverLimits, workerRoutes } from './routes.ts'

export function createWorker(options: WorkerOptions): Worker {
  const { clock, log, master, name, node, replicas } = options
  if (!Number.isInteger(options.blockBytes) || options.blockBytes < MIN_BLOCK_BYTES || options.blockBytes > MAX_BLOCK_BYTES) {
    throw new TypeError(`blocks of ${options.blockBytes} bytes: set blockSize to 1 to 64 MiB`)
  }
  const limits = { ...WORKER_LIMITS, ...options.limits }
  const counters = newCounters()
  const ending = new AbortController()
  const { signal } = ending
  // Every fetch and every request listens to it: their numbers are bounded elsewhere.
  setMaxListeners(0, signal)
  const store = new BlockStore(options)
  const members = new Members(name)
  const access = createAccess(options.access, clock)
  const { peerTimeoutMs: timeoutMs, peerPauseMs: pauseMs } = limits
  const peers = new Peers({ signing: options.access?.signing, clock, timeoutMs, pauseMs })
  const dropOld = (fileId: string, version: string | undefined) =>
    void store
      .dropOthers(fileId, version)
      .catch((error: unknown) => log.write('warn', 'blocks of an old version cannot be dropped', { error: messageOf(error) }))
  const files = new FileLookup({ master, clock, fileMs: limits.fileMs, signal, onVersion: dropOld })
  const handover = new Handover({ store, members, peers, replicas, limits, clock, log, signal, onChange: () => heartbeats.beat() })
  const clearing = new Clearing({ store, log })
  const mayStore = () => handover.state === 'serving' && !clearing.hasBegun
  const fetches = new Fetches({
    store,
    files,
    peers,
    // Who leaves has given its blocks away: the new owners have them.
    holdersOf: (key) => (mayStore() ? members.holdersOf(key, replicas) : members.ownersOf(key, replicas)),
    mayStore,
    sourceOf: options.sourceOf,
    blockBytes: options.blockBytes,
    limits,
    counters,
    log,
    signal,
  })
  const holds = new Holds({ store, clock, holdMs: limits.holdMs })
  const loads = new Loads({ store, fetches, holds, mayStore, most: limits.loads, utmost: limits.fetches, log, signal })
  const report = (): WorkerReport => ({
    name,
    state: handover.state,
    epoch: members.epoch,
    tiers: store.usage(),
    counters: { ...counters },
    blocks: { ...store.counters },
    handover: handover.report(),
  })
  let address = options.address ?? ''
  /** Until the master says the same. */
  let isStaying = false
  const heartbeats = new Heartbeats({
    master,
    clock,
    log,
    everyMs: limits.heartbeatMs,
    signal,
    beat: () => ({ name, node, address, state: handover.state, tiers: store.usage(), counters: { ...counters } }),
    onMembership: (membership) => {
      members.update(membership)
      // After a restart in the middle of its leaving.
      if (members.self?.state === 'serving') isStaying = false
      if (members.self?.state === 'leaving' && handover.state === 'serving' && !isStaying) handover.start()
    },
  })
  const routes = workerRoutes({
    blocks: new BlockAnswers({ store, fetches, files, access, counters, mayStore }),
    access,
    report,
    isReady: () => members.epoch > 0,
    leave: () => {
      isStaying = false
      handover.start()
      return handover.report()
    },
    clear: () => {
      clearing.start()
      return clearing.report()
    },
    stay: async () => {
      isStaying = true
      await handover.stop()
      return handover.report()
    },
    load: (posted) => loads.load(posted),
    onUses: (names) => {
      for (const key of names.map(parseBlockName)) if (key !== undefined && store.use(key)) counters.directUses++
    },
    onHolds: (changes) => holds.change(changes),
    onVersions: (versions) => {
      for (const [fileId, version] of versions) {
        files.forget(fileId)
        dropOld(fileId, version)
      }
    },
  })
  const server = createHttpServer({ routes, log, limits: serverLimits(limits) })
  return {
    async listen(where) {
      if (options.access === undefined)
        log.write('warn', 'there is no key of the runtime: everybody who reaches this worker may read and write blocks')
      await store.load()
      const bound = { host: where.host, port: await server.listen(where.host, where.port) }
      address ||= bound.host.includes(':') ? `[${bound.host}]:${bound.port}` : `${bound.host}:${bound.port}`
      heartbeats.beat()
      return bound
    },
    async close() {
      heartbeats.stop()
      holds.close()
      // Whoever waits for a block gets it while there is time; nothing new begins.
      await server.close()
      ending.abort()
      peers.close()
      await handover.idle()
      await clearing.idle()
      // A source that does not heed its end is not waited for.
      const isEnough = new AbortController()
      await Promise.race([fetches.idle().then(() => isEnough.abort()), sleep(clock, limits.closeMs, isEnough.signal)])
      await store.idle()
    },
    state: report,
    setQuotas: (tiers) => store.setQuotas(tiers),
  }
}
