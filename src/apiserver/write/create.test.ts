import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8Of } from '../../base/byte-text.ts'
import { CONFIG_MAPS, configMap, startTestServer } from '../testing.ts'

describe('creating', () => {
  it('fills in what is the server’s, whatever the client sent', async () => {
    const server = await startTestServer()
    const sent = {
      uid: 'mine',
      creationTimestamp: '2000-01-01T00:00:00Z',
      deletionTimestamp: '2000-01-01T00:00:00Z',
      generation: 7,
      selfLink: '/x',
    }
    const made = await server.send('POST', CONFIG_MAPS, configMap('a', {}, sent))
    assert.equal(made.status, 201)
    const { uid, creationTimestamp, deletionTimestamp, resourceVersion, namespace } = made.body.metadata
    assert.match(uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepEqual(
      [creationTimestamp, deletionTimestamp, resourceVersion, namespace],
      ['2026-01-01T00:00:00Z', undefined, String(server.store.revision), 'default'],
    )
    server.stop()
  })

  it('makes names up, and other ones when they are taken', async () => {
    // The same random sequence again: the first name this server generates is already taken by the previous one.
    const first = await startTestServer({ seed: 5 })
    const one = await first.send('POST', CONFIG_MAPS, configMap('', {}, { name: undefined, generateName: 'x-' }))
    const second = await startTestServer({ seed: 5 })
    const taken = one.body.metadata.name ?? ''
    assert.match(taken, /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    await second.memory.cluster('hub').commit({
      key: `configmaps/default/${taken}`,
      expect: 'absent',
      type: 'put',
      encode: () => ({ text: utf8Of(JSON.stringify(one.body)) }),
    })
    const other = await second.send('POST', CONFIG_MAPS, configMap('', {}, { name: undefined, generateName: 'x-' }))
    assert.equal(other.status, 201, other.text)
    assert.match(other.body.metadata.name ?? '', /^x-[a-z0-9]{5}$/)
    assert.notEqual(other.body.metadata.name, taken)
    first.stop()
    second.stop()
  })

  it('keeps a name that was given, also beside a generateName', async () => {
    const server = await startTestServer()
    assert.equal((await server.send('POST', CONFIG_MAPS, configMap('a', {}, { generateName: 'x-' }))).body.metadata.name, 'a')
    for (const query of ['', '?dryRun=All']) {
      const again = await server.send('POST', CONFIG_MAPS + query, configMap('a', {}, { generateName: 'x-' }))
      assert.deepEqual(
        [again.status, again.body.message, again.headers['retry-after']],
        [409, 'configmaps "a" already exists, the server was not able to generate a unique name for the object', '1'],
      )
    }
    assert.equal((await server.send('GET', CONFIG_MAPS)).body.items.length, 1)
    server.stop()
  })

  it('cuts the base of a generated name so that the name fits', async () => {
    const server = await startTestServer()
    const made = await server.send('POST', CONFIG_MAPS, configMap('', {}, { name: undefined, generateName: 'y'.repeat(100) }))
    assert.equal(made.body.metadata.name?.length, 63)
    server.stop()
  })

  it('says that it exists, and that it is on its way out', async () => {
    const server = await startTestServer()
    await server.send('POST', CONFIG_MAPS, configMap('a', {}, { finalizers: ['example.com/x'] }))
    const exists = await server.send('POST', CONFIG_MAPS, configMap('a'))
    assert.deepEqual([exists.status, exists.body.reason, exists.body.message], [409, 'AlreadyExists', 'configmaps "a" already exists'])
    await server.send('DELETE', `${CONFIG_MAPS}/a`)
    assert.equal(
      (await server.send('POST', CONFIG_MAPS, configMap('a'))).body.message,
      'object is being deleted: configmaps "a" already exists',
    )
    server.stop()
  })

  it('writes and tells nothing when it is a rehearsal', async () => {
    const server = await startTestServer()
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1`)
    const revision = server.store.revision
    const made = await server.send('POST', `${CONFIG_MAPS}?dryRun=All`, configMap('a'))
    assert.deepEqual([made.status, made.body.metadata.resourceVersion, typeof made.body.metadata.uid], [201, undefined, 'string'])
    assert.equal(server.store.revision, revision)
    assert.deepEqual(reader.take(), [])
    assert.equal((await server.send('GET', `${CONFIG_MAPS}/a`)).status, 404)
    server.stop()
  })

  it('makes one of many that come at once, and tells the others', async () => {
    const server = await startTestServer()
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.send('POST', CONFIG_MAPS, configMap('a'))))
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, ...Array.from({ length: 19 }, () => 409)])
    server.stop()
  })

  const refused: [string, unknown, number, RegExp][] = [
    ['another namespace', configMap('a', {}, { namespace: 'other' }), 400, /does not match the namespace sent on the request/],
    ['no name', configMap(''), 422, /name or generateName is required/],
    ['a bad name', configMap('A_b'), 422, /metadata.name: Invalid value/],
    ['a revision', configMap('a', {}, { resourceVersion: '7' }), 500, /resourceVersion should not be set/],
    ['too much', configMap('a', { x: 'y'.repeat(1_600_000) }), 422, /Too long/],
    ['another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, 400, /cannot be handled as a ConfigMap/],
    ['no JSON', '{', 400, /unrecognized|couldn't get version/],
    ['a prototype', '{"metadata":{"name":"p"},"__proto__":{"polluted":true},"data":{"__proto__":"x"}}', 201, /^$/],
  ]
  for (const [what, body, status, message] of refused)
    it(`answers ${what} with ${status}`, async () => {
      const server = await startTestServer()
      const answer = await server.send('POST', CONFIG_MAPS, body)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.body.message ?? '', message)
      assert.equal(({} as { polluted?: boolean }).polluted, undefined)
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })

  it('refuses objects too large for the store with advice, wherever the size comes from', async () => {
    const server = await startTestServer({ limits: { objectBytes: 2000 } })
    const large = await server.send('POST', CONFIG_MAPS, configMap('a', { x: 'y'.repeat(3000) }))
    assert.deepEqual([large.status, large.body.reason], [413, 'RequestEntityTooLarge'])
    assert.match(large.body.message ?? '', /split it up/)
    await server.send('POST', CONFIG_MAPS, configMap('b'))
    assert.equal((await server.send('PUT', `${CONFIG_MAPS}/b`, configMap('b', { x: 'y'.repeat(3000) }))).status, 413)
    server.stop()
  })

  it('drops repeated owners with a warning', async () => {
    const server = await startTestServer()
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }
    const made = await server.send('POST', CONFIG_MAPS, configMap('a', {}, { ownerReferences: [owner, owner] }))
    assert.equal(made.body.metadata.ownerReferences?.length, 1)
    assert.match(String(made.headers.warning), /duplicate UID\(s\) observed: u/)
    server.stop()
  })
})
