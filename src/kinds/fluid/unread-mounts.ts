/**
 * Mounts that the builtin cache cannot read, and what to do instead: whoever writes such a mount is told before any pod is made.
 * The advice holds wherever the cache runs, with other engines or without.
 */
import type { DatasetSpec } from './dataset.ts'
import { parseMountPoint } from './mount-point.ts'

export interface UnreadMount {
  /** One word, for a condition. */
  reason: 'UnsupportedMount' | 'InvalidMount'
  /** What is wrong, and what to do. */
  message: string
}

const GENERAL = 'mount the data another way, for example through an S3 gateway or a claim'
const AS_S3 =
  'mount s3://<bucket>/<prefix> instead, with the S3-compatible endpoint of the service in the option alluxio.underfs.s3.endpoint'
const AS_CLAIM =
  'mount pvc://<claim> instead, with a claim of that file system; where no volume driver knows it, mount it on the nodes, and make the claim of that directory'
const SERVED = 'serve the files over HTTP or through an S3 gateway and mount that, or copy them into a claim and mount pvc://<claim>'

const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['oss', AS_S3],
  ['cos', AS_S3],
  ['cosn', AS_S3],
  ['obs', AS_S3],
  ['gs', `${AS_S3} (https://storage.googleapis.com) and an HMAC key of the bucket`],
  ['hdfs', SERVED],
  ['webhdfs', SERVED],
  ['juicefs', 'start its S3 gateway (juicefs gateway) and mount s3:// with that as endpoint, or mount pvc://<claim> with a claim of it'],
  ['nfs', AS_CLAIM],
  ['ceph', AS_CLAIM],
  ['abfs', AS_CLAIM],
  ['abfss', AS_CLAIM],
  ['wasb', AS_CLAIM],
  ['wasbs', AS_CLAIM],
  ['file', 'write local:// and the absolute path'],
  ['dataset', 'the dataset that it names has the cache, so delete the runtime of this one'],
])

/** The first mount that the builtin cache cannot read; undefined: it reads all. */
export function unreadMount({ mounts = [] }: DatasetSpec = {}): UnreadMount | undefined {
  for (const { mountPoint } of mounts) {
    const { value, error } = parseMountPoint(mountPoint)
    if (error !== undefined) return { reason: 'InvalidMount', message: error }
    if (value.kind !== 'other' && value.kind !== 'dataset') continue
    const scheme = value.kind === 'dataset' ? 'dataset' : value.scheme
    const what = scheme === '' ? 'a mount point without a scheme' : `${scheme}://`
    return {
      reason: 'UnsupportedMount',
      message: `the builtin cache cannot read ${what} (it reads local, pvc, http, https and s3): ${INSTEAD.get(scheme) ?? GENERAL}`,
    }
  }
  return undefined
}
