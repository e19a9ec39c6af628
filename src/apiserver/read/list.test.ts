import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { utf8Of } from '../../base/byte-text.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { CONFIG_MAPS, configMap, startTestServer, type TestServer } from '../testing.ts'

const namesOf = (items: readonly KubeObject[]): string[] => items.map((item) => `${item.metadata.namespace}/${item.metadata.name}`)

async function filled(names: readonly string[], labels: (i: number) => { app?: string } = () => ({})): Promise<TestServer> {
  const server = await startTestServer()
  for (const [i, name] of names.entries()) {
    const made = await server.send('POST', CONFIG_MAPS, configMap(name, { i: String(i) }, { labels: labels(i) }))
    assert.equal(made.status, 201, made.text)
  }
  return server
}

/** All pages; `between` runs after each. */
async function pages(server: TestServer, url: string, between: () => Promise<void> = async () => undefined): Promise<KubeObject[][]> {
  const out: KubeObject[][] = []
  let token = ''
  do {
    const page = await server.send('GET', `${url}${token === '' ? '' : `&continue=${token}`}`)
    assert.equal(page.status, 200, page.text)
    out.push(page.body.items)
    token = (page.body.metadata as { continue?: string }).continue ?? ''
    await between()
  } while (token !== '')
  return out
}

