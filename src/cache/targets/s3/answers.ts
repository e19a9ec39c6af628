/** What a server says after a write: whether it has stored what was sent, and whether another attempt may help. */
import type { WebAnswer } from '../../sources/web/client.ts'
import { TargetRefused } from '../target.ts'

export const MD5_ETAG = /^"[0-9a-f]{32}"$/

/** Encrypted objects have ETags that are no MD5. */
export function assertStored({ headers }: WebAnswer, md5: string, path: string): void {
  const { etag } = headers
  if (etag === undefined || !MD5_ETAG.test(etag) || headers['x-amz-server-side-encryption'] === 'aws:kms') return
  if (etag !== `"${md5}"`) throw new Error(`${path} was stored with other bytes than were sent`)
}

/** What is refused for good, and what may be tried again. */
export function refusedBy({ status }: WebAnswer, shown: string): Error {
  if (status === 401 || status === 403) {
    return new TargetRefused(`${shown} refuses to be written (status ${status}): check the credentials and what they permit`)
  }
  if (status === 404) return new TargetRefused(`${shown} is not there: make the bucket, or check the endpoint`)
  if (status === 301 || status === 307) return new TargetRefused(`${shown} is in another region: set aws.region or the endpoint`)
  return new Error(`${shown} answered with status ${status}`)
}
