import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepClone } from '../base/json.ts'
import { ownKindsOf } from '../composition.ts'
import { s } from '../kinds/schema/builder.ts'
import { defineKind } from '../kinds/schema/define-kind.ts'
import type { Subresource } from '../kinds/subresource.ts'
import type { KubeObject } from '../kube/meta.ts'
import type { Served } from './catalog.ts'
import { type Answer, type Answered, settle, startTestServer, type TestServer, type TestServerOptions } from './testing.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const NAME = 'gauges.example.test'
const GAUGES = '/apis/example.test/v1/gauges'
const MERGE = { headers: { 'content-type': 'application/merge-patch+json' } }
const APPLY = { headers: { 'content-type': 'application/apply-patch+yaml' } }

/** Everything that a CustomResourceDefinition cannot express: a conversion, a rule, a subresource of another handler. */
const Gauge = defineKind({
  group: 'example.test',
  kind: 'Gauge',
  plural: 'gauges',
  shortNames: ['gg'],
  scope: 'Cluster',
  versions: {
    v1: {
      storage: true,
      schema: s.object({
        spec: s.object({ size: s.int32({ minimum: 1 }), colour: s.withDefault(s.string(), 'red') }),
        status: s.optional(s.object({ level: s.int32() })),
      }),
      columns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    },
    v1alpha1: {
      schema: s.object({ spec: s.object({ width: s.int32() }) }),
      toStored: (object) => ({ ...object, spec: { size: (object.spec as { width: number }).width } }),
      fromStored: (object) => ({ ...object, spec: { width: (object.spec as { size: number }).size } }),
    },
  },
  rules: {
    validateCreate: ({ spec }) =>
      (spec as { size?: number }).size === 13 ? [{ type: 'Invalid', field: 'spec.size', value: 13, detail: 'must not be unlucky' }] : [],
  },
})
const needle: Subresource = {
  of: { group: 'example.test', plural: 'gauges' },
  info: { name: 'needle', verbs: ['get'] },
  handle: async () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from('north') }),
}
const OWN: TestServerOptions = { kinds: [Gauge.definition], subresources: [needle] }
const start = (more: TestServerOptions = {}): Promise<TestServer> => startTestServer({ ...OWN, ...more })

const gauge = (name: string, size = 1): object => ({ apiVersion: 'example.test/v1', kind: 'Gauge', metadata: { name }, spec: { size } })
const free = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }

interface Change {
  names?: object
  scope?: string
  versions?: object[]
}

/** Our own definition, changed. */
function crdOf({ names = {}, ...more }: Change = {}): KubeObject {
  const crd = deepClone(Gauge.crd)
  const spec = crd.spec as { names: object }
  crd.spec = { ...spec, names: { ...spec.names, ...names }, ...more }
  return crd
}

interface Names {
  plural: string
  kind: string
  listKind?: string
  shortNames?: string[]
}

/** A definition of another name in the group of our kind. */
function otherCrd(names: Names, group = 'example.test'): object {
  const versions = [{ name: 'v1', served: true, storage: true, schema: free }]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, scope: 'Cluster', names, versions },
  }
}

const upstream = [
  { name: 'v1', served: true, storage: false, schema: free },
  { name: 'v2', served: true, storage: true, schema: free },
]
const VARIANTS: Record<string, KubeObject> = {
  'our own': crdOf(),
  'with another schema': crdOf({ versions: [{ name: 'v1', served: true, storage: true, schema: free }] }),
  'with another scope': crdOf({ scope: 'Namespaced' }),
  'with another storage version': crdOf({ versions: upstream }),
  'with a version of ours that is not served': crdOf({
    versions: [{ ...upstream[0], served: false }, upstream[1] ?? {}],
  }),
  'with other names': crdOf({ names: { kind: 'Meter', listKind: 'MeterList', singular: 'meter', shortNames: ['mt'] } }),
}

const conditionsOf = (crd: Answered): Record<string, string> => {
  const { conditions = [] } = (crd.status ?? {}) as unknown as { conditions?: { type: string; status: string; reason: string }[] }
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}
const ESTABLISHED = { NamesAccepted: 'True NoConflicts', Established: 'True ServedByServer' }

const warningsOf = (answer: Answer): string[] => [answer.headers.warning ?? []].flat()
const WARNING =
  '299 - "Sluice serves gauges.example.test itself: this definition is stored but has no effect, and deleting it deletes no objects"'

