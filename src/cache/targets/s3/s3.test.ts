import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { run, runFrom, scriptedSource, writeTree } from '../../migrate/testing.ts'
import { createMountOptions, type GivenOptions } from '../../sources/options.ts'
import { createS3Source } from '../../sources/s3/s3.ts'
import { s3PlaceOf } from '../../sources/s3/settings.ts'
import { type TestBucket, withBucket } from '../../sources/s3/testing.ts'
import { inTemporaryDirectory, listAll, namesOf } from '../../sources/testing.ts'
import { clientFor, realClock, withServer } from '../../sources/web/testing.ts'
import { keptLog } from '../../testing.ts'
import { openLocalTarget } from '../local.ts'
import { TargetRefused } from '../target.ts'
import { pieceBytesFor, piecesOf } from './pieces.ts'
import { createS3Target } from './s3.ts'

const MIB = 1024 * 1024

async function bucketAt(mountPoint: string, given: GivenOptions) {
  const options = createMountOptions(given)
  return { place: await s3PlaceOf(mountPoint, options), options, client: clientFor(), clock: realClock }
}

const targetAt = async (mountPoint: string, given: GivenOptions, log = keptLog()) =>
  createS3Target({ ...(await bucketAt(mountPoint, given)), shown: mountPoint, log })

const bytesOf = async ({ ask }: TestBucket, key: string): Promise<Buffer> => Buffer.from(await (await ask('GET', key)).arrayBuffer())

describe('a migration into a bucket of a real server', () => {
  const FILES = { a: 'alpha', 'd/ü +&<%41': 'beta', empty: '', large: Buffer.alloc(17 * MIB + 5, 'xyz') }

  it('uploads files whole or in pieces, remembers their times, and skips them the next time', () =>
    withBucket((bucket) =>
      inTemporaryDirectory(async (from) => {
        writeTree(from, FILES)
        const into = async () => runFrom(from, await targetAt('s3://bucket/to/', bucket))
        const { copied, copiedBytes, failed } = await into()
        assert.deepEqual([copied, copiedBytes, failed], [4, 9 + 17 * MIB + 5, 0])
        for (const [name, content] of Object.entries(FILES))
          assert.ok((await bytesOf(bucket, `to/${name}`)).equals(Buffer.from(content)), name)
        assert.match((await bucket.ask('HEAD', 'to/large')).headers.get('x-amz-meta-mtime') ?? '', /^\d+\.\d{9}$/)
        assert.equal((await into()).skipped, 4)
        writeTree(from, { a: 'ALPHA' })
        const again = await into()
        assert.deepEqual([again.copied, again.skipped], [1, 3])
      }),
    ))

  it('removes what the source does not have only when asked, and nothing beside its prefix', () =>
    withBucket((bucket) =>
      inTemporaryDirectory(async (from) => {
        for (const key of ['to/old', 'to/d/old', 'together', 'beside']) await bucket.ask('PUT', key, 'x')
        writeTree(from, { a: '1' })
        const into = async (removesOthers: boolean) => runFrom(from, await targetAt('s3://bucket/to', bucket), { removesOthers })
        assert.equal((await into(false)).removed, 0)
        assert.equal((await into(true)).removed, 2)
        const source = createS3Source(await bucketAt('s3://bucket', bucket))
        assert.deepEqual(namesOf(await listAll(source)), ['beside', 'to/a', 'together'])
        await source.close()
      }),
    ))

  it('copies from one prefix to another, and to a directory and back', () =>
    withBucket((bucket) =>
      inTemporaryDirectory(async (directory) => {
        for (const key of ['from/a', 'from/b/c']) await bucket.ask('PUT', key, `content of ${key}`)
        const source = () => bucketAt('s3://bucket/from', bucket).then(createS3Source)
        const across = async () => run({ source: await source(), target: await targetAt('s3://bucket/to', bucket) })
        assert.equal((await across()).copied, 2)
        assert.equal((await across()).skipped, 2)
        const down = async () =>
          run({ source: await source(), target: await openLocalTarget({ shown: 'local:///to', path: directory, checks: false }) })
        assert.equal((await down()).copied, 2)
        assert.equal((await down()).skipped, 2)
        const up = await runFrom(directory, await targetAt('s3://bucket/back', bucket))
        assert.equal(up.copied, 2)
        assert.equal(String(await bytesOf(bucket, 'back/b/c')), 'content of from/b/c')
      }),
    ))

  it('is refused without the right to write, with what to do and no credentials', () =>
    withBucket((bucket) =>
      inTemporaryDirectory(async (from) => {
        writeTree(from, { a: '1' })
        const options = { ...bucket.options, 'aws.accessKeyId': 'wrong-id' }
        const refused = runFrom(from, await targetAt('s3://bucket/to', { options }))
        await assert.rejects(refused, (error: Error) => /check the credentials/.test(error.message) && !error.message.includes('wrong-id'))
      }),
    ))
})

