import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StoreUnavailableError } from '../store/index.ts'
import { type Answered, settle, startTestServer, type TestServer } from './testing.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'

interface Names {
  plural: string
  singular?: string
  kind: string
  shortNames?: string[]
}

function definition(names: Names, more: { group?: string; properties?: object; versions?: object[] } = {}): object {
  const group = more.group ?? 'example.com'
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: more.properties ?? { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: more.versions ?? [{ name: 'v1', served: true, storage: true, schema }] },
  }
}

const widgets = definition({ plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] })
const widget = (name: string, metadata: object = {}): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec: { size: 1 },
})

const conditionsOf = (crd: Answered): Record<string, string> => {
  const { conditions = [] } = (crd.status ?? {}) as unknown as { conditions?: { type: string; status: string; reason: string }[] }
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

async function withWidgets(): Promise<TestServer> {
  const server = await startTestServer()
  assert.equal((await server.send('POST', CRDS, widgets)).status, 201)
  await settle()
  return server
}

describe('a definition', () => {
  it('is served at once: objects, discovery and OpenAPI', async () => {
    const server = await withWidgets()
    assert.equal((await server.send('POST', WIDGETS, widget('a'))).status, 201)
    const list = await server.send('GET', WIDGETS)
    assert.deepEqual([list.body.kind, list.body.items.length], ['WidgetList', 1])
    assert.match((await server.send('GET', '/apis/example.com/v1')).text, /"name":"widgets".*"shortNames":\["wd"\]/)
    assert.match((await server.send('GET', '/apis')).text, /"name":"example.com"/)
    assert.match((await server.send('GET', '/openapi/v3/apis/example.com/v1')).text, /Widget/)
    assert.deepEqual(conditionsOf((await server.send('GET', `${CRDS}/widgets.example.com`)).body), {
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
    })
    server.stop()
  })

  it('that changes is served as it now is', async () => {
    const server = await withWidgets()
    const before = await server.send('POST', `${WIDGETS}?fieldValidation=Strict`, { ...widget('a'), spec: { size: 1, colour: 'red' } })
    assert.match(before.body.message ?? '', /unknown field "spec.colour"/)
    const properties = { spec: { type: 'object', properties: { size: { type: 'integer' }, colour: { type: 'string', default: 'blue' } } } }
    const patch = {
      spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }] },
    }
    const headers = { 'content-type': 'application/merge-patch+json' }
    await server.send('POST', WIDGETS, widget('old'))
    await server.send('POST', WIDGETS, widget('replaced'))
    await server.send('PATCH', `${WIDGETS}/replaced`, { spec: { size: 2 } }, { headers })
    assert.equal((await server.send('PATCH', `${CRDS}/widgets.example.com`, patch, { headers })).status, 200)
    await settle()
    assert.deepEqual((await server.send('POST', WIDGETS, widget('b'))).body.spec, { size: 1, colour: 'blue' })
    assert.deepEqual((await server.send('GET', `${WIDGETS}/old`)).body.spec, { size: 1, colour: 'blue' }, 'older objects are read by it')
    assert.deepEqual((await server.send('GET', `${WIDGETS}/replaced`)).body.spec, { size: 2, colour: 'blue' }, 'replaced ones too')
    const listed = (await server.send('GET', WIDGETS)).body.items as unknown as { spec: object }[]
    assert.deepEqual(
      listed.map(({ spec }) => spec),
      [
        { size: 1, colour: 'blue' },
        { size: 1, colour: 'blue' },
        { size: 2, colour: 'blue' },
      ],
      'and all in a list',
    )
    server.stop()
  })

  it('gives defaults to what its kind takes away from new objects, wherever they are read', async () => {
    const server = await startTestServer()
    const status = { type: 'object', default: { phase: 'New' }, properties: { phase: { type: 'string' } } }
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' }, status } } }
    const versions = [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }]
    await server.send('POST', CRDS, definition({ plural: 'widgets', kind: 'Widget' }, { versions }))
    await settle()
    const watch = await server.watch(`${WIDGETS}?watch=true`)
    await server.send('POST', WIDGETS, { ...widget('a'), spec: {}, status: { phase: 'Made up' } })
    const found = [
      (await server.send('GET', `${WIDGETS}/a`)).body,
      ((await server.send('GET', WIDGETS)).body.items as unknown as Answered[])[0],
      watch.take()[0]?.object as unknown as Answered,
    ]
    assert.deepEqual(
      found.map((object) => object?.status),
      [{ phase: 'New' }, { phase: 'New' }, { phase: 'New' }],
    )
    watch.stop()
    server.stop()
  })

  it('whose storage version changes serves what was stored before in every version, and migrates it when it is written', async () => {
    const server = await startTestServer()
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const versions = (stored: string): object[] => ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === stored, schema }))
    const headers = { 'content-type': 'application/merge-patch+json' }
    await server.send('POST', CRDS, definition({ plural: 'widgets', kind: 'Widget' }, { versions: versions('v1') }))
    await settle()
    await server.send('POST', WIDGETS, widget('a'))
    await server.send('PATCH', `${CRDS}/widgets.example.com`, { spec: { versions: versions('v2') } }, { headers })
    await settle()
    for (const version of ['v1', 'v2']) {
      const path = WIDGETS.replace('v1', version)
      const watch = await server.watch(`${path}?watch=true`)
      const found = [
        (await server.send('GET', `${path}/a`)).body,
        ((await server.send('GET', path)).body.items as unknown as Answered[])[0],
        watch.take()[0]?.object,
      ]
      assert.deepEqual(
        found.map((object) => object?.apiVersion),
        Array.from({ length: 3 }, () => `example.com/${version}`),
      )
      watch.stop()
    }
    const stored = (): Answered => server.store.get('widgets.example.com/default/a')?.object() as unknown as Answered
    assert.equal(stored().apiVersion, 'example.com/v1')
    const { body } = await server.send('GET', `${WIDGETS.replace('v1', 'v2')}/a`)
    assert.equal((await server.send('PUT', `${WIDGETS.replace('v1', 'v2')}/a`, body)).status, 200)
    assert.equal(stored().apiVersion, 'example.com/v2')
    const { revision } = server.store
    await server.send('PATCH', `${WIDGETS}/a`, {}, { headers })
    assert.equal(server.store.revision, revision, 'once')
    server.stop()
  })

  it('is stored again only when there is something to say', async () => {
    const server = await withWidgets()
    const revision = server.store.revision
    await settle()
    await server.send('PUT', `${CRDS}/widgets.example.com`, (await server.send('GET', `${CRDS}/widgets.example.com`)).body)
    await settle()
    assert.equal(server.store.revision, revision)
    server.stop()
  })

  it('waits for names that another has, and gets them when that one goes', async () => {
    const server = await withWidgets()
    await server.send('POST', CRDS, definition({ plural: 'gadgets', kind: 'Widget', shortNames: ['wd'] }))
    await settle()
    const conditions = conditionsOf((await server.send('GET', `${CRDS}/gadgets.example.com`)).body)
    assert.match(conditions.NamesAccepted ?? '', /^False .*Conflict$/)
    assert.equal(conditions.Established, 'False NotAccepted')
    assert.equal((await server.send('GET', '/apis/example.com/v1/gadgets')).status, 404)
    await server.send('DELETE', `${CRDS}/widgets.example.com`)
    await settle()
    assert.equal(conditionsOf((await server.send('GET', `${CRDS}/gadgets.example.com`)).body).NamesAccepted, 'True NoConflicts')
    assert.equal((await server.send('GET', '/apis/example.com/v1/gadgets')).status, 200)
    assert.equal((await server.send('GET', '/apis/example.com/v1/widgets')).status, 404)
    server.stop()
  })

  it('gets a name that another gives up while it stays', async () => {
    const server = await withWidgets()
    await server.send('POST', CRDS, definition({ plural: 'gadgets', kind: 'Gadget', shortNames: ['wd'] }))
    await settle()
    assert.match(conditionsOf((await server.send('GET', `${CRDS}/gadgets.example.com`)).body).NamesAccepted ?? '', /ShortNamesConflict/)
    const headers = { 'content-type': 'application/json-patch+json' }
    const given = await server.send('PATCH', `${CRDS}/widgets.example.com`, [{ op: 'remove', path: '/spec/names/shortNames' }], { headers })
    assert.equal(given.status, 200)
    await settle()
    assert.equal(conditionsOf((await server.send('GET', `${CRDS}/gadgets.example.com`)).body).NamesAccepted, 'True NoConflicts')
    server.stop()
  })

  it('never takes the place of a built-in kind', async () => {
    const server = await startTestServer()
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const deployment = { metadata: { name: 'mine' }, spec: { selector: { matchLabels: { a: 'b' } }, template } }
    assert.equal((await server.send('POST', '/apis/apps/v1/namespaces/default/deployments', deployment)).status, 201)
    const kind = definition({ plural: 'deployments', kind: 'Deployment' }, { group: 'apps' })
    await server.send('POST', CRDS, kind)
    await settle()
    const list = await server.send('GET', '/apis/apps/v1/namespaces/default/deployments')
    assert.equal(list.body.kind, 'DeploymentList')
    const refused = await server.send('POST', '/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'a' }, spec: {} })
    assert.equal(refused.status, 422, 'judged by the rules of Deployments')
    await server.send('DELETE', `${CRDS}/deployments.apps`)
    await settle()
    assert.equal((await server.send('GET', `${CRDS}/deployments.apps`)).status, 404)
    assert.equal((await server.send('GET', '/apis/apps/v1/namespaces/default/deployments/mine')).status, 200, 'and takes nothing with it')
    server.stop()
  })
})

