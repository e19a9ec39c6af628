import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { AwsClient } from 'aws4fetch'
import fc from 'fast-check'
import { createMountOptions, type GivenOptions } from '../options.ts'
import { SourceChanged, type SourceFile, SourceRefused } from '../source.ts'
import { inTemporaryDirectory, listAll, namesOf, never, readAll } from '../testing.ts'
import { clientFor, realClock, withServer } from '../web/testing.ts'
import { parseListResult } from './list-result.ts'
import { createS3Source } from './s3.ts'
import { s3CredentialsOf, s3PlaceOf } from './settings.ts'

interface S3rver {
  run(): Promise<{ port: number }>
  close(): Promise<void>
}

const CREDENTIALS = { 'aws.accessKeyId': 'S3RVER', 'aws.secretKey': 'S3RVER' }

async function sourceOf(mountPoint: string, given: GivenOptions) {
  const options = createMountOptions(given)
  return createS3Source({ place: await s3PlaceOf(mountPoint, options), options, client: clientFor(), clock: realClock })
}

const page = (contents: string, more = '') => `<?xml version="1.0"?><ListBucketResult><Name>b</Name>${more}${contents}</ListBucketResult>`
const object = (key: string, etag = '"e"', size: number | string = 3) =>
  `<Contents><Key>${key}</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>${etag}</ETag><Size>${size}</Size><Owner><ID>1</ID></Owner></Contents>`