/** Everything that says what is served. */
async function surface(server: TestServer): Promise<string[]> {
  const aggregated = { headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' } }
  const texts = [(await server.send('GET', '/apis', undefined, aggregated)).text]
  for (const path of [
    '/apis',
    '/apis/example.test',
    '/apis/example.test/v1',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/apis/example.test/v1',
  ])
    texts.push((await server.send('GET', path)).text)
  return texts
}

/** Our kind, by what only our definition does. */
async function assertServesOurs(server: TestServer, name: string): Promise<void> {
  const made = await server.send('POST', GAUGES, { ...gauge(name), spec: { size: 2, unknown: true } })
  assert.deepEqual([made.status, made.body.kind, made.body.spec], [201, 'Gauge', { size: 2, colour: 'red' }], made.text)
  assert.equal((await server.send('GET', `/apis/example.test/v1alpha1/gauges/${name}`)).text.includes('"spec":{"width":2}'), true)
  assert.equal((await server.send('GET', `${GAUGES}/${name}/needle`)).text, 'north')
  assert.equal((await server.send('POST', GAUGES, gauge('unlucky', 13))).status, 422)
  assert.equal((await server.send('POST', GAUGES, gauge('small', 0))).status, 422)
  const status = await server.send('PATCH', `${GAUGES}/${name}/status`, { status: { level: 3 }, spec: { size: 9 } }, MERGE)
  assert.deepEqual([status.status, status.body.spec, status.body.status], [200, { size: 2, colour: 'red' }, { level: 3 }], status.text)
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  assert.match((await server.send('GET', GAUGES, undefined, { headers: { accept } })).text, /"name":"Size"/)
  assert.equal((await server.send('GET', '/apis/example.test/v2/gauges')).status, 404)
  assert.equal((await server.send('GET', '/apis/example.test/v1/namespaces/default/gauges')).status, 404)
}

const objectTexts = (server: TestServer): string[] => server.store.range(`${NAME}/`).versions.map(({ text }) => String(text))

for (const [which, crd] of Object.entries(VARIANTS))
  describe(`a definition named like a kind of the server, ${which}`, () => {
    it('is stored and established, and changes nothing that is served', async () => {
      const server = await start()
      await server.send('POST', GAUGES, gauge('before'))
      const watch = await server.watch(`${GAUGES}?watch=true`)
      const [before, epoch, objects] = [await surface(server), server.cluster.server.catalog.epoch, objectTexts(server)]
      const made = await server.send('POST', CRDS, crd)
      assert.equal(made.status, 201, made.text)
      assert.match(warningsOf(made)[0] ?? '', /^299 - "Sluice serves gauges\.example\.test itself/)
      await settle()
      const stored = await server.send('GET', `${CRDS}/${NAME}`)
      assert.deepEqual([stored.status, conditionsOf(stored.body)], [200, ESTABLISHED])
      assert.deepEqual((stored.body.spec as { scope: string }).scope, (crd.spec as { scope: string }).scope)
      assert.equal((await server.send('GET', CRDS)).body.items.length, 1)
      assert.deepEqual([await surface(server), server.cluster.server.catalog.epoch], [before, epoch])
      assert.deepEqual(objectTexts(server), objects)
      assert.equal((await server.send('GET', GAUGES)).body.items.length, 1)
      await assertServesOurs(server, 'after')
      assert.deepEqual([watch.isEnded, watch.take().map(({ object }) => object.metadata.name)], [false, ['before', 'after', 'after']])
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })

    it('is gone after a delete, and takes nothing with it', async () => {
      const server = await start()
      await server.send('POST', GAUGES, gauge('before'))
      await server.send('POST', CRDS, crd)
      await settle()
      const watch = await server.watch(`${GAUGES}?watch=true`)
      const [before, objects] = [await surface(server), objectTexts(server)]
      const deleted = await server.send('DELETE', `${CRDS}/${NAME}`)
      assert.equal(deleted.status, 200)
      assert.doesNotMatch(deleted.text, /deletion will begin/)
      const during = await server.send('POST', GAUGES, gauge('during'))
      assert.equal(during.status, 201, 'objects can be created at any moment')
      await settle()
      assert.equal((await server.send('GET', `${CRDS}/${NAME}`)).status, 404)
      assert.deepEqual(await surface(server), before)
      assert.deepEqual(objectTexts(server).slice(0, 1), objects)
      await assertServesOurs(server, 'after')
      assert.deepEqual(
        watch.take().map(({ type }) => type),
        ['ADDED', 'ADDED', 'ADDED', 'MODIFIED'],
      )
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })

    it('replaces nothing at a start, not even if it was served by an earlier build', async () => {
      const earlier = await startTestServer()
      assert.equal((await earlier.send('POST', CRDS, crd)).status, 201)
      await settle()
      const version = (crd.spec as { versions: { name: string; storage: boolean }[] }).versions.find(({ storage }) => storage)?.name
      const { kind } = (crd.spec as { names: { kind: string } }).names
      const object = { ...gauge('old', 7), apiVersion: `example.test/${version}`, kind }
      const isNamespaced = (crd.spec as { scope: string }).scope === 'Namespaced'
      const path = `/apis/example.test/${version}/${isNamespaced ? 'namespaces/default/' : ''}gauges`
      assert.equal((await earlier.send('POST', path, object)).status, 201)
      earlier.stop()

      const server = await start({ store: earlier.memory })
      await settle()
      await assertServesOurs(server, 'new')
      assert.deepEqual(conditionsOf((await server.send('GET', `${CRDS}/${NAME}`)).body), ESTABLISHED)
      if (!isNamespaced) {
        const read = await server.send('GET', `${GAUGES}/old`)
        assert.deepEqual([read.body.apiVersion, read.body.kind, read.body.spec], ['example.test/v1', 'Gauge', { size: 7, colour: 'red' }])
        const written = await server.send('PATCH', `${GAUGES}/old`, { spec: { size: 8 } }, MERGE)
        assert.deepEqual([written.status, written.body.spec], [200, { size: 8, colour: 'red' }])
        for (const item of (await server.send('GET', GAUGES)).body.items)
          assert.deepEqual([item.apiVersion, item.kind], ['example.test/v1', 'Gauge'])
      }
      server.stop()
      const { revision } = server.store
      const again = await start({ store: earlier.memory })
      await settle()
      assert.equal(again.store.revision, revision, 'a second start has nothing to write')
      await again.send('DELETE', `${CRDS}/${NAME}`)
      await settle()
      assert.equal((await again.send('GET', `${CRDS}/${NAME}`)).status, 404)
      assert.equal(again.store.count(`${NAME}/`), 2)
      again.stop()
    })
  })

describe('who writes a definition of a kind that the server serves itself', () => {
  it('is told so at every create, update, patch and apply, and also in a dry run', async () => {
    const server = await start()
    const answers = [
      await server.send('POST', `${CRDS}?dryRun=All`, crdOf()),
      await server.send('POST', CRDS, crdOf()),
      await server.send('PATCH', `${CRDS}/${NAME}?fieldManager=me&force=true`, crdOf(), APPLY),
      await server.send('PATCH', `${CRDS}/${NAME}`, { metadata: { labels: { a: 'b' } } }, MERGE),
      await server.send('PUT', `${CRDS}/${NAME}`, (await server.send('GET', `${CRDS}/${NAME}`)).body),
    ]
    await server.send('DELETE', `${CRDS}/${NAME}`)
    await settle()
    answers.push(await server.send('PATCH', `${CRDS}/${NAME}?fieldManager=me`, crdOf(), APPLY))
    assert.deepEqual(
      answers.map((answer) => [answer.status, warningsOf(answer)]),
      [201, 201, 200, 200, 200, 201].map((status) => [status, [WARNING]]),
    )
    assert.deepEqual(warningsOf(await server.send('GET', `${CRDS}/${NAME}`)), [])
    server.stop()
  })

  it('is told which versions are not served', async () => {
    const server = await start()
    const versions = (...names: string[]): object[] =>
      names.map((name, i) => ({ name, served: name !== 'v5', storage: i === 0, schema: free }))
    const one = await server.send('POST', `${CRDS}?dryRun=All`, crdOf({ versions: versions('v1', 'v2', 'v5') }))
    assert.match(warningsOf(one)[0] ?? '', /deletes no objects; version v2 is not served"$/)
    const two = await server.send('POST', `${CRDS}?dryRun=All`, crdOf({ versions: versions('v2', 'v3') }))
    assert.match(warningsOf(two)[0] ?? '', /deletes no objects; versions v2, v3 are not served"$/)
    server.stop()
  })

  it('is not told about kinds that are not ours', async () => {
    const server = await start()
    assert.deepEqual(warningsOf(await server.send('POST', CRDS, otherCrd({ plural: 'meters', kind: 'Meter' }))), [])
    server.stop()
  })
})

describe('a definition of a kind that the server serves itself', () => {
  it('is repaired when its status is overwritten, and otherwise not written again', async () => {
    const server = await start()
    await server.send('POST', CRDS, crdOf({ names: { shortNames: ['other'] } }))
    await settle()
    const { revision } = server.store
    await settle()
    assert.equal(server.store.revision, revision)
    const accepted = async (): Promise<unknown> =>
      ((await server.send('GET', `${CRDS}/${NAME}`)).body.status as unknown as { acceptedNames: object }).acceptedNames
    const names = await accepted()
    assert.deepEqual(names, {
      plural: 'gauges',
      singular: 'gauge',
      shortNames: ['gg'],
      kind: 'Gauge',
      listKind: 'GaugeList',
    })
    await server.send(
      'PATCH',
      `${CRDS}/${NAME}/status`,
      { status: { conditions: [], acceptedNames: { kind: 'X', plural: 'gauges' } } },
      MERGE,
    )
    await settle()
    assert.deepEqual(conditionsOf((await server.send('GET', `${CRDS}/${NAME}`)).body), ESTABLISHED)
    assert.deepEqual(await accepted(), names)
    server.stop()
  })

  it('is deleted with the others of a collection: their objects go, ours stay', async () => {
    const server = await start()
    await server.send('POST', CRDS, crdOf())
    await server.send('POST', CRDS, otherCrd({ plural: 'meters', kind: 'Meter' }))
    await settle()
    await server.send('POST', GAUGES, gauge('a'))
    const meter = { apiVersion: 'example.test/v1', kind: 'Meter', metadata: { name: 'm' } }
    assert.equal((await server.send('POST', '/apis/example.test/v1/meters', meter)).status, 201)
    assert.equal((await server.send('DELETE', CRDS)).status, 200)
    await settle()
    assert.equal((await server.send('GET', CRDS)).body.items.length, 0)
    assert.deepEqual([server.store.count(`${NAME}/`), server.store.count('meters.example.test/')], [1, 0])
    await assertServesOurs(server, 'after')
    server.stop()
  })

  it('waits for finalizers of others and for nothing else', async () => {
    const server = await start()
    const crd = crdOf()
    crd.metadata.finalizers = ['example.test/mine', 'customresourcecleanup.apiextensions.k8s.io']
    await server.send('POST', CRDS, crd)
    await server.send('POST', GAUGES, gauge('a'))
    await server.send('DELETE', `${CRDS}/${NAME}?propagationPolicy=Background`)
    await settle()
    const held = (await server.send('GET', `${CRDS}/${NAME}`)).body
    assert.deepEqual([held.metadata.finalizers, conditionsOf(held).Terminating], [['example.test/mine'], 'False ServedByServer'])
    await assertServesOurs(server, 'meanwhile')
    await server.send('PATCH', `${CRDS}/${NAME}`, { metadata: { finalizers: null } }, MERGE)
    await settle()
    assert.equal((await server.send('GET', `${CRDS}/${NAME}`)).status, 404)
    assert.equal(server.store.count(`${NAME}/`), 2)
    server.stop()
  })

  it('whose deletion an earlier build began goes, and the objects that are left stay', async () => {
    const earlier = await startTestServer()
    await earlier.send('POST', CRDS, crdOf())
    await settle()
    await earlier.send('POST', GAUGES, { ...gauge('held'), metadata: { name: 'held', finalizers: ['example.test/hold'] } })
    await earlier.send('DELETE', `${CRDS}/${NAME}`)
    await settle()
    assert.equal(conditionsOf((await earlier.send('GET', `${CRDS}/${NAME}`)).body).Terminating, 'True InstanceDeletionInProgress')
    earlier.stop()
    const server = await start({ store: earlier.memory })
    await settle()
    assert.equal((await server.send('GET', `${CRDS}/${NAME}`)).status, 404)
    assert.equal((await server.send('GET', `${GAUGES}/held`)).status, 200)
    await assertServesOurs(server, 'new')
    server.stop()
  })

  it('takes effect on a server without that kind', async () => {
    const first = await start()
    await first.send(
      'POST',
      CRDS,
      crdOf({ versions: [{ name: 'v1', served: true, storage: true, schema: free }], names: { shortNames: ['x'] } }),
    )
    await settle()
    first.stop()
    const bare = await startTestServer({ store: first.memory })
    await settle()
    assert.equal((await bare.send('POST', GAUGES, { ...gauge('free', 13), extra: 1 })).body.kind, 'Gauge')
    assert.match((await bare.send('GET', '/apis/example.test/v1')).text, /"shortNames":\["x"\]/)
    assert.equal(conditionsOf((await bare.send('GET', `${CRDS}/${NAME}`)).body).Established, 'True InitialNamesAccepted')
    bare.stop()
  })
})

describe('the names of a kind that the server serves itself', () => {
  const conflicts: [string, Names, string][] = [
    ['its kind', { plural: 'others', kind: 'Gauge', listKind: 'OtherList' }, 'False KindConflict'],
    ['its kind and list kind', { plural: 'others', kind: 'Gauge' }, 'False ListKindConflict'],
    ['its list kind as kind', { plural: 'others', kind: 'GaugeList' }, 'False KindConflict'],
    ['its short name', { plural: 'others', kind: 'Other', shortNames: ['gg'] }, 'False ShortNamesConflict'],
    ['its singular as plural', { plural: 'gauge', kind: 'Other' }, 'False PluralConflict'],
  ]
  for (const [what, names, reason] of conflicts)
    it(`are not given away: ${what}`, async () => {
      const server = await start()
      const before = await surface(server)
      for (const round of ['without', 'with'] as const) {
        if (round === 'with') await server.send('POST', CRDS, crdOf({ names: { shortNames: ['zz'] } }))
        const path = `${CRDS}/${names.plural}.example.test`
        assert.equal((await server.send('POST', CRDS, otherCrd(names))).status, 201)
        await settle()
        const conditions = conditionsOf((await server.send('GET', path)).body)
        assert.deepEqual(conditions, { NamesAccepted: reason, Established: 'False NotAccepted' }, `${round} a definition of ours`)
        assert.deepEqual(await surface(server), before)
        await server.send('DELETE', path)
        await settle()
      }
      await server.send('DELETE', `${CRDS}/${NAME}`)
      await settle()
      assert.equal((await server.send('GET', CRDS)).body.items.length, 0)
      server.stop()
    })

  it('count, and not those that a definition without effect asks for', async () => {
    const server = await start()
    await server.send('POST', CRDS, crdOf({ names: { kind: 'Meter', listKind: 'MeterList', singular: 'meter', shortNames: ['mt'] } }))
    await server.send('POST', CRDS, otherCrd({ plural: 'meters', kind: 'Meter', shortNames: ['mt'] }))
    await settle()
    assert.equal(conditionsOf((await server.send('GET', `${CRDS}/meters.example.test`)).body).Established, 'True InitialNamesAccepted')
    const { catalog } = server.cluster.server
    assert.equal(catalog.findKind('example.test', 'v1', 'Meter')?.definition.plural, 'meters')
    assert.equal(catalog.findKind('example.test', 'v1', 'Gauge')?.definition.plural, 'gauges')
    server.stop()
  })

  it('are not taken by an update of a definition that is served', async () => {
    const server = await start()
    await server.send('POST', CRDS, otherCrd({ plural: 'meters', kind: 'Meter' }))
    await settle()
    const before = await surface(server)
    await server.send('PATCH', `${CRDS}/meters.example.test`, { spec: { names: { shortNames: ['gg'] } } }, MERGE)
    await settle()
    const conditions = conditionsOf((await server.send('GET', `${CRDS}/meters.example.test`)).body)
    assert.deepEqual(conditions, { NamesAccepted: 'False ShortNamesConflict', Established: 'True InitialNamesAccepted' })
    assert.deepEqual(await surface(server), before, 'only accepted names are shown')
    server.stop()
  })

  it('stay ours where an earlier build accepted them for another definition', async () => {
    const earlier = await startTestServer()
    await earlier.send('POST', CRDS, otherCrd({ plural: 'agauges', kind: 'Gauge' }))
    await settle()
    await earlier.send('POST', '/apis/example.test/v1/agauges', gauge('theirs'))
    earlier.stop()
    const server = await start({ store: earlier.memory })
    await settle()
    const { catalog } = server.cluster.server
    assert.equal(catalog.findKind('example.test', 'v1', 'Gauge')?.definition.plural, 'gauges')
    assert.equal((await server.send('GET', '/apis/example.test/v1/agauges/theirs')).status, 200, 'what was accepted stays reachable')
    await server.send('DELETE', `${CRDS}/agauges.example.test`)
    await settle()
    assert.equal(catalog.findKind('example.test', 'v1', 'Gauge')?.definition.plural, 'gauges')
    server.stop()
  })

  it('come first in discovery, before a group that sorts earlier and has the same short name', async () => {
    const server = await start()
    await server.send('POST', CRDS, otherCrd({ plural: 'meters', kind: 'Meter', shortNames: ['gg'] }, 'a.example'))
    await settle()
    const { groups } = JSON.parse((await server.send('GET', '/apis')).text) as { groups: { name: string }[] }
    const names = groups.map(({ name }) => name)
    assert.deepEqual([names.at(-1), names.includes('example.test')], ['a.example', true])
    server.stop()
  })
})

describe('whatever is done with definitions', () => {
  const variants = Object.values(VARIANTS)
  const step = fc.oneof(
    fc.record({ do: fc.constant('create' as const), crd: fc.constantFrom(...variants) }),
    fc.record({ do: fc.constant('apply' as const), crd: fc.constantFrom(...variants) }),
    fc.record({ do: fc.constantFrom('delete' as const, 'collection' as const, 'restart' as const, 'settle' as const) }),
  )

  it('our kind and its objects stay as they were', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        let server = await start()
        await server.send('POST', GAUGES, gauge('a'))
        const [before, objects] = [await surface(server), objectTexts(server)]
        for (const one of steps) {
          if (one.do === 'create') await server.send('POST', CRDS, one.crd)
          else if (one.do === 'apply') await server.send('PATCH', `${CRDS}/${NAME}?fieldManager=me&force=true`, one.crd, APPLY)
          else if (one.do === 'delete') await server.send('DELETE', `${CRDS}/${NAME}`)
          else if (one.do === 'collection') await server.send('DELETE', CRDS)
          else if (one.do === 'settle') await settle()
          else {
            server.stop()
            server = await start({ store: server.memory })
          }
          assert.deepEqual(objectTexts(server), objects)
        }
        await settle()
        assert.deepEqual([await surface(server), objectTexts(server), server.internalErrors], [before, objects, []])
        server.stop()
      }),
      { numRuns: 25 },
    )
  })
})