describe('a migration into a bucket that misbehaves', () => {
  const LISTING = '<ListBucketResult><Name>b</Name></ListBucketResult>'
  const given = (url: URL): GivenOptions => ({
    options: { 'alluxio.underfs.s3.endpoint': url.href, 'alluxio.underfs.s3.disable.dns.buckets': 'true' },
  })

  it('gives up the uploads that killed copiers left for its keys, and no others', () => {
    const uploads = ['to/a', 'to/a', 'to/other', 'elsewhere'].map(
      (key, i) => `<Upload><Key>${key}</Key><UploadId>u${i}</UploadId></Upload>`,
    )
    return withServer(
      ({ method, url = '' }, response) => {
        if (method === 'GET')
          response.end(url.includes('uploads') ? `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>` : LISTING)
        else response.writeHead(method === 'DELETE' ? 204 : 200).end()
      },
      async ({ url, requests }) => {
        await run({ source: scriptedSource({ a: { content: 'x' } }), target: await targetAt('s3://bucket/to', given(url)) })
        assert.deepEqual(
          requests.filter((request) => request.startsWith('DELETE')),
          ['DELETE /bucket/to/a?uploadId=u0', 'DELETE /bucket/to/a?uploadId=u1'],
        )
      },
    )
  })

  const PIECE_ERRORS: [string, (url: string, method: string | undefined) => [number, string, Record<string, string>?], RegExp][] = [
    [
      'stores other bytes',
      (url, method) => (method === 'PUT' ? [200, '', { etag: `"${'0'.repeat(32)}"` }] : answerOf(url, method, '')),
      /stored with other bytes/,
    ],
    [
      'ends with an error after 200',
      (url, method) => answerOf(url, method, '<Error><Code>InternalError</Code></Error>'),
      /did not complete/,
    ],
    ['begins no upload', () => [200, '<InitiateMultipartUploadResult></InitiateMultipartUploadResult>'], /did not say which|stored with/],
    ['answers something else', () => [500, 'oops'], /status 500/],
  ]
  function answerOf(url: string, method: string | undefined, completed: string): [number, string, Record<string, string>?] {
    if (method === 'PUT') return [200, '', { etag: '"e"' }]
    if (method === 'DELETE') return [204, '']
    return [
      200,
      url.includes('uploadId') ? completed : '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>',
    ]
  }
  for (const [what, answer, message] of PIECE_ERRORS)
    it(`fails when it ${what}`, () =>
      withServer(
        ({ method, url = '' }, response) => {
          const [status, body, headers] = method === 'GET' && !url.includes('uploads') ? ([200, LISTING] as const) : answer(url, method)
          response.writeHead(status, headers).end(body)
        },
        async ({ url }) => {
          const target = await targetAt('s3://bucket/to', given(url))
          await target.begin(new AbortController().signal)
          const source = scriptedSource({ f: { content: 'x'.repeat(9 * MIB) } })
          const [file] = (await source.list(undefined, new AbortController().signal)).files
          assert.ok(file)
          await assert.rejects(target.write({ file, from: source, onBytes: () => undefined }, new AbortController().signal), message)
          await target.end()
        },
      ))

  it('does not try for ever where it may not write', () =>
    withServer(
      ({ method }, response) => void (method === 'PUT' ? response.writeHead(403).end() : response.end(LISTING)),
      async ({ url }) => {
        const target = await targetAt('s3://bucket/to', given(url))
        await assert.rejects(run({ source: scriptedSource({ f: { content: 'x' } }), target }), TargetRefused)
      },
    ))
})

describe('pieces', () => {
  it('are of one length but for the last, and all bytes of the file', async () => {
    const chunk = fc.uint8Array({ minLength: 0, maxLength: 50 })
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 20 }), fc.integer({ min: 1, max: 60 }), async (chunks, length) => {
        const whole = Buffer.concat(chunks)
        const pieces: Buffer[] = []
        for await (const piece of piecesOf(streamOf(chunks), whole.length, length)) pieces.push(Buffer.from(piece))
        assert.ok(Buffer.concat(pieces).equals(whole))
        assert.ok(pieces.slice(0, -1).every((piece) => piece.length === length))
      }),
    )
  })

  it('are refused when there is more or less than the file has', async () => {
    const all = async (total: number) => {
      for await (const piece of piecesOf(streamOf([Buffer.alloc(10)]), total, 4)) assert.ok(piece.length <= 4)
    }
    await assert.rejects(all(9), /more was read/)
    await assert.rejects(all(11), /only 10 of 11/)
  })

  it('are few enough for S3, and small enough for the memory', () => {
    assert.equal(pieceBytesFor(0), 8 * MIB)
    assert.equal(pieceBytesFor(100_000 * MIB), 10 * MIB)
    assert.equal(pieceBytesFor(10 ** 12), undefined)
  })
})

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks
}