describe('a definition that is deleted', () => {
  it('takes its instances with it', async () => {
    const server = await withWidgets()
    for (const name of ['a', 'b']) await server.send('POST', WIDGETS, widget(name))
    await server.send('DELETE', `${CRDS}/widgets.example.com`)
    await settle()
    assert.equal((await server.send('GET', `${CRDS}/widgets.example.com`)).status, 404)
    assert.equal((await server.send('GET', WIDGETS)).status, 404)
    assert.equal(server.store.count('widgets.example.com/'), 0)
    server.stop()
  })

  it('waits for instances that are held, refuses new ones, and can still be changed meanwhile', async () => {
    const server = await withWidgets()
    await server.send('POST', WIDGETS, widget('held', { finalizers: ['example.com/hold'] }))
    await server.send('POST', WIDGETS, widget('free'))
    await server.send('DELETE', `${CRDS}/widgets.example.com`)
    await settle()
    const waiting = await server.send('GET', `${CRDS}/widgets.example.com`)
    assert.match(conditionsOf(waiting.body).Terminating ?? '', /^True InstanceDeletionInProgress$/)
    assert.deepEqual(
      (await server.send('GET', WIDGETS)).body.items.map((item) => item.metadata.name),
      ['held'],
    )
    const refused = await server.send('POST', WIDGETS, widget('new'))
    assert.deepEqual([refused.status, refused.body.reason], [403, 'Forbidden'])
    const headers = { 'content-type': 'application/merge-patch+json' }
    await server.send('PATCH', `${CRDS}/widgets.example.com`, { metadata: { labels: { seen: 'yes' } } }, { headers })
    await settle()
    await server.send('PATCH', `${WIDGETS}/held`, { metadata: { finalizers: null } }, { headers })
    await settle()
    assert.equal((await server.send('GET', `${CRDS}/widgets.example.com`)).status, 404)
    assert.deepEqual(server.internalErrors, [])
    server.stop()
  })

  it('goes on waiting after a restart', async () => {
    const first = await withWidgets()
    await first.send('POST', WIDGETS, widget('held', { finalizers: ['example.com/hold'] }))
    await first.send('DELETE', `${CRDS}/widgets.example.com`)
    await settle()
    first.stop()
    const second = await startTestServer({ store: first.memory })
    await settle()
    assert.equal((await second.send('GET', `${CRDS}/widgets.example.com`)).status, 200)
    const headers = { 'content-type': 'application/merge-patch+json' }
    await second.send('PATCH', `${WIDGETS}/held`, { metadata: { finalizers: null } }, { headers })
    await settle()
    assert.equal((await second.send('GET', `${CRDS}/widgets.example.com`)).status, 404)
    second.stop()
  })
})

