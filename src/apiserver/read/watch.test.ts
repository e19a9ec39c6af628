import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CONFIG_MAPS, configMap, settle, startTestServer, type TestServer, type WatchEvent } from '../testing.ts'

const summary = (events: readonly WatchEvent[]): string[] =>
  events.map(
    ({ type, object }) =>
      `${type} ${object.metadata.name}@${object.metadata.resourceVersion} ${JSON.stringify(object.metadata.labels ?? {})}`,
  )

interface State {
  name: string
  labels: Record<string, string>
}

interface Change {
  revision: number
  before: State | undefined
  after: State | undefined
}

/** Selectors, and what they mean, independently of the server's code. */
const selectors: [string, (state: State) => boolean][] = [
  ['', () => true],
  ['labelSelector=app%3Da', ({ labels }) => labels.app === 'a'],
  ['labelSelector=app', ({ labels }) => labels.app !== undefined],
  ['labelSelector=%21app', ({ labels }) => labels.app === undefined],
  ['labelSelector=app%20notin%20(a)', ({ labels }) => labels.app !== 'a'],
  ['fieldSelector=metadata.name%3Dn1', ({ name }) => name === 'n1'],
  ['fieldSelector=metadata.name%21%3Dn1', ({ name }) => name !== 'n1'],
  ['fieldSelector=metadata.name%3Dn0&labelSelector=app%3Da', ({ name, labels }) => name === 'n0' && labels.app === 'a'],
]

/** What a watcher with this selector must see of a history. */
function expected(history: readonly Change[], after: number, matches: (state: State) => boolean): string[] {
  return history
    .filter((change) => change.revision > after)
    .flatMap(({ revision, before, after: now }) => {
      const was = before !== undefined && matches(before)
      const is = now !== undefined && matches(now)
      if (!was && !is) return []
      const shown = is ? now : before
      return [`${is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED'} ${shown?.name}@${revision} ${JSON.stringify(shown?.labels)}`]
    })
}

type Op = { name: string; app: string | undefined; isDelete: boolean }

const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.record({
    name: fc.constantFrom('n0', 'n1', 'n2'),
    app: fc.constantFrom(undefined, 'a', 'b'),
    isDelete: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
)

/** Performs it on the server, and returns what changed. */
async function apply(server: TestServer, live: Map<string, State>, { name, app, isDelete }: Op): Promise<Change | undefined> {
  const before = live.get(name)
  if (isDelete) {
    if (before === undefined) return undefined
    assert.equal((await server.send('DELETE', `${CONFIG_MAPS}/${name}`)).status, 200)
    live.delete(name)
    return { revision: server.store.revision, before, after: undefined }
  }
  const after: State = { name, labels: app === undefined ? {} : { app } }
  const body = configMap(name, { n: String(server.store.revision) }, { labels: after.labels })
  const answer =
    before === undefined ? await server.send('POST', CONFIG_MAPS, body) : await server.send('PUT', `${CONFIG_MAPS}/${name}`, body)
  assert.ok(answer.status < 300, answer.text)
  live.set(name, after)
  return { revision: Number(answer.body.metadata.resourceVersion), before, after }
}

describe('watches follow a naive model', () => {
  it('live, resumed from every revision, for every selector', async () => {
    await fc.assert(
      fc.asyncProperty(ops, async (steps) => {
        const server = await startTestServer()
        const start = server.store.revision
        const live = await Promise.all(selectors.map(([query]) => server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${start}&${query}`)))
        const state = new Map<string, State>()
        const history: Change[] = []
        for (const step of steps) {
          const change = await apply(server, state, step)
          if (change !== undefined) history.push(change)
        }
        for (const [i, [query, matches]] of selectors.entries()) {
          assert.deepEqual(summary(live[i]?.take() ?? []), expected(history, start, matches), `live ${query}`)
          for (let from = start; from <= server.store.revision; from++) {
            const resumed = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${from}&${query}`)
            assert.deepEqual(summary(resumed.take()), expected(history, from, matches), `from ${from} ${query}`)
            resumed.stop()
          }
          const everywhere = await server.watch(`/api/v1/configmaps?watch=1&resourceVersion=${start}&${query}`)
          const inDefault = everywhere.take().filter(({ object }) => object.metadata.namespace === 'default')
          assert.deepEqual(summary(inDefault), expected(history, start, matches), `everywhere ${query}`)
          everywhere.stop()
        }
        server.stop()
        assert.ok(live.every((reader) => reader.isEnded))
        assert.deepEqual(server.internalErrors, [])
      }),
      { numRuns: 25 },
    )
  })

  it('list then watch misses nothing and repeats nothing, whatever is written meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(ops, fc.nat(14), async (steps, at) => {
        const server = await startTestServer()
        const state = new Map<string, State>()
        for (const step of steps.slice(0, at)) await apply(server, state, step)
        const list = (await server.send('GET', `${CONFIG_MAPS}?labelSelector=app%3Da`)).body
        const known = new Map(list.items.map((item) => [item.metadata.name, item.metadata.labels?.app]))
        for (const step of steps.slice(at)) await apply(server, state, step)
        const reader = await server.watch(`${CONFIG_MAPS}?watch=1&labelSelector=app%3Da&resourceVersion=${list.metadata.resourceVersion}`)
        for (const { type, object } of reader.take()) {
          const name = object.metadata.name ?? ''
          assert.equal(known.has(name), type !== 'ADDED', `${type} ${name}`)
          if (type === 'DELETED') known.delete(name)
          else known.set(name, object.metadata.labels?.app)
        }
        const wanted = [...state.values()].filter(({ labels }) => labels.app === 'a').map(({ name }) => name)
        assert.deepEqual([...known.keys()].sort(), wanted.sort())
        server.stop()
      }),
      { numRuns: 40 },
    )
  })
})

