/** A real server of buckets on the loopback, for tests. */
import { createRequire } from 'node:module'
import { AwsClient } from 'aws4fetch'
import { inTemporaryDirectory } from '../testing.ts'

interface S3rver {
  run(): Promise<{ port: number }>
  close(): Promise<void>
}

export interface TestBucket {
  /** Options of a mount of it. */
  options: Record<string, string>
  /** `?` and what follows belongs to the key. */
  ask(method: string, key: string, body?: string | Uint8Array): Promise<Response>
}

/** Its bucket is called `bucket`. */
export async function withBucket(use: (bucket: TestBucket) => Promise<void>): Promise<void> {
  await inTemporaryDirectory(async (directory) => {
    // It has no types, and `import` would ask for them.
    const Server = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver
    const server = new Server({
      ...{ port: 0, address: '127.0.0.1', silent: true, directory: `${directory}/s3`, resetOnClose: true },
      configureBuckets: [{ name: 'bucket' }],
    })
    const endpoint = `http://127.0.0.1:${(await server.run()).port}`
    const client = new AwsClient({ accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', service: 's3', region: 'us-east-1' })
    try {
      await use({
        options: {
          ...{ 'aws.accessKeyId': 'S3RVER', 'aws.secretKey': 'S3RVER' },
          ...{ 'alluxio.underfs.s3.endpoint': endpoint, 'alluxio.underfs.s3.disable.dns.buckets': 'true' },
        },
        ask: (method, key, body) => client.fetch(`${endpoint}/bucket/${encodeURIComponent(key).replaceAll('%2F', '/')}`, { method, body }),
      })
    } finally {
      await server.close()
    }
  })
}
