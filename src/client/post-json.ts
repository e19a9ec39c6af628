/** How a webhook is called: one POST of JSON, bounded in time. The real implementation is in transport/; worlds supply their own. */

export interface PostTarget {
  url: string
  /** PEM of the authority that signed the server's certificate, if it is not a publicly trusted one. */
  caBundle?: string | undefined
  /** Where to connect, if not to the URL's host; the certificate must be for the URL's host all the same. */
  connectTo?: { host: string; port: number }
}

/** The decoded answer. Rejects when there is none in time, when it is too long, or when its status is not a success. */
export type PostJson = (target: PostTarget, body: string, timeoutMs: number) => Promise<unknown>
