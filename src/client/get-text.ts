/** How somebody is asked for a short text: one GET, bounded. The real implementation is in transport/; worlds supply their own. */

export interface TextBounds {
  timeoutMs: number
  maxBytes: number
  signal?: AbortSignal
}

/** Follows no redirect. Rejects when there is no answer in time, when it is too long, or when its status is not 200. */
export type GetText = (url: string, bounds: TextBounds) => Promise<string>
