import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONFIG_MAPS, configMap, startTestServer, type TestServer } from '../testing.ts'

const A = `${CONFIG_MAPS}/a`
const MERGE = { 'content-type': 'application/merge-patch+json' }
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }

async function withA(data: Record<string, string> = { n: '0' }): Promise<TestServer> {
  const server = await startTestServer()
  assert.equal((await server.send('POST', CONFIG_MAPS, configMap('a', data))).status, 201)
  return server
}

const dataOf = async (server: TestServer): Promise<Record<string, string>> =>
  (await server.send('GET', A)).body.data as Record<string, string>

describe('many writers of one object', () => {
  const WRITERS = 25

  it('lose no increment over PUT with retry on conflict', async () => {
    const server = await withA()
    let conflicts = 0
    const increment = async (): Promise<void> => {
      for (;;) {
        const live = (await server.send('GET', A)).body
        const data = live.data as Record<string, string>
        const put = await server.send('PUT', A, { ...live, data: { ...data, n: String(Number(data.n) + 1) } })
        if (put.status === 200) return
        assert.deepEqual([put.status, put.body.reason], [409, 'Conflict'])
        conflicts++
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, increment))
    assert.equal((await dataOf(server)).n, String(WRITERS))
    assert.ok(conflicts > 0, 'they did collide')
    server.stop()
  })

  it('lose no increment over a JSON patch that tests what it saw', async () => {
    const server = await withA()
    const increment = async (): Promise<void> => {
      for (;;) {
        const { n } = await dataOf(server)
        const patch = [
          { op: 'test', path: '/data/n', value: n },
          { op: 'replace', path: '/data/n', value: String(Number(n) + 1) },
        ]
        const answer = await server.send('PATCH', A, patch, { headers: JSON_PATCH })
        if (answer.status === 200) return
        assert.equal(answer.status, 422, answer.text)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, increment))
    assert.equal((await dataOf(server)).n, String(WRITERS))
    server.stop()
  })

  it('lose no increment over a merge patch with the revision they saw', async () => {
    const server = await withA()
    const increment = async (): Promise<void> => {
      for (;;) {
        const live = (await server.send('GET', A)).body
        const n = String(Number((live.data as Record<string, string>).n) + 1)
        const patch = { metadata: { resourceVersion: live.metadata.resourceVersion }, data: { n } }
        const answer = await server.send('PATCH', A, patch, { headers: MERGE })
        if (answer.status === 200) return
        assert.equal(answer.status, 409, answer.text)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, increment))
    assert.equal((await dataOf(server)).n, String(WRITERS))
    server.stop()
  })

  it('each keep their own key when they patch without looking, in every form of patch', async () => {
    const server = await withA({})
    const writers = Array.from({ length: WRITERS }, (_, i) => i)
    await Promise.all([
      ...writers.map((i) => server.send('PATCH', A, { data: { [`merge${i}`]: 'x' } }, { headers: MERGE })),
      ...writers.map((i) => server.send('PATCH', A, { data: { [`strategic${i}`]: 'x' } }, { headers: STRATEGIC })),
      ...writers.map((i) => server.send('PATCH', `${A}?fieldManager=m${i}`, configMap('a', { [`apply${i}`]: 'x' }), { headers: APPLY })),
    ])
    assert.equal(Object.keys(await dataOf(server)).length, 3 * WRITERS)
    server.stop()
  })

  it('lose no increment when each applies as the same manager and forces nothing', async () => {
    const server = await withA()
    const increment = async (): Promise<void> => {
      for (;;) {
        const live = (await server.send('GET', A)).body
        const n = String(Number((live.data as Record<string, string>).n) + 1)
        const applied = configMap('a', { n }, { resourceVersion: live.metadata.resourceVersion })
        const answer = await server.send('PATCH', `${A}?fieldManager=one&force=true`, applied, { headers: APPLY })
        if (answer.status === 200) return
        assert.equal(answer.status, 409, answer.text)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, increment))
    assert.equal((await dataOf(server)).n, String(WRITERS))
    server.stop()
  })
})