for (const role of ['hub', 'member'] as const)
  describe(`every kind that a ${role} has of its own`, () => {
    it('is served as before after its definition was applied and deleted, and has its objects', async () => {
      const own = ownKindsOf(role)
      assert.ok(own.length > 0)
      const server = await startTestServer({ kinds: own.map(({ definition }) => definition) })
      const { catalog, objects } = server.cluster.server
      const served = own.map(({ group, plural }) => catalog.findStored(group, plural) as Served)
      for (const one of served) {
        const metadata = { name: 'a', ...(one.definition.namespaced ? { namespace: 'default' } : {}) }
        await objects.put(one, { apiVersion: one.storageApiVersion, kind: one.definition.kind, metadata }, undefined)
      }
      const [definitions, epoch] = [catalog.definitions(), catalog.epoch]
      const texts = (): string[] =>
        served.flatMap(({ bucket }) => server.store.range(`${bucket}/`).versions.map(({ text }) => String(text)))
      const before = texts()
      assert.equal(before.length, own.length)
      for (const { crd } of own) {
        const applied = await server.send('PATCH', `${CRDS}/${crd.metadata.name}?fieldManager=kubectl`, crd, APPLY)
        assert.deepEqual([applied.status, warningsOf(applied).length], [201, 1], applied.text)
      }
      await settle()
      for (const { body } of await Promise.all(own.map(({ crd }) => server.send('GET', `${CRDS}/${crd.metadata.name}`)))) {
        const { NamesAccepted, Established } = conditionsOf(body)
        assert.deepEqual({ NamesAccepted, Established }, ESTABLISHED)
      }
      for (const { crd } of own) assert.equal((await server.send('DELETE', `${CRDS}/${crd.metadata.name}`)).status, 200)
      await settle()
      assert.equal((await server.send('GET', CRDS)).body.items.length, 0)
      assert.deepEqual([catalog.definitions() === definitions, catalog.epoch, texts()], [true, epoch, before])
      assert.deepEqual(server.internalErrors, [])
      server.stop()
    })
  })
