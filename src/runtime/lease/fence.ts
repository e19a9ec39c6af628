/**
 * What a leading process writes goes through here. When the lease is lost the fence shuts: nothing more is sent, what is on
 * its way is given up, and reading goes on, so that whoever no longer leads changes nothing any more.
 */
import type { Transport } from '../../client/transport.ts'

export interface Fence {
  /** Closing it closes nothing: it is shared. */
  transport: Transport
  shut(why: string): void
}

export function createFence(through: Transport): Fence {
  // One signal per request: Node warns about a single one that many wait for.
  const underway = new Set<AbortController>()
  let why: Error | undefined

  async function guarded<T>(signal: AbortSignal | undefined, send: (until: AbortSignal) => Promise<T>): Promise<T> {
    if (why !== undefined) throw why
    const end = new AbortController()
    underway.add(end)
    try {
      return await send(signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]))
    } finally {
      underway.delete(end)
    }
  }

  const transport: Transport = {
    request: (asked) =>
      READS.has(asked.method) ? through.request(asked) : guarded(asked.signal, (signal) => through.request({ ...asked, signal })),
    close: async () => undefined,
  }
  const { connect } = through
  if (connect !== undefined)
    // A conversation is a command in a pod: it may change things, although it is a GET.
    transport.connect = (asked, handlers) => guarded(asked.signal, (signal) => connect({ ...asked, signal }, handlers))
  return {
    transport,
    shut(reason) {
      why ??= new Error(reason)
      for (const end of underway) end.abort(why)
    },
  }
}

const READS = new Set(['GET', 'HEAD'])