describe('a bucket of a real server', () => {
  const keys = ['a.txt', 'd/ü +&<%41.bin', 'd/e/f', "d/it's(1)!*~", 'other', 'marker/']
  let server: S3rver
  let endpoint = ''
  const given = (): GivenOptions => ({
    options: { ...CREDENTIALS, 'alluxio.underfs.s3.endpoint': endpoint, 'alluxio.underfs.s3.disable.dns.buckets': 'true' },
  })
  const put = async (key: string, body: string) => {
    const client = new AwsClient({ accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', service: 's3', region: 'us-east-1' })
    const encoded = encodeURIComponent(key).replaceAll('%2F', '/')
    const answer = await client.fetch(`${endpoint}/bucket/${encoded}`, { method: 'PUT', body })
    assert.equal(answer.status, 200, await answer.text())
  }

  before(() =>
    inTemporaryDirectory(async (directory) => {
      // It has no types, and `import` would ask for them.
      const require = createRequire(import.meta.url)
      const Server = require('s3rver') as new (options: object) => S3rver
      server = new Server({
        port: 0,
        address: '127.0.0.1',
        silent: true,
        directory: `${directory}-s3`,
        resetOnClose: true,
        configureBuckets: [{ name: 'bucket' }],
      })
      endpoint = `http://127.0.0.1:${(await server.run()).port}`
      for (const key of keys) await put(key, key.endsWith('/') ? '' : `content of ${key}`)
    }),
  )
  after(() => server.close())

  it('is listed, asked and read by ranges', async () => {
    const source = await sourceOf('s3://bucket', given())
    const listing = await listAll(source)
    assert.deepEqual(namesOf(listing), keys.slice(0, -1).sort())
    for (const file of listing.files) {
      assert.equal(String(await readAll(source, file)), `content of ${file.path}`)
      assert.equal(String(await readAll(source, file, { start: 8, end: 10 })), 'of')
      const { etag, size } = (await source.stat(file.path, never())) ?? {}
      assert.deepEqual([etag, size], [file.etag, file.size])
    }
    assert.equal(await source.stat('none', never()), undefined)
    await source.close()
  })

  it('can be a part of one, or a single object', async () => {
    const [part, single] = [await sourceOf('s3://bucket/d/', given()), await sourceOf('s3://bucket/d/e/f', given())]
    assert.deepEqual(
      namesOf(await listAll(part)),
      keys
        .slice(1, 4)
        .map((key) => key.slice(2))
        .sort(),
    )
    const { files } = await listAll(single)
    assert.deepEqual(
      files.map((file) => file.path),
      ['f'],
    )
    assert.equal(String(await readAll(single, files[0] as SourceFile)), 'content of d/e/f')
    const worker = await sourceOf('s3://bucket/d/e/f', given())
    assert.equal(String(await readAll(worker, files[0] as SourceFile)), 'content of d/e/f')
    for (const source of [part, single, worker]) await source.close()
  })

  it('does not mix versions, although this server ignores If-Match', async () => {
    const source = await sourceOf('s3://bucket', given())
    const file = (await source.stat('other', never())) as SourceFile
    await put('other', 'CONTENT OF other')
    await assert.rejects(readAll(source, file), SourceChanged)
    await source.close()
  })

  it('is refused with wrong credentials, which are never told, and takes new ones from their file', () =>
    inTemporaryDirectory(async (directory) => {
      // This server looks at the id alone; see below for signatures.
      const file = path.join(directory, 'id')
      await writeFile(file, 'wrong-id')
      const { options = {} } = given()
      const { 'aws.accessKeyId': _, ...rest } = options
      const source = await sourceOf('s3://bucket', { options: rest, encryptOptions: { 'aws.accessKeyId': file } })
      await assert.rejects(
        listAll(source),
        (error: Error) =>
          error instanceof SourceRefused && /status 403.*check the credentials/.test(error.message) && !error.message.includes('wrong'),
      )
      await writeFile(file, 'S3RVER\n')
      assert.equal((await listAll(source)).files.length, 5)
      await source.close()
    }))
})

describe('a bucket of a server that cannot be trusted', () => {
  const given = ({ href }: URL): GivenOptions => ({ options: { 'aws.endpoint': href } })

  it('is listed page by page', () =>
    withServer(
      (request, response) => {
        assert.equal(request.headers.authorization, undefined)
        const token = new URL(request.url ?? '', 'http://x').searchParams.get('continuation-token')
        const more =
          token === '2&'
            ? ''
            : `<IsTruncated>true</IsTruncated><NextContinuationToken>${token === null ? '1' : '2&amp;'}</NextContinuationToken>`
        response.end(page(object(`k${token ?? 0}`.replace('&', '')), more))
      },
      async ({ url }) => {
        const source = await sourceOf('s3://bucket', given(url))
        assert.deepEqual(namesOf(await listAll(source)), ['k0', 'k1', 'k2'])
        await source.close()
      },
    ))

  it('has its strange keys and sizes left out', () => {
    const strange = ['../up', 'a//b', '/abs', 'line&#10;break', '&#27;[2J', 'a/../../b', ''].map((key) => object(key))
    const sizes = [
      object('neg', '"e"', '-1'),
      object('huge', '"e"', '99999999999999999999'),
      object('none', '"e"', ''),
      object('hex', '"e"', '0x10'),
    ]
    return withServer(
      (_, response) => response.end(page([...strange, ...sizes, object('fine', '&quot;e&quot;')].join(''))),
      async ({ url }) => {
        const source = await sourceOf('s3://bucket', given(url))
        const listing = await listAll(source)
        assert.deepEqual(listing.files, [{ path: 'fine', size: 3, etag: '"e"', mtimeNs: '1704067200000000000' }])
        assert.equal(listing.refusedCount, 11)
        await source.close()
      },
    )
  })

  for (const [what, answer, message] of [
    ['never ends', page('', '<IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken>'), /does not end/],
    ['does not say where it goes on', page('', '<IsTruncated>true</IsTruncated>'), /but not where/],
    ['has too many keys', page(object('k').repeat(1001)), /more than the 1000 keys/],
    ['is no listing', '<Error><Code>x</Code></Error>', /something else than a listing/],
    ['is empty', '', /something else than a listing/],
    ['is cut off', page(object('k')).slice(0, -5), /not the XML of S3/],
    ['encodes keys', page('', '<EncodingType>url</EncodingType>'), /encoded keys/],
  ] as const) {
    it(`is refused when its listing ${what}`, () =>
      withServer(
        (_, response) => response.end(answer),
        async ({ url }) => {
          const source = await sourceOf('s3://bucket', given(url))
          await assert.rejects(listAll(source), message)
          await source.close()
        },
      ))
  }

  it('does not send signed requests elsewhere', () =>
    withServer(
      (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      async ({ url, requests }) => {
        const source = await sourceOf('s3://bucket', { options: { ...CREDENTIALS, 'aws.endpoint': url.href } })
        await assert.rejects(listAll(source), /another region: set aws\.region/)
        assert.equal(requests.length, 1)
        await source.close()
      },
    ))

  it('never breaks the parser', () => {
    const bit = fc.constantFrom(
      '<Contents>',
      '</Contents>',
      '<Key>',
      '</Key>',
      'k',
      '<Size>',
      '</Size>',
      '1',
      '<IsTruncated>',
      'true',
      '</IsTruncated>',
      '&',
      '<',
    )
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 30 }), (bits) => {
        try {
          assert.ok(parseListResult(page(bits.join(''))).objects.length <= bits.length)
        } catch (error) {
          assert.match((error as Error).message, /XML of S3|but not where/)
        }
      }),
    )
  })
})