describe('lists', () => {
  it('pass on stored bytes that say the same as the parsed way', async () => {
    const server = await filled(['a', 'b'])
    await server.send('POST', CONFIG_MAPS, configMap('c', { 'weird"key': '\u2028{"kind":"x"}', text: 'é😀' }, { annotations: { a: '"' } }))
    const bytes = (await server.send('GET', CONFIG_MAPS)).body
    // A selector that matches everything makes the server parse; a YAML answer makes it serialize again.
    const parsed = (await server.send('GET', `${CONFIG_MAPS}?labelSelector=%21nobody-has-this`)).body
    assert.deepEqual(bytes.items, parsed.items)
    assert.ok(bytes.items.every((item) => item.kind === undefined && item.apiVersion === undefined))
    for (const item of bytes.items) {
      const one = (await server.send('GET', `${CONFIG_MAPS}/${item.metadata.name}`)).body
      assert.deepEqual(one, { ...item, kind: 'ConfigMap', apiVersion: 'v1' })
    }
    server.stop()
  })

  it('in pages, put together, are the snapshot of the first page, whatever is written meanwhile', async () => {
    const limit = fc.integer({ min: 1, max: 6 })
    const write = fc.record({ name: fc.constantFrom('a', 'c', 'e', 'g', 'x'), isDelete: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(limit, fc.array(write, { maxLength: 12 }), fc.boolean(), async (size, writes, isSelected) => {
        const server = await filled(['a', 'b', 'c', 'd', 'e', 'f'], (i) => (i % 2 === 0 ? { app: 'a' } : {}))
        const query = isSelected ? '&labelSelector=app%3Da' : ''
        const whole = (await server.send('GET', `${CONFIG_MAPS}?${query}`)).body.items
        const left = [...writes]
        const got = await pages(server, `${CONFIG_MAPS}?limit=${size}${query}`, async () => {
          const next = left.shift()
          if (next === undefined) return
          if (next.isDelete) await server.send('DELETE', `${CONFIG_MAPS}/${next.name}`)
          else {
            const put = await server.send('PUT', `${CONFIG_MAPS}/${next.name}`, configMap(next.name, { left: String(left.length) }))
            if (put.status === 404) await server.send('POST', CONFIG_MAPS, configMap(next.name))
          }
        })
        assert.deepEqual(got.flat(), whole)
        for (const page of got.slice(0, -1)) assert.equal(page.length, size)
        server.stop()
      }),
      { numRuns: 30 },
    )
  })

  it('say how many follow, exactly, and nothing about it with a selector', async () => {
    const server = await filled(['a', 'b', 'c', 'd', 'e'], () => ({ app: 'a' }))
    const meta = async (query: string) =>
      (await server.send('GET', `${CONFIG_MAPS}?${query}`)).body.metadata as { remainingItemCount?: number; continue?: string }
    assert.equal((await meta('limit=2')).remainingItemCount, 3)
    assert.equal((await meta('limit=5')).continue, undefined)
    const selected = await meta('limit=2&labelSelector=app%3Da')
    assert.deepEqual([typeof selected.continue, selected.remainingItemCount], ['string', undefined])
    server.stop()
  })

  it('answer 410 with a way on when the snapshot of a page is forgotten', async () => {
    const server = await filled(['a', 'b', 'c', 'd'])
    const first = await server.send('GET', `${CONFIG_MAPS}?limit=2`)
    const token = (first.body.metadata as { continue?: string }).continue ?? ''
    await server.send('DELETE', `${CONFIG_MAPS}/c`)
    await server.send('POST', CONFIG_MAPS, configMap('e'))
    server.store.compact(server.store.revision)
    const gone = await server.send('GET', `${CONFIG_MAPS}?limit=2&continue=${token}`)
    assert.deepEqual([gone.status, gone.body.reason], [410, 'Expired'])
    const next = (gone.body.metadata as { continue?: string }).continue ?? ''
    const rest = await server.send('GET', `${CONFIG_MAPS}?limit=10&continue=${next}`)
    assert.deepEqual(namesOf(rest.body.items), ['default/d', 'default/e'])
    server.stop()
  })

  it('of an exact revision show what was then', async () => {
    const server = await filled(['a', 'b'])
    const then = server.store.revision
    await server.send('DELETE', `${CONFIG_MAPS}/a`)
    const exact = await server.send('GET', `${CONFIG_MAPS}?resourceVersion=${then}&resourceVersionMatch=Exact`)
    assert.deepEqual([namesOf(exact.body.items), exact.body.metadata.resourceVersion], [['default/a', 'default/b'], String(then)])
    const notOlder = await server.send('GET', `${CONFIG_MAPS}?resourceVersion=${then}&resourceVersionMatch=NotOlderThan`)
    assert.deepEqual(namesOf(notOlder.body.items), ['default/b'])
    server.store.compact(server.store.revision)
    assert.equal((await server.send('GET', `${CONFIG_MAPS}?resourceVersion=${then}&resourceVersionMatch=Exact`)).status, 410)
    server.stop()
  })

  it('keep namespaces apart, and go through all of them in order', async () => {
    const server = await startTestServer()
    for (const ns of ['a', 'a-b', 'ab']) {
      await server.send('POST', '/api/v1/namespaces', { metadata: { name: ns } })
      for (const name of ['x', 'y']) await server.send('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap(name))
    }
    assert.deepEqual(namesOf((await server.send('GET', '/api/v1/namespaces/a/configmaps')).body.items), ['a/x', 'a/y'])
    const all = (await pages(server, '/api/v1/configmaps?limit=1')).flat().filter((item) => (item.metadata.namespace ?? '').startsWith('a'))
    assert.equal(all.length, 6)
    const byField = await server.send('GET', '/api/v1/configmaps?fieldSelector=metadata.namespace%3Da,metadata.name%3Dx')
    assert.deepEqual(namesOf(byField.body.items), ['a/x'])
    server.stop()
  })

  const refused: [string, RegExp][] = [
    ['labelSelector=%3D%3D', /found '==', expected: !, identifier, or 'end of string'/],
    ['labelSelector=a%20in%20(', /unable to parse requirement/],
    ['fieldSelector=spec.x%3D1', /not supported|is not a known field selector/],
    ['fieldSelector=a', /invalid selector/],
    ['fieldSelector=constructor%3D1', /not supported|is not a known field selector/],
    ['continue=x', /continue key is not valid/],
  ]
  for (const [query, message] of refused)
    it(`refuse ${query} with a Status that helps`, async () => {
      const server = await startTestServer()
      const answer = await server.send('GET', `${CONFIG_MAPS}?${query}`)
      assert.deepEqual([answer.status, answer.body.kind], [400, 'Status'])
      assert.match(answer.body.message ?? '', message)
      server.stop()
    })

  it('delete what they select, and nothing else', async () => {
    const server = await filled(['a', 'b', 'c', 'd'], (i) => (i < 2 ? { app: 'a' } : {}))
    const dry = await server.send('DELETE', `${CONFIG_MAPS}?labelSelector=app%3Da&dryRun=All`)
    assert.equal(dry.status, 200)
    assert.equal((await server.send('GET', CONFIG_MAPS)).body.items.length, 4)
    assert.equal((await server.send('DELETE', `${CONFIG_MAPS}?labelSelector=app%3Da`)).status, 200)
    assert.deepEqual(namesOf((await server.send('GET', CONFIG_MAPS)).body.items), ['default/c', 'default/d'])
    assert.equal((await server.send('DELETE', `${CONFIG_MAPS}?limit=1`)).status, 200)
    assert.deepEqual(namesOf((await server.send('GET', CONFIG_MAPS)).body.items), ['default/d'])
    server.stop()
  })
})

describe('a page of a selection', () => {
  it('is found among many objects that do not match, in whatever pieces they are scanned', async () => {
    const server = await startTestServer()
    const make = (i: number): Promise<unknown> => {
      const name = `n${String(i).padStart(4, '0')}`
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default', labels: i % 700 === 699 ? { app: 'a' } : {} },
      }
      const encode = (revision: number) => {
        const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
        return { text: utf8Of(JSON.stringify(stamped)), object: stamped }
      }
      return server.store.commit({ key: `configmaps/default/${name}`, expect: 'absent', type: 'put', encode })
    }
    await Promise.all(Array.from({ length: 2200 }, (_, i) => make(i)))
    const whole = namesOf((await server.send('GET', `${CONFIG_MAPS}?labelSelector=app%3Da`)).body.items)
    assert.deepEqual(whole, ['default/n0699', 'default/n1399', 'default/n2099'])
    for (const limit of [1, 2, 3, 4]) {
      const got = await pages(server, `${CONFIG_MAPS}?labelSelector=app%3Da&limit=${limit}`)
      assert.deepEqual(namesOf(got.flat()), whole)
    }
    server.stop()
  })
})
