/**
 * The bucket: s3rver, made as atomic as S3 is. Listings, the beginning of an answer (its ETag and its open file) and changes follow
 * one another; a change replaces the object's file, so that answers under way go on with the bytes they began with.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { bytesOf, type Contents } from './contents.ts'

export interface BucketOptions {
  host: string
  directory: string
  /** Beside it, on the same file system. */
  staging: string
  mountPath: string
  contents: Contents
}

type Call = (...args: unknown[]) => Promise<unknown>

interface S3rver {
  run(): Promise<{ port: number }>
  close(): Promise<void>
  store: Record<'getObject' | 'listObjects', Call>
}

export const BUCKET = 'bucket'
/** Of s3rver, fixed. */
export const BUCKET_KEY = 'S3RVER'

export class Bucket {
  readonly #options: BucketOptions
  readonly #server: S3rver
  #last: Promise<unknown> = Promise.resolve()
  #serial = 0

  constructor(options: BucketOptions) {
    this.#options = options
    mkdirSync(options.staging, { recursive: true })
    // It has no types, and `import` would ask for them.
    const Server = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver
    const { host: address, directory } = options
    this.#server = new Server({ port: 0, address, silent: true, directory, configureBuckets: [{ name: BUCKET }] })
    const { store } = this.#server
    for (const name of ['getObject', 'listObjects'] as const) {
      const call = store[name].bind(store)
      store[name] = (...args) => this.#inTurn(() => call(...args))
    }
  }

  /** The endpoint. */
  async start(): Promise<string> {
    const { port } = await this.#server.run()
    return `http://${this.#options.host}:${port}`
  }

  stop(): Promise<void> {
    return this.#server.close()
  }

  put(key: string, size: number): Promise<void> {
    const { contents, staging } = this.#options
    return this.#inTurn(async () => {
      const seed = contents.newSeed()
      const bytes = bytesOf(seed, size)
      const md5 = createHash('md5').update(bytes).digest('hex')
      const temporary = path.join(staging, String(this.#serial++))
      writeFileSync(temporary, bytes)
      mkdirSync(path.dirname(this.#file(key)), { recursive: true })
      contents.set(this.#shown(key), { seed, bytes, stamp: { etag: `"${md5}"` } })
      renameSync(temporary, this.#file(key))
      writeFileSync(`${this.#file(key)}.md5`, md5)
    })
  }

  remove(key: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#options.contents.remove(this.#shown(key))
      for (const file of [this.#file(key), `${this.#file(key)}.md5`]) rmSync(file, { force: true })
      const parent = path.dirname(this.#file(key))
      if (parent !== this.#root && existsSync(parent) && readdirSync(parent).length === 0) rmdirSync(parent)
    })
  }

  get #root(): string {
    return path.join(this.#options.directory, BUCKET)
  }

  #file(key: string): string {
    return path.join(this.#root, `${key}._S3rver_object`)
  }

  #shown(key: string): string {
    return `${this.#options.mountPath}/${key}`
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }
}