/** Signature version 4, from its definition, of a request as it arrived. */
function signatureOf({ method, url = '', headers }: IncomingMessage, secret: string): string {
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const [pathname = '', query = ''] = url.split('?')
  const [, scope = '', names = ''] = /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
  const search = [...new URLSearchParams(query)].map((pair) => pair.map(encodeURIComponent).join('=')).sort()
  const signed = names.split(';').map((name) => `${name}:${headers[name]}\n`)
  const request = [method, pathname, search.join('&'), signed.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const key = scope.split('/').reduce((last: string | Buffer, part) => hmac(last, part), `AWS4${secret}`)
  return hmac(key, text).toString('hex')
}

describe('signatures', () => {
  it('are those of version 4, for keys with any character', () =>
    withServer(
      (request, response) => {
        const isRight = request.headers.authorization?.endsWith(`Signature=${signatureOf(request, 'secret')}`)
        const headers = { etag: '"e"', 'content-length': 3, 'last-modified': 'Sun, 06 Nov 1994 08:49:37 GMT' }
        if (isRight && request.url?.includes('list-type')) response.end(page(object('k')))
        else response.writeHead(isRight ? 200 : 403, isRight ? headers : {}).end(request.method === 'HEAD' || !isRight ? undefined : 'abc')
      },
      async ({ url }) => {
        const options = {
          'aws.accessKeyId': 'id',
          'aws.secretKey': 'secret',
          'aws.sessionToken': 'token',
          'aws.region': 'eu-west-1',
          'aws.endpoint': url.href,
        }
        const [right, wrong] = [
          await sourceOf('s3://bucket/a b+c', { options }),
          await sourceOf('s3://bucket', { options: { ...options, 'aws.secretKey': 'x' } }),
        ]
        assert.deepEqual((await listAll(right)).refusedCount, 1)
        for (const name of ['plain', 'ü +&<%41/b', "it's(1)!*~", 'a=b;c?d#e', '日本']) {
          const file = await right.stat(name, never())
          assert.equal(file?.size, 3, name)
          assert.equal(String(await readAll(right, file)), 'abc')
        }
        await assert.rejects(listAll(wrong), /status 403/)
        await right.close()
        await wrong.close()
      },
    ))
})

describe('options of an S3 mount', () => {
  const baseOf = async (mountPoint: string, options: Record<string, string> = {}) =>
    (await s3PlaceOf(mountPoint, createMountOptions({ options }))).base.href

  it('say where the bucket is', async () => {
    assert.equal(await baseOf('s3://data'), 'https://data.s3.us-east-1.amazonaws.com/')
    assert.equal(
      await baseOf('s3://data', { 'alluxio.underfs.s3.endpoint.region': 'eu-west-1' }),
      'https://data.s3.eu-west-1.amazonaws.com/',
    )
    assert.equal(await baseOf('s3a://data', { 'fs.s3.endpoint': 'http://minio:9000' }), 'http://minio:9000/data/')
    assert.equal(
      await baseOf('s3://data', { 'fs.s3a.endpoint': 'store.example', 'fs.s3a.path.style.access': 'true' }),
      'https://store.example/data/',
    )
    assert.equal(
      await baseOf('s3://data', { 'aws.endpoint': '10.0.0.1:9000', 'fs.s3a.connection.ssl.enabled': 'false' }),
      'http://10.0.0.1:9000/data/',
    )
    assert.equal(await baseOf('s3://my.data'), 'https://s3.us-east-1.amazonaws.com/my.data/')
  })

  it('may have the names that Curvine gives them', async () => {
    const options = { endpoint_url: 'http://store.example:9000', region_name: 'eu-west-1', path_style: 'true', access: 'id', secret: 'key' }
    const { base, region } = await s3PlaceOf('s3://data', createMountOptions({ options }))
    assert.deepEqual([base.href, region], ['http://store.example:9000/data/', 'eu-west-1'])
    const { accessKeyId, secretAccessKey } = (await s3CredentialsOf(createMountOptions({ options }))) ?? {}
    assert.deepEqual([accessKeyId, secretAccessKey], ['id', 'key'])
  })

  it('are refused when they cannot be right', async () => {
    for (const mountPoint of [
      's3://',
      's3:///key',
      's3://a b/',
      's3://user@bucket/',
      's3://bucket/../other',
      's3://bucket/a//b',
      's3://bucket/a\nb',
    ]) {
      await assert.rejects(baseOf(mountPoint), SourceRefused, mountPoint)
    }
    for (const endpoint of ['ftp://x', 'https://user:pw@host', 'https://', 'http://host/?x=1']) {
      await assert.rejects(baseOf('s3://bucket', { 'aws.endpoint': endpoint }), SourceRefused, endpoint)
    }
    await assert.rejects(baseOf('s3://bucket', { 'aws.region': 'x.evil.example/' }), SourceRefused)
    await assert.rejects(s3CredentialsOf(createMountOptions({ options: { 'aws.accessKeyId': 'x' } })), /needs both/)
    const missing = createMountOptions({ encryptOptions: { 'aws.accessKeyId': '/nowhere/key' } })
    await assert.rejects(s3CredentialsOf(missing), /option aws\.accessKeyId cannot be read \(ENOENT\): check the Secret/)
  })
})
