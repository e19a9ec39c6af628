/** One request of the fuzzer, as data that can be written to a file and sent again. */
export interface FuzzRequest {
  /** Which generator made it. */
  family: string
  method: string
  url: string
  headers: Record<string, string | string[]>
  /** Bytes, in base64, so that nothing about them is lost in a file. */
  body?: string
  /** The identity; default the administrator. */
  user?: 'anonymous' | 'nobody'
  /** Over the real listener instead of straight into `handle`. */
  overTls?: boolean
}

/** Sent at the same time. */
export type FuzzStep = FuzzRequest[]

export const bodyOf = (request: FuzzRequest): Buffer | undefined =>
  request.body === undefined ? undefined : Buffer.from(request.body, 'base64')

export const withBody = (request: FuzzRequest, body: Buffer | string): FuzzRequest => ({
  ...request,
  body: Buffer.from(body).toString('base64'),
})

/** As a person would send it. */
export function asCurl(request: FuzzRequest): string {
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
  const headers = Object.entries(request.headers).flatMap(([name, value]) => [value].flat().map((one) => `-H ${quote(`${name}: ${one}`)}`))
  const body = bodyOf(request)
  const isText = body?.equals(Buffer.from(body.toString('utf8'))) === true && !body.includes(0)
  const data =
    body === undefined
      ? []
      : [isText ? `--data-binary ${quote(body.toString('utf8'))}` : `--data-binary @<(echo ${request.body} | base64 -d)`]
  return ['curl', '-k', `-X ${request.method}`, ...headers, ...data, quote(`$SERVER${request.url}`)].join(' ')
}
