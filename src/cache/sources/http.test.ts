import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { childrenOf, createHttpSource } from './http.ts'
import { SourceChanged, type SourceFile, SourceRefused } from './source.ts'
import { listAll, namesOf, never, readAll } from './testing.ts'
import { clientFor, type Handler, withServer } from './web/testing.ts'

const PAGE = new URL('http://host/data/')
const MODIFIED = 'Sun, 06 Nov 1994 08:49:37 GMT'

const APACHE = `<html><head><title>Index of /data</title></head><body><table>
<tr><th><a href="?C=N;O=D">Name</a></th></tr><tr><td><a href="/">Parent Directory</a></td></tr>
<tr><td><a href="sub%20dir/">sub dir/</a></td><td align="right">2024-01-01 10:00</td></tr>
<tr><td><a href="a&amp;b.txt">a&amp;b.txt</a></td><td align="right">1.2K</td></tr></table></body></html>`
const NGINX = `<html><head><title>Index of /data/</title></head><body><h1>Index of /data/</h1><hr><pre><a href="../">../</a>
<a href="sub%20dir/">sub dir/</a>   01-Jan-2024 10:00   -\r\n<a href="a%26b.txt">a&amp;b.txt</a>  01-Jan-2024 10:00  1234\r\n</pre><hr></body></html>`
const CADDY = `<!DOCTYPE html><html><body><style>a{}</style><a href="/">root</a><a href="/data/">data</a><a href="./?layout=grid">Grid</a>
<table><tr class="file"><td><a href="./sub%20dir/"><svg></svg><span class="name">sub dir/</span></a></td></tr>
<tr class="file"><td><a href="./a&amp;b.txt"><span class="name">a&amp;b.txt</span></a></td></tr></table>
<footer>Served with <a rel="noopener" href="https://caddyserver.com">Caddy</a></footer></body></html>`

describe('index pages', () => {
  for (const [server, html] of Object.entries({ APACHE, NGINX, CADDY })) {
    it(`are understood as ${server} makes them`, () =>
      assert.deepEqual(childrenOf(html, PAGE), { files: ['a&b.txt'], directories: ['sub dir'], refused: [] }))
  }

  it('lead to direct children only', () => {
    const links = [
      '../x',
      '/etc/passwd',
      '//other/data/x',
      'https://host/data/x',
      'http://host/data/ok',
      'a/b',
      '%2e%2e/',
      '..%2fx',
      'x%0ay',
      '%ff',
      'javascript:x',
      '#x',
      'ok',
    ]
    const html = links.map((link) => `<a href="${link}">`).join('')
    assert.deepEqual(childrenOf(html, PAGE), { files: ['ok'], directories: [], refused: ['../x', 'x\ny', '%ff'] })
  })

  it('never lead out of their directory, whatever they contain', () => {
    const bit = fc.constantFrom('..', '/', '.', '%2e', '%2f', 'a', '\\', '%5c', '?', '#', ':', '%00', ' ')
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 8 }), (bits) => {
        const { files, directories } = childrenOf(`<a href="${bits.join('')}">`, PAGE)
        for (const name of [...files, ...directories]) {
          const url = new URL(encodeURIComponent(name), PAGE)
          assert.ok(url.href.startsWith(PAGE.href) && url.href.length > PAGE.href.length)
        }
      }),
    )
  })
})

/** A tree of files: text, or the links of a directory by its path's slash at the end. */
function serving(tree: Record<string, string>): Handler {
  return ({ url = '/', method, headers }, response) => {
    const content = tree[decodeURIComponent(url)]
    if (content === undefined) return response.writeHead(404).end()
    if (url.endsWith('/')) return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(content)
    const etag = `"${content.length}"`
    if (headers['if-match'] !== undefined && headers['if-match'] !== etag) return response.writeHead(412).end()
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const body = from === undefined ? content : content.slice(Number(from), Number(to) + 1)
    const range = from === undefined ? {} : { 'content-range': `bytes ${from}-${to}/${content.length}` }
    response.writeHead(from === undefined ? 200 : 206, { etag, 'last-modified': MODIFIED, 'content-length': body.length, ...range })
    return response.end(method === 'HEAD' ? undefined : body)
  }
}

const links = (...names: readonly string[]) => names.map((name) => `<a href="${name}">`).join('')
const sourceAt = (url: URL, path = '/') => createHttpSource({ mountPoint: new URL(path, url), client: clientFor() })

