/** A cluster of a world on which nothing runs but the view of everything. */
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import { createClient } from '../client.ts'
import type { Transport } from '../transport.ts'
import { type Everything, type EverythingOptions, followEverything } from './everything.ts'

interface Following extends Pick<EverythingOptions, 'whole' | 'isDiscoveryLate'> {
  /** How it reaches the server, where that is not as anybody does. */
  reach?(transport: Transport, nowMs: () => number): Transport
}

export function runEverything(
  { reach = (transport) => transport, ...options }: Following,
  started: (everything: Everything) => void,
): RunControllers {
  return ({ clock, random, transportFor }) => {
    const transport = reach(transportFor('everything'), () => clock.now())
    const client = createClient({ transport, clock, random, userAgent: 'test' })
    const everything = followEverything({ ...options, client, clock, random, onError: () => undefined })
    started(everything)
    return {
      busy: () => everything.behind(),
      resync: () => undefined,
      async stop() {
        everything.stop()
        await client.close()
      },
    }
  }
}