describe('an update', () => {
  it('that changes nothing writes nothing and tells nobody, in every form', async () => {
    const server = await withA({ k: 'v' })
    const live = (await server.send('GET', A)).body
    await server.send('PATCH', `${A}?fieldManager=me`, configMap('a', { k: 'v' }), { headers: APPLY })
    const revision = server.store.revision
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${revision}`)
    const now = (await server.send('GET', A)).body
    server.clock.advance(5000)
    const answers = [
      await server.send('PUT', A, now),
      await server.send('PATCH', A, { data: { k: 'v' } }, { headers: MERGE }),
      await server.send('PATCH', A, { data: { k: 'v' } }, { headers: STRATEGIC }),
      await server.send('PATCH', A, [{ op: 'replace', path: '/data/k', value: 'v' }], { headers: JSON_PATCH }),
      await server.send('PATCH', `${A}?fieldManager=me`, configMap('a', { k: 'v' }), { headers: APPLY }),
    ]
    assert.deepEqual(
      answers.map((answer) => [answer.status, answer.body.metadata.resourceVersion]),
      answers.map(() => [200, String(revision)]),
    )
    assert.equal(server.store.revision, revision)
    assert.deepEqual(reader.take(), [])
    assert.notEqual(live.metadata.resourceVersion, String(revision))
    server.stop()
  })

  it('that is a rehearsal writes nothing and shows what it would', async () => {
    const server = await withA()
    const revision = server.store.revision
    for (const answer of [
      await server.send('PUT', `${A}?dryRun=All`, configMap('a', { n: '9' })),
      await server.send('PATCH', `${A}?dryRun=All`, { data: { n: '9' } }, { headers: MERGE }),
    ])
      assert.deepEqual([answer.status, answer.body.data], [200, { n: '9' }])
    assert.equal(server.store.revision, revision)
    assert.deepEqual(await dataOf(server), { n: '0' })
    server.stop()
  })

  it('with a stale revision or another uid is a conflict that says so', async () => {
    const server = await withA()
    const stale = await server.send('PUT', A, configMap('a', {}, { resourceVersion: '1' }))
    assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict'])
    assert.match(stale.body.message ?? '', /the object has been modified; please apply your changes to the latest version and try again/)
    const other = await server.send('PUT', A, configMap('a', {}, { uid: 'another' }))
    assert.deepEqual([other.status, other.body.reason], [409, 'Conflict'])
    assert.match(other.body.message ?? '', /UID in precondition: another/)
    server.stop()
  })

  const refused: [string, string, unknown, Record<string, string>, number, RegExp][] = [
    ['of what is not there', 'PUT', configMap('b'), {}, 404, /configmaps "b" not found/],
    ['patch of what is not there', 'PATCH', { data: {} }, MERGE, 404, /configmaps "b" not found/],
  ]
  for (const [what, method, body, headers, status, message] of refused)
    it(`${what} is answered with ${status}`, async () => {
      const server = await withA()
      const answer = await server.send(method, `${CONFIG_MAPS}/b`, body, { headers })
      assert.equal(answer.status, status)
      assert.match(answer.body.message ?? '', message)
      server.stop()
    })

  const bad: [string, string, unknown, Record<string, string>, number][] = [
    ['another name', 'PUT', configMap('c'), {}, 400],
    ['no name', 'PUT', configMap(''), {}, 400],
    ['a revision that is none', 'PUT', configMap('a', {}, { resourceVersion: 'x' }), {}, 500],
    ['a patch of no known type', 'PATCH', '{}', { 'content-type': 'text/plain' }, 415],
    ['a patch without type', 'PATCH', '{}', {}, 415],
    ['a patch that is no JSON', 'PATCH', '{', MERGE, 400],
    ['a JSON patch that is no list', 'PATCH', '{}', JSON_PATCH, 400],
    ['a JSON patch into nothing', 'PATCH', [{ op: 'replace', path: '/nothing/here', value: 1 }], JSON_PATCH, 422],
    ['a JSON patch of the prototype', 'PATCH', [{ op: 'add', path: '/__proto__/polluted', value: 1 }], JSON_PATCH, 422],
    ['a patch of the name', 'PATCH', { metadata: { name: 'z' } }, MERGE, 400],
    ['an apply without manager', 'PATCH', configMap('a'), APPLY, 422],
  ]
  for (const [what, method, body, headers, status] of bad)
    it(`refuses ${what} with ${status}, and changes nothing`, async () => {
      const server = await withA()
      const revision = server.store.revision
      const answer = await server.send(method, A, body, { headers })
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.body.kind, 'Status')
      assert.equal(server.store.revision, revision)
      assert.equal(({} as { polluted?: number }).polluted, undefined)
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })

  it('keeps the immutable what it is', async () => {
    const server = await withA()
    const live = (await server.send('GET', A)).body
    const put = await server.send('PUT', A, configMap('a', { n: '1' }, { creationTimestamp: '2000-01-01T00:00:00Z', generation: 99 }))
    assert.equal(put.body.metadata.creationTimestamp, live.metadata.creationTimestamp)
    assert.equal(put.body.metadata.uid, live.metadata.uid)
    server.stop()
  })

  it('by apply creates what is not there, and conflicts with owners it does not force', async () => {
    const server = await startTestServer()
    const one = await server.send('PATCH', `${A}?fieldManager=one`, configMap('a', { k: '1' }), { headers: APPLY })
    assert.equal(one.status, 201)
    const two = await server.send('PATCH', `${A}?fieldManager=two`, configMap('a', { k: '2' }), { headers: APPLY })
    assert.deepEqual([two.status, two.body.reason], [409, 'Conflict'])
    assert.match(two.body.message ?? '', /conflict with "one": \.data\.k/)
    assert.equal(
      (await server.send('PATCH', `${A}?fieldManager=two&force=true`, configMap('a', { k: '2' }), { headers: APPLY })).status,
      200,
    )
    server.stop()
  })

  it('of status changes status alone, and of the object never status', async () => {
    const server = await startTestServer()
    const pods = '/api/v1/namespaces/default/pods'
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    assert.equal((await server.send('POST', pods, pod)).status, 201)
    const patch = { metadata: { labels: { a: 'b' } }, spec: { nodeName: 'n' }, status: { phase: 'Running' } }
    const status = await server.send('PATCH', `${pods}/p/status`, patch, { headers: MERGE })
    assert.equal(status.status, 200, status.text)
    assert.deepEqual(
      [(status.body.status as unknown as { phase: string }).phase, (status.body.spec as { nodeName?: string }).nodeName],
      ['Running', undefined],
    )
    const object = await server.send('PATCH', `${pods}/p`, { status: { phase: 'Failed' } }, { headers: MERGE })
    assert.equal((object.body.status as unknown as { phase: string }).phase, 'Running')
    server.stop()
  })
})
