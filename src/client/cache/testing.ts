/** A cluster of a world on which nothing runs but the view of everything. */
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import { createClient } from '../client.ts'
import type { Transport } from '../transport.ts'
import { type ClusterCache, type ClusterCacheOptions, followCluster } from './cluster-cache.ts'

interface Following extends Pick<ClusterCacheOptions, 'whole' | 'isDiscoveryLate'> {
  /** How it reaches the server, where that is not as anybody does. */
  reach?(transport: Transport, nowMs: () => number): Transport
}

export function runClusterCache(
  { reach = (transport) => transport, ...options }: Following,
  started: (clusterCache: ClusterCache) => void,
): RunControllers {
  return ({ clock, random, transportFor }) => {
    const transport = reach(transportFor('everything'), () => clock.now())
    const client = createClient({ transport, clock, random, userAgent: 'test' })
    const clusterCache = followCluster({ ...options, client, clock, random, onError: () => undefined })
    started(clusterCache)
    return {
      busy: () => clusterCache.behind(),
      resync: () => undefined,
      async stop() {
        clusterCache.stop()
        await client.close()
      },
    }
  }
}
