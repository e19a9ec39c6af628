/** A cluster of a world on which only the cluster cache runs. */
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import { createClient } from '../client.ts'
import type { Transport } from '../transport.ts'
import { type ClusterCache, type ClusterCacheOptions, followCluster } from './cluster-cache.ts'

interface Following extends Pick<ClusterCacheOptions, 'whole' | 'isDiscoveryLate'> {
  /** Wraps the transport to the server (default: unchanged). */
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