describe('a watch', () => {
  it('without a revision begins with the state, as ADDED events', async () => {
    const server = await startTestServer()
    await server.send('POST', CONFIG_MAPS, configMap('a'))
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1`)
    await server.send('POST', CONFIG_MAPS, configMap('b'))
    assert.deepEqual(
      reader.take().map(({ type, object }) => `${type} ${object.metadata.name}`),
      ['ADDED a', 'ADDED b'],
    )
    server.stop()
  })

  it('marks the end of the initial state with a bookmark at its revision', async () => {
    const server = await startTestServer()
    await server.send('POST', CONFIG_MAPS, configMap('a'))
    const reader = await server.watch(
      `${CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    )
    const events = reader.take()
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'BOOKMARK'],
    )
    const metadata = events[1]?.object.metadata ?? {}
    assert.equal(metadata.resourceVersion, String(server.store.revision))
    assert.deepEqual(metadata.annotations, { 'k8s.io/initial-events-end': 'true' })
    server.stop()
  })

  it('from a forgotten revision answers 410 as an ERROR event and ends', async () => {
    const server = await startTestServer()
    for (const name of ['a', 'b', 'c']) await server.send('POST', CONFIG_MAPS, configMap(name))
    const old = server.store.revision - 2
    server.store.compact(server.store.revision - 1)
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${old}`)
    const [event, ...more] = reader.take()
    assert.deepEqual([event?.type, event?.object.code, event?.object.reason, more.length], ['ERROR', 410, 'Expired', 0])
    assert.ok(reader.isEnded)
    const edge = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${server.store.oldestRevision}`)
    assert.deepEqual(
      edge.take().map(({ object }) => object.metadata.name),
      ['c'],
    )
    server.stop()
  })

  it('whose revision is forgotten between the answer and its start answers 410 too', async () => {
    const server = await startTestServer()
    const response = await server.handle({ method: 'GET', url: `${CONFIG_MAPS}?watch=1&resourceVersion=${server.store.revision}` })
    for (const name of ['a', 'b']) await server.send('POST', CONFIG_MAPS, configMap(name))
    server.store.compact(server.store.revision)
    const lines: string[] = []
    let isEnded = false
    if (typeof response.body !== 'function') return assert.fail('no stream')
    response.body({
      write: (chunk) => lines.push(Buffer.from(chunk).toString()) > 0,
      onDrain: () => undefined,
      end: () => {
        isEnded = true
      },
    })
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /"type":"ERROR".*"code":410/)
    assert.ok(isEnded)
    assert.match((await server.send('GET', '/metrics')).text, /apiserver_registered_watchers 0\n/)
    server.stop()
  })

  it('promises in bookmarks only what was sent before', async () => {
    const server = await startTestServer()
    const reader = await server.watch(
      `${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&labelSelector=app%3Da&resourceVersion=${server.store.revision}`,
    )
    const seen: WatchEvent[] = []
    for (let i = 0; i < 5; i++) {
      await server.send('POST', CONFIG_MAPS, configMap(`a${i}`, {}, { labels: { app: 'a' } }))
      await server.send('POST', CONFIG_MAPS, configMap(`b${i}`))
      if (i === 2) reader.pause()
      server.clock.advance(60_000)
    }
    seen.push(...reader.take())
    reader.resume()
    seen.push(...reader.take())
    const bookmarks = seen.filter(({ type }) => type === 'BOOKMARK')
    assert.equal(bookmarks.length, 5)
    let promised = 0
    for (const { type, object } of seen) {
      const revision = Number(object.metadata.resourceVersion)
      assert.ok(revision > promised || (type === 'BOOKMARK' && revision === promised), `${type} ${revision} after ${promised}`)
      promised = Math.max(promised, revision)
    }
    assert.equal(promised, server.store.revision, 'also revisions that did not concern it')
    server.stop()
  })

  it('that is too slow is closed, and resumes without gap', async () => {
    const server = await startTestServer({ limits: { watchBufferEvents: 3 } })
    const from = server.store.revision
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${from}`)
    reader.pause()
    for (let i = 0; i < 10; i++) await server.send('POST', CONFIG_MAPS, configMap(`c${i}`))
    assert.ok(reader.isEnded)
    const seen = reader.take()
    const resumed = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${seen.at(-1)?.object.metadata.resourceVersion}`)
    seen.push(...resumed.take())
    assert.deepEqual(
      seen.map(({ object }) => object.metadata.name),
      Array.from({ length: 10 }, (_, i) => `c${i}`),
    )
    assert.match((await server.send('GET', '/metrics')).text, /apiserver_registered_watchers 1\n/)
    server.stop()
  })

  it('gets a state and a past far beyond the bound of its buffer, as fast as it takes them', async () => {
    const server = await startTestServer({ limits: { watchBufferEvents: 3, watchBufferBytes: 2000 } })
    const from = server.store.revision
    const names = Array.from({ length: 40 }, (_, i) => `c${String(i).padStart(2, '0')}`)
    for (const name of names) await server.send('POST', CONFIG_MAPS, configMap(name, { text: 'x'.repeat(200) }))
    for (const query of [`resourceVersion=${from}`, 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan']) {
      const response = await server.handle({ method: 'GET', url: `${CONFIG_MAPS}?watch=1&${query}` })
      if (typeof response.body !== 'function') return assert.fail('no stream')
      const taken: string[] = []
      let drain: (() => void) | undefined
      const stop = response.body({
        write(chunk) {
          taken.push((JSON.parse(Buffer.from(chunk).toString()) as WatchEvent).object.metadata.name ?? '')
          return false
        },
        onDrain(callback) {
          drain = callback
        },
        end: () => assert.fail('closed'),
      })
      assert.equal(taken.length, 1)
      await server.send('POST', CONFIG_MAPS, configMap('late'))
      for (let i = 0; i < 100 && drain !== undefined; i++) {
        const next = drain
        drain = undefined
        next()
      }
      assert.deepEqual(taken, [...names, 'late'])
      stop()
      await server.send('DELETE', `${CONFIG_MAPS}/late`)
    }
    server.stop()
  })

  it('ends after its timeout, and leaves no timer behind', async () => {
    const server = await startTestServer()
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1&timeoutSeconds=5&allowWatchBookmarks=true`)
    server.clock.advance(4999)
    assert.equal(reader.isEnded, false)
    server.clock.advance(1)
    assert.equal(reader.isEnded, true)
    await server.send('POST', CONFIG_MAPS, configMap('a'))
    server.clock.advance(600_000)
    assert.deepEqual(reader.take(), [])
    server.stop()
  })

  it('of a client that left before it began costs nothing', async () => {
    const server = await startTestServer()
    const abort = new AbortController()
    abort.abort()
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1`, { signal: abort.signal })
    assert.ok(reader.isEnded)
    assert.match((await server.send('GET', '/metrics')).text, /apiserver_registered_watchers 0\n/)
    server.stop()
  })

  it('more than may be open at once is refused with 429 until one ends', async () => {
    const server = await startTestServer({ limits: { watchers: 1 } })
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1`)
    const refused = await server.send('GET', `${CONFIG_MAPS}?watch=1`)
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '5'])
    reader.stop()
    const next = await server.watch(`${CONFIG_MAPS}?watch=1`)
    assert.equal(next.isEnded, false)
    server.stop()
  })

  it('ends when the store closes', async () => {
    const server = await startTestServer()
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1`)
    await server.memory.close()
    assert.ok(reader.isEnded)
  })

  it('as a Table has headers once, and rows as partial metadata', async () => {
    const server = await startTestServer()
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1`, { headers })
    for (const name of ['a', 'b']) await server.send('POST', CONFIG_MAPS, configMap(name))
    const tables = reader
      .take()
      .map(({ object }) => object as unknown as { columnDefinitions: unknown[] | null; rows: { object: { kind: string } }[] })
    assert.deepEqual(
      tables.map(({ columnDefinitions, rows }) => [columnDefinitions === null, rows[0]?.object.kind]),
      [
        [false, 'PartialObjectMetadata'],
        [true, 'PartialObjectMetadata'],
      ],
    )
    server.stop()
  })
})

describe('a revision that is not there yet', () => {
  const ask = (server: TestServer, ahead: number) => server.send('GET', `${CONFIG_MAPS}?resourceVersion=${server.store.revision + ahead}`)

  it('is waited for', async () => {
    const server = await startTestServer()
    const asked = ask(server, 1)
    await settle(2)
    await server.send('POST', CONFIG_MAPS, configMap('a'))
    const answer = await asked
    assert.equal(answer.status, 200)
    assert.deepEqual(
      answer.body.items.map((item) => item.metadata.name),
      ['a'],
    )
    server.stop()
  })

  it('is given up on after three seconds with 504 and a time to come back', async () => {
    const server = await startTestServer()
    const asked = ask(server, 100)
    await settle(2)
    server.clock.advance(3000)
    const answer = await asked
    assert.equal(answer.status, 504)
    assert.equal(answer.headers['retry-after'], '1')
    assert.equal(answer.body.details?.causes?.[0]?.reason, 'ResourceVersionTooLarge')
    server.stop()
  })

  for (const [path, code, message] of [
    [
      `${CONFIG_MAPS}?resourceVersion=x`,
      400,
      'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
    [`${CONFIG_MAPS}/a?resourceVersion=-1`, 500, 'resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax'],
    [`${CONFIG_MAPS}?resourceVersion=${'9'.repeat(5000)}`, 400, /value out of range$/],
  ] as const)
    it(`that is none (${path.slice(-30)}) is refused with ${code}`, async () => {
      const server = await startTestServer()
      const answer = await server.send('GET', path)
      assert.equal(answer.status, code)
      if (typeof message === 'string') assert.equal(answer.body.message, message)
      else assert.match(answer.body.message ?? '', message)
      server.stop()
    })
})
