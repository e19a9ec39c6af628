/**
 * The options of an S3 mount, by all the names that Fluid's users write them with: those of Alluxio, of Jindo, of Hadoop and of
 * Curvine, whichever runtime a manifest was made for.
 */
import { isIP } from 'node:net'
import { cleanPath, showName } from '../clean-path.ts'
import type { MountOptions } from '../options.ts'
import { SourceRefused } from '../source.ts'

type Meaning = 'accessKeyId' | 'secretKey' | 'sessionToken' | 'region' | 'endpoint' | 'isPathStyle' | 'isSecure' | 'ignored'

/** Name → meaning. Of several names with one meaning the first that is set counts. Names that are not here are ignored as well. */
const S3_OPTIONS: readonly (readonly [name: string, meaning: Meaning])[] = [
  ['aws.accessKeyId', 'accessKeyId'],
  ['fs.s3.accessKeyId', 'accessKeyId'],
  ['fs.s3a.access.key', 'accessKeyId'],
  ['access', 'accessKeyId'],
  ['aws.secretKey', 'secretKey'],
  ['fs.s3.accessKeySecret', 'secretKey'],
  ['fs.s3a.secret.key', 'secretKey'],
  ['secret', 'secretKey'],
  ['aws.sessionToken', 'sessionToken'],
  ['fs.s3a.session.token', 'sessionToken'],
  ['aws.region', 'region'],
  ['alluxio.underfs.s3.region', 'region'],
  ['alluxio.underfs.s3.endpoint.region', 'region'],
  ['fs.s3.region', 'region'],
  ['fs.s3a.endpoint.region', 'region'],
  ['region_name', 'region'],
  ['aws.endpoint', 'endpoint'],
  ['alluxio.underfs.s3.endpoint', 'endpoint'],
  ['fs.s3.endpoint', 'endpoint'],
  ['fs.s3a.endpoint', 'endpoint'],
  ['endpoint_url', 'endpoint'],
  // "true": the bucket is the first part of the path instead of the first label of the host.
  ['alluxio.underfs.s3.disable.dns.buckets', 'isPathStyle'],
  ['fs.s3a.path.style.access', 'isPathStyle'],
  ['path_style', 'isPathStyle'],
  // "false": http, for an endpoint that is written without a scheme.
  ['alluxio.underfs.s3.secure.http.enabled', 'isSecure'],
  ['fs.s3a.connection.ssl.enabled', 'isSecure'],
  // About writing, or about threads of Alluxio and Jindo.
  ['alluxio.underfs.s3.inherit.acl', 'ignored'],
  ['alluxio.underfs.s3.disable.inherit.acl', 'ignored'],
  ['alluxio.underfs.s3.threads.max', 'ignored'],
  ['fs.s3.download.thread.concurrency', 'ignored'],
  ['fs.s3.download.queue.size', 'ignored'],
]

export interface S3Place {
  bucket: string
  /** '' or ending with a slash. */
  prefix: string
  region: string
  /** Of the bucket, ending with a slash. */
  base: URL
}

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i
const DEFAULT_REGION = 'us-east-1'
const REGION = /^[a-z0-9-]{1,40}$/i

export async function s3PlaceOf(mountPoint: string, options: MountOptions): Promise<S3Place> {
  const [, bucket = '', key = ''] = /^s3[an]?:\/\/([^/]*)(?:\/(.*))?$/is.exec(mountPoint) ?? []
  if (!BUCKET.test(bucket)) throw new SourceRefused(`${showName(mountPoint)} names no bucket: write s3://bucket/prefix`)
  const region = (await optionOf(options, 'region')) ?? DEFAULT_REGION
  if (!REGION.test(region)) throw new SourceRefused('the region of the bucket is no name of a region')
  const isSecure = (await optionOf(options, 'isSecure')) !== 'false'
  const endpoint = endpointOf((await optionOf(options, 'endpoint')) ?? `s3.${region}.amazonaws.com`, isSecure)
  const isPathStyle = (await optionOf(options, 'isPathStyle')) === 'true' || needsPathStyle(endpoint, bucket)
  const base = new URL(endpoint)
  if (isPathStyle) base.pathname = `${base.pathname}${bucket}/`
  else base.hostname = `${bucket}.${base.hostname}`
  const prefix = key.replace(/\/+$/, '')
  if (prefix !== '' && cleanPath(prefix) === undefined)
    throw new SourceRefused(`${showName(mountPoint)} has a prefix that no file can have`)
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/`, region, base }
}

/** Undefined: a public bucket, read without a signature. */
export async function s3CredentialsOf(options: MountOptions): Promise<S3Credentials | undefined> {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    await optionOf(options, 'accessKeyId'),
    await optionOf(options, 'secretKey'),
    await optionOf(options, 'sessionToken'),
  ]
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new SourceRefused('S3 needs both aws.accessKeyId and aws.secretKey, or neither for a public bucket')
  }
  return { accessKeyId, secretAccessKey, sessionToken }
}

const optionOf = (options: MountOptions, meaning: Meaning): Promise<string | undefined> =>
  options.get(...S3_OPTIONS.filter(([, means]) => means === meaning).map(([name]) => name))

function endpointOf(text: string, isSecure: boolean): URL {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${isSecure ? 'https' : 'http'}://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.search !== '') {
    throw new SourceRefused('the endpoint of S3 is no URL of http or https without credentials: write https://host:port')
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

/** Addresses and single labels have no subdomains; certificates do not cover buckets with dots. */
const needsPathStyle = ({ hostname, protocol }: URL, bucket: string): boolean =>
  isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 ||
  !hostname.includes('.') ||
  (protocol === 'https:' && bucket.includes('.')) ||
  /[A-Z_]/.test(bucket)