describe('a restart', () => {
  it('serves what was stored from its first moment, and writes nothing', async () => {
    const first = await withWidgets()
    await first.send('POST', WIDGETS, widget('a'))
    first.stop()
    const revision = first.store.revision
    const second = await startTestServer({ store: first.memory })
    assert.equal((await second.send('GET', `${WIDGETS}/a`)).status, 200)
    await settle()
    assert.equal(second.store.revision, revision)
    second.stop()
  })
})

describe('a store that refuses writes', () => {
  it('is told, and the definition is settled when it takes them again', async () => {
    const server = await startTestServer()
    server.memory.hold()
    const asked = server.send('POST', CRDS, widgets)
    await settle(2)
    server.memory.release(1)
    await asked
    await settle(2)
    assert.ok(server.memory.inFlight > 0, 'its status is being written')
    server.memory.fail(new StoreUnavailableError('the disk is full'))
    server.memory.release()
    await settle()
    assert.equal(server.internalErrors.length, 1)
    assert.match(String(server.internalErrors[0]), /the disk is full/)
    assert.equal((await server.send('GET', WIDGETS)).status, 404)
    server.clock.advance(1000)
    await settle()
    assert.equal((await server.send('GET', WIDGETS)).status, 200)
    server.stop()
  })

  it('leaves nothing running after a stop', async () => {
    const server = await startTestServer()
    server.memory.hold()
    const asked = server.send('POST', CRDS, widgets)
    await settle(2)
    server.memory.release(1)
    await asked
    await settle(2)
    server.memory.fail(new StoreUnavailableError('the disk is full'))
    await settle(2)
    server.stop()
    server.memory.release()
    const revision = server.store.revision
    server.clock.advance(60_000)
    await settle()
    assert.equal(server.store.revision, revision)
  })
})
