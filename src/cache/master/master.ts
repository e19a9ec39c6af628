/**
 * The master of a runtime: who its workers are, and the loops behind its routes. Answers from memory; losing it costs new lookups a pause. What
 * must survive it is in the journals of membership and inventory.
 */
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-text.ts'
import type { Log } from '../../base/log.ts'
import { createHttpServer, type ServerLimits } from '../http/server.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { type AccessOptions, createAccess } from './access.ts'
import { clearAll } from './clearing.ts'
import { createHitWindow } from './hits.ts'
import { leadOut, takeBack } from './leaving.ts'
import type { LoadRun } from './load-run.ts'
import { Loads } from './loads.ts'
import { forgetSilent, heard, type Members, membershipOf } from './members.ts'
import type { MembersJournal } from './members-journal.ts'
import { Preload, type PreloadOptions } from './preload.ts'
import { type Report, reportOf } from './report.ts'
import { masterRoutes } from './routes.ts'

export interface MasterOptions {
  access: Omit<AccessOptions, 'nowMs'>
  inventory: Inventory
  journal: MembersJournal
  blockBytes: number
  clock: Clock
  log: Log
  /** Reads the configuration again, sets its mounts, and resolves to their paths. */
  reloadMounts(): Promise<readonly string[]>
  /** `POST /v1/leave` of a worker; resolves to its answer. */
  askToLeave(address: string, signal: AbortSignal): Promise<unknown>
  /** `POST /v1/clear` of a worker; resolves to its answer. */
  askToClear(address: string, signal: AbortSignal): Promise<unknown>
  /** `POST /v1/stay` of a worker. */
  askToStay(address: string, signal: AbortSignal): Promise<unknown>
  /** How blocks get into the cache before they are read. */
  preload: Pick<PreloadOptions, 'replicas' | 'askToLoad' | 'isAutomatic'>
  limits?: Partial<ServerLimits>
}

export interface Master {
  listen(host: string, port: number): Promise<number>
  close(): Promise<void>
  members(): Members
  report(): Report
}

const LOOK_MS = 1000

export function createMaster(options: MasterOptions): Master {
  const { inventory, journal, clock, log, blockBytes } = options
  const access = createAccess({ ...options.access, nowMs: () => clock.now() })
  const hits = createHitWindow()
  let members = journal.load(clock.now())
  let stopLooking: (() => void) | undefined
  let isEnding = false

  function become(next: Members): void {
    if (next === members) return
    const before = members.epoch
    members = next
    if (next.epoch !== before) log.write('info', 'a new epoch', { epoch: next.epoch, workers: membershipOf(next).workers.length })
    try {
      journal.save(next)
    } catch (error) {
      log.write('warn', 'the journal of workers cannot be written', { error: messageOf(error) })
    }
  }

  function look(): void {
    become(forgetSilent(members, clock.now()))
    if (!isEnding) stopLooking = clock.after(LOOK_MS, look)
  }

  const loading = {
    ...options.preload,
    inventory,
    membership: () => membershipOf(members),
    blockBytes,
    clock,
    log,
    underway: new Set<LoadRun>(),
  }
  const preload = new Preload(loading)
  const loads = new Loads(loading)
  const report = (): Report => reportOf({ inventory, members, reads: hits.reads(clock.now(), blockBytes) })

  const routes = masterRoutes({
    ...{ access, inventory, clock, report, preload, loads, reloadMounts: options.reloadMounts },
    leave: (asked, signal) => leadOut(asked, { members: () => members, become, askToLeave: options.askToLeave, log }, signal),
    stay: (name, signal) =>
      takeBack(name, { members: () => members, become, askToStay: options.askToStay, nowMs: () => clock.now() }, signal),
    clear: (signal) => clearAll({ members: () => members, askToClear: options.askToClear }, signal),
    members: () => members,
    isEnding: () => isEnding,
    onBeat(beat) {
      const next = heard(members, beat, clock.now())
      if (next === undefined) return false
      hits.note(beat, clock.now())
      become(next)
      return true
    },
  })
  const server = createHttpServer({ routes, log, limits: options.limits })
  return {
    async listen(host, port) {
      const listening = await server.listen(host, port)
      look()
      preload.start()
      return listening
    },
    async close() {
      isEnding = true
      stopLooking?.()
      await Promise.all([preload.close(), loads.close()])
      await server.close()
    },
    members: () => members,
    report,
  }
}
