import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answer, CONFIG_MAPS, configMap, startTestServer, type TestServer } from '../testing.ts'

const A = `${CONFIG_MAPS}/a`
const PODS = '/api/v1/namespaces/default/pods'
const MERGE = { 'content-type': 'application/merge-patch+json' }

async function withA(metadata: object = {}): Promise<TestServer> {
  const server = await startTestServer()
  assert.equal((await server.send('POST', CONFIG_MAPS, configMap('a', {}, metadata))).status, 201)
  return server
}

async function withPod(more: object = {}): Promise<TestServer> {
  const server = await startTestServer()
  const spec = { containers: [{ name: 'c', image: 'i' }], ...more }
  assert.equal((await server.send('POST', PODS, { metadata: { name: 'p' }, spec })).status, 201)
  return server
}

const deletionOf = (answer: Answer): (string | number | undefined)[] => {
  const { deletionTimestamp, deletionGracePeriodSeconds } = answer.body.metadata
  return [deletionTimestamp, deletionGracePeriodSeconds]
}

describe('deleting', () => {
  it('removes at once what nothing holds, and says what it was', async () => {
    const server = await withA()
    const { uid } = (await server.send('GET', A)).body.metadata
    const gone = await server.send('DELETE', A)
    assert.deepEqual([gone.status, gone.body.status, gone.body.details], [200, 'Success', { name: 'a', kind: 'configmaps', uid }])
    assert.equal((await server.send('GET', A)).status, 404)
    assert.equal((await server.send('DELETE', A)).status, 404)
    server.stop()
  })

  it('answers with the object at the revision of its end, for kinds that answer so', async () => {
    const server = await startTestServer()
    const url = '/api/v1/namespaces/default/serviceaccounts'
    const made = await server.send('POST', url, { metadata: { name: 's' } })
    const reader = await server.watch(`${url}?watch=1&resourceVersion=${server.store.revision}`)
    const gone = await server.send('DELETE', `${url}/s`)
    assert.equal(gone.body.kind, 'ServiceAccount')
    assert.equal(gone.body.metadata.resourceVersion, String(Number(made.body.metadata.resourceVersion) + 1))
    assert.deepEqual(
      reader.take().map(({ type, object }) => [type, object.metadata.resourceVersion]),
      [['DELETED', gone.body.metadata.resourceVersion]],
    )
    server.stop()
  })

  it('waits for finalizers, tells once, and ends when the last is gone', async () => {
    const server = await withA({ finalizers: ['example.com/one', 'example.com/two'] })
    const first = await server.send('DELETE', A)
    assert.deepEqual([first.status, ...deletionOf(first)], [200, '2026-01-01T00:00:00Z', 0])
    const revision = server.store.revision
    server.clock.advance(60_000)
    const again = await server.send('DELETE', A)
    assert.deepEqual([again.status, ...deletionOf(again)], [200, '2026-01-01T00:00:00Z', 0])
    assert.equal(server.store.revision, revision, 'the second request changes nothing')
    const added = await server.send('PATCH', A, { metadata: { finalizers: ['example.com/one', 'example.com/new'] } }, { headers: MERGE })
    assert.equal(added.status, 422)
    assert.match(added.body.message ?? '', /no new finalizers can be added if the object is being deleted/)
    await server.send('PATCH', A, { metadata: { finalizers: ['example.com/one'] } }, { headers: MERGE })
    assert.equal((await server.send('GET', A)).status, 200)
    const reader = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${server.store.revision}`)
    const last = await server.send('PATCH', A, { metadata: { finalizers: null } }, { headers: MERGE })
    assert.equal(last.status, 200)
    assert.equal((await server.send('GET', A)).status, 404)
    assert.deepEqual(
      reader.take().map(({ type }) => type),
      ['DELETED'],
    )
    server.stop()
  })

  it('as a rehearsal changes nothing, held or not', async () => {
    for (const metadata of [{}, { finalizers: ['example.com/x'] }]) {
      const server = await withA(metadata)
      const revision = server.store.revision
      assert.equal((await server.send('DELETE', `${A}?dryRun=All`)).status, 200)
      assert.equal((await server.send('DELETE', A, { dryRun: ['All'] })).status, 200)
      assert.equal(server.store.revision, revision)
      assert.equal((await server.send('GET', A)).body.metadata.deletionTimestamp, undefined)
      server.stop()
    }
  })

  it('keeps its preconditions', async () => {
    const server = await withA()
    const { uid, resourceVersion } = (await server.send('GET', A)).body.metadata
    const wrongUid = await server.send('DELETE', A, { preconditions: { uid: 'another' } })
    assert.deepEqual([wrongUid.status, wrongUid.body.reason], [409, 'Conflict'])
    assert.match(wrongUid.body.message ?? '', /the UID in the precondition \(another\) does not match/)
    const wrongRevision = await server.send('DELETE', A, { preconditions: { resourceVersion: '1' } })
    assert.match(wrongRevision.body.message ?? '', /the ResourceVersion in the precondition \(1\) does not match/)
    assert.equal((await server.send('DELETE', A, { preconditions: { uid, resourceVersion } })).status, 200)
    server.stop()
  })

  const policies: [string, object, string[] | undefined][] = [
    ['Foreground', { propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
    ['Orphan', { propagationPolicy: 'Orphan' }, ['orphan']],
    ['orphanDependents', { orphanDependents: true }, ['orphan']],
    ['Background', { propagationPolicy: 'Background' }, undefined],
  ]
  for (const [what, body, finalizers] of policies)
    it(`with ${what} ${finalizers === undefined ? 'removes at once' : `leaves the object to the collector with ${finalizers}`}`, async () => {
      const server = await withA()
      assert.equal((await server.send('DELETE', A, body)).status, 200)
      const left = await server.send('GET', A)
      if (finalizers === undefined) assert.equal(left.status, 404)
      else {
        assert.deepEqual(left.body.metadata.finalizers, finalizers)
        assert.equal(left.body.metadata.deletionTimestamp, '2026-01-01T00:00:00Z')
      }
      server.stop()
    })

  it('many times at once removes once', async () => {
    const server = await withA()
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.send('DELETE', A)))
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array.from({ length: 19 }, () => 404)])
    server.stop()
  })

  const refused: [string, unknown, number][] = [
    ['an unknown policy', { propagationPolicy: 'Sideways' }, 422],
    ['a policy twice', { propagationPolicy: 'Orphan', orphanDependents: true }, 422],
    ['an unknown rehearsal', { dryRun: ['Some'] }, 422],
    ['options of another kind', { apiVersion: 'v1', kind: 'Pod' }, 400],
    ['options that are no JSON', '{', 400],
    ['grace that is no number', { gracePeriodSeconds: 'soon' }, 400],
    ['preconditions that are no object', { preconditions: 7 }, 400],
  ]
  for (const [what, body, status] of refused)
    it(`refuses ${what} with ${status}`, async () => {
      const server = await withA()
      const answer = await server.send('DELETE', A, body)
      assert.equal(answer.status, status, answer.text)
      assert.equal((await server.send('GET', A)).status, 200)
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })
})

describe('deleting a pod', () => {
  it('that runs gives it its grace, which can be shortened and not lengthened', async () => {
    const server = await withPod({ nodeName: 'n', terminationGracePeriodSeconds: 30 })
    assert.deepEqual(deletionOf(await server.send('DELETE', `${PODS}/p`)), ['2026-01-01T00:00:30Z', 30])
    assert.deepEqual(deletionOf(await server.send('DELETE', `${PODS}/p`, { gracePeriodSeconds: 60 })), ['2026-01-01T00:00:30Z', 30])
    assert.deepEqual(deletionOf(await server.send('DELETE', `${PODS}/p`, { gracePeriodSeconds: 5 })), ['2026-01-01T00:00:05Z', 5])
    assert.equal((await server.send('GET', `${PODS}/p`)).status, 200)
    assert.equal((await server.send('DELETE', `${PODS}/p`, { gracePeriodSeconds: 0 })).status, 200)
    assert.equal((await server.send('GET', `${PODS}/p`)).status, 404)
    server.stop()
  })

  it('that no node has removes it at once', async () => {
    const server = await withPod()
    const gone = await server.send('DELETE', `${PODS}/p`)
    assert.equal(gone.body.kind, 'Pod')
    assert.equal((await server.send('GET', `${PODS}/p`)).status, 404)
    server.stop()
  })
})
