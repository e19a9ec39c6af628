/** A connection to a cluster that can be cut and mended: while it is cut, no request is answered, and all streams have ended. */
import { type Transport, TransportError, type TransportResponse } from './transport.ts'

export class NetworkLink {
  readonly #streams = new Set<TransportResponse>()
  #isCut = false

  get isCut(): boolean {
    return this.#isCut
  }

  cut(): void {
    this.#isCut = true
    for (const stream of this.#streams) stream.cancel()
    this.#streams.clear()
  }

  mend(): void {
    this.#isCut = false
  }

  /** `inner`, reached over this link. */
  over(inner: Transport): Transport {
    return {
      request: async (request) => {
        if (this.#isCut) throw new TransportError('the cluster is cut off')
        const response = await inner.request(request)
        return request.isStream === true ? this.#stream(response) : response
      },
      connect:
        inner.connect === undefined
          ? undefined
          : async (request, handlers) => {
              if (this.#isCut || inner.connect === undefined) throw new TransportError('the cluster is cut off')
              return inner.connect(request, handlers)
            },
      close: () => inner.close(),
    }
  }

  #stream(response: TransportResponse): TransportResponse {
    this.#streams.add(response)
    return { ...response, body: this.#lines(response) }
  }

  async *#lines(response: TransportResponse): AsyncGenerator<Uint8Array> {
    try {
      for await (const line of response.body) {
        if (this.#isCut) throw new TransportError('the cluster is cut off')
        yield line
      }
      if (this.#isCut) throw new TransportError('the cluster is cut off')
    } finally {
      this.#streams.delete(response)
      response.cancel()
    }
  }
}
