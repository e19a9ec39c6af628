/**
 * All writes of a leading process go through here. When the lease is lost the fence closes: nothing more is sent and
 * requests in flight are aborted, so that a former leader changes nothing. Reads continue.
 */
import type { Transport } from '../../client/transport.ts'

export interface Fence {
  /** Closing it has no effect: it is shared. */
  transport: Transport
  shut(why: string): void
}

export function createFence(through: Transport): Fence {
  // One signal per request: Node warns about many listeners on one signal.
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
    // A conversation is a command in a pod: although a GET, it may change things, for as long as it lasts.
    transport.connect = async (asked, handlers) => {
      if (why !== undefined) throw why
      const end = new AbortController()
      underway.add(end)
      const signal = asked.signal === undefined ? end.signal : AbortSignal.any([asked.signal, end.signal])
      const closed = (error: Error | undefined): void => {
        underway.delete(end)
        handlers.closed(error ?? (end.signal.aborted ? why : undefined))
      }
      try {
        return await connect({ ...asked, signal }, { message: (channel, body) => handlers.message(channel, body), closed })
      } catch (error) {
        underway.delete(end)
        throw error
      }
    }
  return {
    transport,
    shut(reason) {
      why ??= new Error(reason)
      for (const end of underway) end.abort(why)
    },
  }
}

const READS = new Set(['GET', 'HEAD'])
