/** How a webhook is called: one POST of JSON, bounded in time. The real one is in transport/; worlds bring their own. */

export interface PostTarget {
  url: string
  /** PEM of the authority that signed the server's certificate, if it is not one that everybody trusts. */
  caBundle?: string | undefined
  /** Where to connect to, when that is not where the URL says; the certificate must be for the URL's host all the same. */
  connectTo?: { host: string; port: number }
}

/** The decoded answer. Rejects when there is none in time, when it is too long, or when it is no success. */
export type PostJson = (target: PostTarget, body: string, timeoutMs: number) => Promise<unknown>
