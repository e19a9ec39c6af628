import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONFIG_MAPS, configMap, startTestServer, type TestServer } from './testing.ts'

const seriesOf = async (server: TestServer): Promise<string[]> =>
  (await server.send('GET', '/metrics')).text.split('\n').filter((line) => line.startsWith('apiserver_request_total{'))

describe('/metrics', () => {
  it('counts requests by what they asked for', async () => {
    const server = await startTestServer()
    await server.send('POST', CONFIG_MAPS, configMap('a'))
    await server.send('GET', `${CONFIG_MAPS}/a`)
    await server.send('GET', `${CONFIG_MAPS}/b`)
    const text = (await server.send('GET', '/metrics')).text
    assert.match(text, /apiserver_request_total\{verb="create",group="",version="v1",resource="configmaps",subresource="",code="201"\} 1/)
    assert.match(text, /apiserver_request_total\{verb="get",[^}]*resource="configmaps",[^}]*code="404"\} 1/)
    assert.match(text, new RegExp(`sluice_store_revision ${server.store.revision}\n`))
    assert.match(text, /apiserver_current_inflight_requests 1\n/)
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1`)
    assert.match((await server.send('GET', '/metrics')).text, /apiserver_registered_watchers 1\n/)
    watch.stop()
    assert.match((await server.send('GET', '/metrics')).text, /apiserver_registered_watchers 0\n/)
    server.stop()
  })

  it('gets no series that clients make up', async () => {
    const server = await startTestServer({ limits: { bodyBytes: 10 } })
    const nobody = { name: 'nobody', groups: [] }
    const round = async (x: string): Promise<void> => {
      await server.send('GET', `/apis/${x}/v1/${x}`)
      await server.send('GET', `/apis/${x}/v1/${x}/${'n'.repeat(300)}`)
      await server.send('GET', `/apis/apps/${x}/${x}`, undefined, { as: nobody })
      await server.send('POST', `/apis/${x}/v1/${x}`, { more: 'than ten bytes' })
      await server.send(x, CONFIG_MAPS)
      await server.send('GET', `${CONFIG_MAPS}/a/${x}`)
      await server.send('GET', `${CONFIG_MAPS}/${x}`)
      await server.send('GET', `/${x}`)
    }
    await round('x1')
    await seriesOf(server)
    const before = await seriesOf(server)
    for (const x of ['x2', 'x3', '__proto__', 'constructor', 'FOO']) await round(x)
    assert.deepEqual(
      (await seriesOf(server)).map((line) => line.replace(/ \d+$/, '')),
      before.map((line) => line.replace(/ \d+$/, '')),
    )
    assert.deepEqual(server.internalErrors, [])
    server.stop()
  })
})
