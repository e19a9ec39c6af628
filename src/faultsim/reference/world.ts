/** The world of the reference controllers: one cluster, the two controllers, and the garbage collector for what they create. */
import { messageOf } from '../../base/error-text.ts'
import { createCaches } from '../../client/cache/caches.ts'
import { followCluster } from '../../client/cache/cluster-cache.ts'
import { type Client, createClient } from '../../client/client.ts'
import { GARBAGE_COLLECTOR, runGarbageCollector } from '../../minicluster/housekeeping/garbage/run.ts'
import type { Controller } from '../../runtime/controller.ts'
import { runController } from '../../runtime/run-controller.ts'
import type { RunControllers, WorldCluster } from '../world/cluster.ts'
import { card } from './card/controller.ts'
import type { Board, Notice } from './greeting/board.ts'
import { greeting } from './greeting/controller.ts'

/** The controllers of the world, given its board. */
export type Cast = (board: Board, cluster: WorldCluster) => readonly Controller[]

export const REFERENCE: Cast = (board) => [greeting(board), card]

const FOLLOWED = new Set(['greetings', 'cards', 'configmaps'])

export function runCast(cast: Cast): RunControllers {
  return (options, cluster) => {
    const { clock, random, log } = options
    const clients: Client[] = []
    const clientOf = (part: string): Client => {
      const client = createClient({ transport: options.transportFor(part), clock, random, userAgent: part })
      clients.push(client)
      return client
    }
    const controllers = cast(boardOf(cluster), cluster).map((controller) => options.adapt?.(controller) ?? controller)
    const names = new Set(controllers.map(({ name }) => name))
    const warn = (error: unknown, ...of: string[]): void => log.write('warn', messageOf(error), { of: of.join(' ') })
    const caches = createCaches({ client: clientOf('caches'), clock, random, keepsManager: (name) => names.has(name) })
    const only = ({ plural }: { plural: string }): boolean => FOLLOWED.has(plural)
    const clusterCache = followCluster({ client: clientOf('everything'), clock, random, only, onError: (error) => warn(error) })
    const running = [
      ...controllers.map((one) => runController(one, { client: clientOf(one.name), caches, clock, random, onError: warn })),
      runGarbageCollector({ client: clientOf(GARBAGE_COLLECTOR), clusterCache, clock, random, onError: warn }),
    ]
    return {
      busy: () => [...caches.behind(), ...clusterCache.behind(), ...running.flatMap((one) => one.busy())],
      resync() {
        for (const one of running) one.resync()
      },
      async stop() {
        await Promise.all(running.map((one) => one.stop()))
        caches.stop()
        clusterCache.stop()
        await Promise.all(clients.map((client) => client.close()))
      },
    }
  }
}

/** A board as the effects expect it, which outlives every process. */
export interface WorldBoard extends Board {
  /** The current notices. */
  notices(): Notice[]
}

/** The board of a cluster's world. */
export const boardOf = (cluster: WorldCluster): WorldBoard => cluster.effects.thing('board', createBoard)

function createBoard(): WorldBoard {
  const notices = new Map<string, Notice>()
  const closed = new Set<string>()
  return {
    async put(notice) {
      const known = notices.get(notice.id)
      if (!closed.has(notice.id) && (known === undefined || known.generation <= notice.generation)) notices.set(notice.id, notice)
    },
    async takeDown(id) {
      closed.add(id)
      notices.delete(id)
    },
    notices: () => [...notices.values()],
  }
}