describe('a single file over HTTP', () => {
  it('says what is wrong when it cannot be used', async () => {
    for (const [status, headers, says] of [
      [404, {}, /\/f was answered with status 404: check the address/],
      [403, {}, /\/f was answered with status 403/],
      [200, { 'content-length': 5 }, /\/f has neither a size nor an ETag or Last-Modified/],
    ] as const)
      await withServer(
        (_, response) => response.writeHead(status, headers).end(),
        async ({ url }) => {
          const source = sourceAt(url, '/f')
          await assert.rejects(listAll(source), (error: Error) => error instanceof SourceRefused && says.test(error.message))
          await source.close()
        },
      )
  })
})

describe('a directory over HTTP', () => {
  it('is listed with everything below, and read by ranges', () =>
    withServer(
      serving({
        '/d/': links('../', 'a.txt', 'sub%20dir/', 'gone', 'locked/'),
        '/d/a.txt': 'hello world',
        '/d/sub dir/': links('b'),
        '/d/sub dir/b': 'bytes',
      }),
      async ({ url }) => {
        const source = sourceAt(url, '/d/')
        const listing = await listAll(source)
        assert.deepEqual(listing.files, [
          { path: 'a.txt', size: 11, etag: '"11"', mtimeNs: '784111777000000000' },
          { path: 'sub dir/b', size: 5, etag: '"5"', mtimeNs: '784111777000000000' },
        ])
        assert.deepEqual(listing.refused.toSorted(), ['"gone"', '"locked"'])
        const [file] = listing.files as [SourceFile]
        assert.equal(String(await readAll(source, file)), 'hello world')
        assert.equal(String(await readAll(source, file, { start: 6, end: 9 })), 'wor')
        assert.equal(String(await readAll(source, file, { start: 4, end: 4 })), '')
        assert.equal((await source.stat('sub dir/b', never()))?.size, 5)
        assert.equal(await source.stat('none', never()), undefined)
        assert.equal(await source.stat('../d/a.txt', never()), undefined)
        await source.close()
      },
    ))

  it('can be a single file, or be known as a directory by its redirect', () =>
    withServer(
      (request, response) =>
        request.url === '/d'
          ? response.writeHead(301, { location: '/d/' }).end()
          : serving({ '/d/': links('x'), '/d/x': '1', '/f.bin': 'bytes' })(request, response),
      async ({ url }) => {
        const [file, directory] = [sourceAt(url, '/f.bin'), sourceAt(url, '/d')]
        const { files } = await listAll(file)
        assert.deepEqual(namesOf(await listAll(directory)), ['x'])
        assert.equal(String(await readAll(file, files[0] as SourceFile, { start: 1, end: 3 })), 'yt')
        assert.equal(files[0]?.path, 'f.bin')
        await file.close()
        await directory.close()
      },
    ))

  it('ends when its directories never do', () =>
    withServer(
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(links('deeper/')),
      async ({ url, requests }) => {
        const source = sourceAt(url)
        const listing = await listAll(source)
        assert.deepEqual([listing.files.length, listing.refusedCount, requests.length], [0, 1, 64])
        await source.close()
      },
    ))

  it('ends when a page has more directories than may wait', () => {
    const page = Array.from({ length: 200_000 }, (_, i) => `<a href="${i}/">`).join('')
    return withServer(
      ({ url }, response) =>
        url === '/' ? response.writeHead(200, { 'content-type': 'text/html' }).end(page) : response.writeHead(500).end(),
      async ({ url, requests }) => {
        const source = sourceAt(url)
        await assert.rejects(listAll(source), /more than 200000 directories: mount parts of it separately/)
        assert.deepEqual(requests, ['GET /'])
        await source.close()
      },
    )
  })

  it('is not removed file by file because the server is ill', () =>
    withServer(
      ({ url = '' }, response) =>
        url === '/' ? response.writeHead(200, { 'content-type': 'text/html' }).end(links('a')) : response.writeHead(500).end(),
      async ({ url }) => {
        const source = sourceAt(url)
        await assert.rejects(listAll(source), /status 500/)
        await source.close()
      },
    ))

  it('says what to do when there is no index page, or an endless one', () =>
    withServer(
      ({ url }, response) => {
        if (url !== '/endless/') return response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
        response.writeHead(200, { 'content-type': 'text/html' })
        const more = (): void => {
          while (response.write(Buffer.alloc(1_000_000, 120)));
          response.once('drain', more)
        }
        return more()
      },
      async ({ url }) => {
        for (const [path, message] of [
          ['/', /has no index page: switch directory listings on/],
          ['/endless/', /a listing has more than 16777216 bytes/],
        ] as const) {
          const source = sourceAt(url, path)
          await assert.rejects(listAll(source), (error) => error instanceof SourceRefused && message.test(error.message))
          await source.close()
        }
      },
    ))

  it('leaves out files whose changes could not be noticed, and asks with GET where there is no HEAD', () =>
    withServer(
      ({ url, method }, response) => {
        if (url === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(links('bare', 'weak', 'chunked', 'nohead'))
        if (url === '/bare') return response.writeHead(200, { 'content-length': 3 }).end()
        if (url === '/weak') return response.writeHead(200, { etag: 'W/"x"', 'content-length': 3 }).end()
        if (url === '/chunked') return response.writeHead(200, { etag: '"x"' }).end()
        if (method === 'HEAD') return response.writeHead(405).end()
        return response.writeHead(206, { etag: '"x"', 'content-range': 'bytes 0-0/7' }).end('1')
      },
      async ({ url }) => {
        const source = sourceAt(url)
        const listing = await listAll(source)
        assert.deepEqual(listing.files, [{ path: 'nohead', size: 7, etag: '"x"' }])
        assert.equal(listing.refusedCount, 3)
        await source.close()
      },
    ))
})

describe('a file over HTTP that is not what was asked for', () => {
  const FILE: SourceFile = { path: 'f', size: 10, etag: '"v1"' }
  const whole = '0123456789'
  const answers: Record<string, [number, Record<string, string | number>, string]> = {
    '412': [412, {}, ''],
    '404': [404, {}, ''],
    '416': [416, { 'content-range': 'bytes */3' }, ''],
    'another ETag, in spite of If-Match': [206, { etag: '"v2"', 'content-range': 'bytes 2-4/10' }, '234'],
    'no ETag any more': [206, { 'content-range': 'bytes 2-4/10' }, '234'],
    'another size': [206, { etag: '"v1"', 'content-range': 'bytes 2-4/11' }, '234'],
    'another size of the whole': [200, { etag: '"v1"', 'content-length': 11 }, `${whole}x`],
  }
  for (const [what, [status, headers, body]] of Object.entries(answers)) {
    it(`has changed: ${what}`, () =>
      withServer(
        (_, response) => response.writeHead(status, headers).end(body),
        async ({ url }) => {
          const source = sourceAt(url)
          await assert.rejects(readAll(source, FILE, { start: 2, end: 5 }), SourceChanged)
          await source.close()
        },
      ))
  }

  const broken: Record<string, [number, Record<string, string | number>, string, RegExp]> = {
    'another range': [206, { etag: '"v1"', 'content-range': 'bytes 0-2/10' }, '012', /another range/],
    'no range at all': [206, { etag: '"v1"' }, '234', /another range/],
    'another length than its range': [206, { etag: '"v1"', 'content-range': 'bytes 2-4/10', 'content-length': 2 }, '23', /another range/],
    'too few bytes': [
      206,
      { etag: '"v1"', 'content-range': 'bytes 2-4/10', 'transfer-encoding': 'chunked' },
      '23',
      /ended after 2 of 3 bytes/,
    ],
    'an error': [503, {}, 'secret details', /^Error: f was answered with status 503$/],
  }
  for (const [what, [status, headers, body, message]] of Object.entries(broken)) {
    it(`is an error: ${what}`, () =>
      withServer(
        (_, response) => response.writeHead(status, headers).end(body),
        async ({ url }) => {
          const source = sourceAt(url)
          await assert.rejects(readAll(source, FILE, { start: 2, end: 5 }), message)
          await source.close()
        },
      ))
  }

  it('is cut out of the whole when the server ignores ranges', () =>
    withServer(
      (_, response) => response.writeHead(200, { etag: '"v1"', 'content-length': 10 }).end(whole),
      async ({ url }) => {
        const source = sourceAt(url)
        assert.equal(String(await readAll(source, FILE, { start: 2, end: 5 })), '234')
        assert.equal(String(await readAll(source, FILE)), whole)
        await assert.rejects(readAll(source, { ...FILE, size: 2 ** 40 }, { start: 2 ** 39, end: 2 ** 39 + 1 }), SourceChanged)
        await source.close()
      },
    ))

  it('is compared by its time of change when there is no ETag', () =>
    withServer(
      (request, response) => {
        assert.equal(request.headers['if-unmodified-since'], MODIFIED)
        response
          .writeHead(206, {
            'last-modified': request.url === '/same' ? MODIFIED : 'Mon, 07 Nov 1994 08:49:37 GMT',
            'content-range': 'bytes 2-4/10',
          })
          .end('234')
      },
      async ({ url }) => {
        const source = sourceAt(url)
        const file = { path: 'same', size: 10, mtimeNs: '784111777000000000' }
        assert.equal(String(await readAll(source, file, { start: 2, end: 5 })), '234')
        await assert.rejects(readAll(source, { ...file, path: 'newer' }, { start: 2, end: 5 }), SourceChanged)
        await source.close()
      },
    ))
})
