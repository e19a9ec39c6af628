/** A bucket of s3rver, which knows one pair of credentials. */
import { createRequire } from 'node:module'
import { AwsClient } from 'aws4fetch'
import { type Source, secret } from './manifests.ts'

interface S3rver {
  run(): Promise<{ port: number }>
  close(): Promise<void>
}

const BUCKET = 'shelf'
const KEY = 'S3RVER'
const SECRET_NAME = 'bucket-keys'

export class Bucket {
  readonly #server: S3rver
  #endpoint = ''

  constructor(directory: string) {
    // It has no types, and `import` would ask for them.
    const Server = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver
    const where = { port: 0, address: '127.0.0.1', silent: true, directory, resetOnClose: true }
    this.#server = new Server({ ...where, configureBuckets: [{ name: BUCKET }] })
  }

  async start(): Promise<void> {
    this.#endpoint = `http://127.0.0.1:${(await this.#server.run()).port}`
  }

  close = (): Promise<void> => this.#server.close()

  async put(key: string, body: Uint8Array): Promise<void> {
    const client = new AwsClient({ accessKeyId: KEY, secretAccessKey: KEY, service: 's3', region: 'us-east-1' })
    const answer = await client.fetch(`${this.#endpoint}/${BUCKET}/${key}`, { method: 'PUT', body: new Uint8Array(body) })
    if (!answer.ok) throw new Error(await answer.text())
  }

  /** What is below the prefix, with credentials from a Secret. */
  source(prefix: string, more: Partial<Source> = {}, secretName = SECRET_NAME): Source {
    const from = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: secretName, key } } })
    return {
      mountPoint: `s3://${BUCKET}/${prefix}`,
      name: prefix,
      path: '/',
      options: { 'aws.endpoint': this.#endpoint, 'aws.region': 'us-east-1' },
      encryptOptions: [from('aws.accessKeyId', 'id'), from('aws.secretKey', 'secret')],
      ...more,
    }
  }

  /** With the credentials that it knows, unless others are named. */
  secret = (name = SECRET_NAME, id = KEY) => secret(name, { id, secret: KEY })
}
