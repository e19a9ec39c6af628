/** Requests to a bucket, signed with credentials that are read anew when they change; without credentials as of anybody. */
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../../../base/clock.ts'
import type { MountOptions } from '../options.ts'
import type { WebAnswer, WebClient, WebRequest } from '../web/client.ts'
import { type S3Place, s3CredentialsOf } from './settings.ts'

export interface S3Options {
  place: S3Place
  options: MountOptions
  client: WebClient
  clock: Clock
}

export interface S3Request extends Pick<WebRequest, 'method' | 'headers' | 'body'> {
  key?: string
  query?: Readonly<Record<string, string>>
}

export type Ask = (request: S3Request, signal: AbortSignal) => Promise<WebAnswer>

export const createAsk =
  ({ place, options, client, clock }: S3Options): Ask =>
  async ({ method, key = '', query = {}, headers = {}, body }, signal) => {
    const url = new URL(encodedKey(key), place.base)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const credentials = await s3CredentialsOf(options)
    const signed =
      credentials === undefined
        ? headers
        : await signedHeaders({ url, method, headers, ...credentials, region: place.region, now: clock.now() })
    return client.request({ url, method, headers: signed, body, signal, mayRedirect: false })
  }

/** As signatures expect it: everything but letters, digits and `-._~/` is encoded. */
const encodedKey = (key: string): string =>
  key
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`))
    .join('/')

interface Signing {
  url: URL
  method: string
  headers: Readonly<Record<string, string>>
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  region: string
  now: number
}

async function signedHeaders({ url, now, ...rest }: Signing): Promise<Record<string, string>> {
  const datetime = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const { headers } = await new AwsV4Signer({ ...rest, url: url.href, service: 's3', datetime }).sign()
  return Object.fromEntries(headers)
}
