import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepEqual, deepFreeze, isJsonObject } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { nativeInterpreter } from '../interpreter/testing.ts'
import { preparedManifest } from './manifest.ts'
import { createMemory, digestOf } from './memory.ts'
import { covers, mergedWith, sameContent } from './merge.ts'
import { OUR_ANNOTATIONS, OUR_LABELS, releasePatch } from './preserve.ts'
import { aWork } from './testing.ts'
import { replacing } from './verdict.ts'

const MANAGED_LABELS = 'resourcetemplate.karmada.io/managed-labels'
const MANAGED_ANNOTATIONS = 'resourcetemplate.karmada.io/managed-annotations'
const RUNS = { numRuns: 300 }

type Texts = Record<string, string>
const labelled = (labels: Texts, annotations: Texts = {}, more: object = {}): KubeObject =>
  deepFreeze({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b', labels, annotations, ...more } })

describe('labels and annotations of what is put in the place of an object', () => {
  const table: [string, { desired: Texts; observed: Texts; managed?: string }, Texts][] = [
    ['ours are set', { desired: { a: '1' }, observed: {} }, { a: '1' }],
    ['ours win', { desired: { a: '1' }, observed: { a: '2' } }, { a: '1' }],
    ['theirs stay', { desired: { a: '1' }, observed: { b: '2' }, managed: 'a' }, { a: '1', b: '2' }],
    ['ours that the manifest dropped go', { desired: {}, observed: { a: '1', b: '2' }, managed: 'a' }, { b: '2' }],
    ['ours that the manifest still has stay', { desired: { a: '1' }, observed: { a: '1' }, managed: 'a' }, { a: '1' }],
    ['without a list everything is theirs', { desired: {}, observed: { a: '1' } }, { a: '1' }],
    ['an empty list lists nothing', { desired: {}, observed: { a: '1' }, managed: '' }, { a: '1' }],
  ]
  for (const [name, { desired, observed, managed }, expected] of table) {
    it(`labels: ${name}`, () => {
      const found = labelled(observed, managed === undefined ? {} : { [MANAGED_LABELS]: managed })
      assert.deepEqual(mergedWith(labelled(desired), found).metadata.labels, expected)
    })
    it(`annotations: ${name}`, () => {
      const found = labelled({}, { ...observed, ...(managed === undefined ? {} : { [MANAGED_ANNOTATIONS]: managed }) })
      const { [MANAGED_ANNOTATIONS]: _, ...rest } = mergedWith(labelled({}, desired), found).metadata.annotations ?? {}
      assert.deepEqual(rest, expected)
    })
  }
})

describe('the rest of what is put in the place of an object', () => {
  const observed = deepFreeze({
    ...labelled(
      {},
      {},
      { uid: 'u', resourceVersion: '7', finalizers: ['f'], ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'y' }] },
    ),
    data: { old: '1' },
    status: { phase: 'Fine' },
  }) as KubeObject
  it('names the object and the revision, and keeps finalizers, owners and status', () => {
    const desired = { ...labelled({}, {}, { finalizers: ['wrong'], ownerReferences: [] }), data: { new: '2' }, status: { phase: 'Old' } }
    const merged = mergedWith(desired, observed)
    const { uid, resourceVersion, finalizers, ownerReferences } = merged.metadata
    assert.deepEqual(
      { uid, resourceVersion, finalizers, ownerReferences },
      { uid: 'u', resourceVersion: '7', finalizers: ['f'], ownerReferences: observed.metadata.ownerReferences },
    )
    assert.deepEqual([merged.data, merged.status], [{ new: '2' }, { phase: 'Fine' }])
  })
  it('has no finalizers, owners or status where the member has none', () => {
    const bare = labelled({}, {}, { uid: 'u', resourceVersion: '7' })
    const merged = mergedWith({ ...labelled({}, {}, { finalizers: ['wrong'] }), status: {} }, bare)
    assert.deepEqual(Object.keys(merged.metadata).sort(), ['annotations', 'labels', 'name', 'namespace', 'resourceVersion', 'uid'])
    assert.equal('status' in merged, false)
  })
})

const json = fc.jsonValue({ maxDepth: 3 })

describe('comparison', () => {
  const table: [string, unknown, unknown, { same: boolean; covers: boolean }][] = [
    ['equal', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, { same: true, covers: true }],
    ['null is nothing', { a: 1 }, { a: 1, b: null }, { same: true, covers: true }],
    ['nothing is null', { a: 1, b: null }, { a: 1 }, { same: true, covers: true }],
    ['an empty object is something', { a: 1, b: {} }, { a: 1 }, { same: false, covers: true }],
    ['and must be there', { a: 1 }, { a: 1, b: {} }, { same: false, covers: false }],
    ['more in a list item', { l: [{ a: 1, b: 2 }] }, { l: [{ a: 1 }] }, { same: false, covers: true }],
    ['more items', { l: [1, 2] }, { l: [1] }, { same: false, covers: false }],
    ['another value', { a: 1 }, { a: 2 }, { same: false, covers: false }],
    ['another type', { a: [] }, { a: {} }, { same: false, covers: false }],
  ]
  for (const [name, live, wanted, expected] of table)
    it(name, () => assert.deepEqual({ same: sameContent(live, wanted), covers: covers(live, wanted) }, expected))

  it('of what is the same: both ways, it covers, and the digest is one', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        assert.equal(sameContent(a, a), true)
        assert.equal(sameContent(a, b), sameContent(b, a))
        if (deepEqual(a, b)) assert.equal(sameContent(a, b), true)
        if (!sameContent(a, b)) return
        assert.ok(covers(a, b) && covers(b, a))
        if (isJsonObject(a) && isJsonObject(b)) assert.equal(digestOf(a), digestOf(b))
      }),
      RUNS,
    )
  })
})

const key = fc.stringMatching(/^[a-z]{1,6}$/)
const texts = fc.dictionary(key, fc.stringMatching(/^[a-z0-9]{0,4}$/), { maxKeys: 4 })
const spec = fc.dictionary(key, fc.oneof(json, fc.dictionary(key, json, { maxKeys: 3 })), { maxKeys: 4 })
const kind = fc.constantFrom(
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'v1', kind: 'ServiceAccount' },
  { apiVersion: 'example.io/v1', kind: 'Widget' },
)
const template = fc.record({ kind, labels: texts, annotations: texts, spec, data: texts }).map(
  ({ kind: of, labels, annotations, spec: body, data }): KubeObject => ({
    ...of,
    metadata: { name: 'a', namespace: 'b', labels, annotations },
    spec: body,
    data,
  }),
)

/** A server: fills in fields that are missing anywhere below spec, may drop empty lists, and adds labels of its own. */
function aServer(defaults: Record<string, unknown>, ownLabels: Texts, dropsEmpty = false) {
  let stored: KubeObject | undefined
  let revision = 0
  const complete = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(complete)
    if (!isJsonObject(value)) return value
    const kept = Object.entries(value).filter(([, one]) => !dropsEmpty || !Array.isArray(one) || one.length > 0)
    return { ...defaults, ...Object.fromEntries(kept.map(([name, one]) => [name, complete(one)])) }
  }
  const accepted = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...ownLabels, ...object.metadata.labels }, uid: 'u', resourceVersion: String(revision + 1) },
    spec: complete(object.spec),
  })
  const client = {
    async update(_resource: unknown, object: KubeObject, options?: { dryRun?: boolean }) {
      const next = accepted(object)
      if (options?.dryRun === true) return next
      revision++
      stored = next
      return next
    },
  } as unknown as Client
  return {
    client,
    create: (object: KubeObject) => client.update(CONFIG_MAPS, object),
    get stored(): KubeObject {
      if (stored === undefined) throw new Error('nothing is stored')
      return deepFreeze(structuredClone(stored))
    },
  }
}

describe('applying', () => {
  const ref = { namespace: 'karmada-es-member1', name: 'w' }
  const work = aWork('w', [])

  async function pass(server: ReturnType<typeof aServer>, manifest: KubeObject, memory = createMemory()): Promise<string> {
    const desired = deepFreeze(preparedManifest(manifest, work))
    const context = {
      ref,
      ordinal: 0,
      desired,
      observed: server.stored,
      wasApplied: true,
      resource: CONFIG_MAPS,
      client: server.client,
      interpreter: nativeInterpreter(),
      memory,
    }
    const verdict = await replacing(context)
    if (verdict.do === 'update') await server.client.update(CONFIG_MAPS, verdict.object)
    return verdict.do
  }

  it('is at rest after one creation, and after one replacement, whatever the server fills in; also without memory', async () => {
    await fc.assert(
      fc.asyncProperty(template, template, spec, texts, fc.boolean(), async (first, second, defaults, ownLabels, dropsEmpty) => {
        const server = aServer(defaults, ownLabels, dropsEmpty)
        await server.create(preparedManifest(first, work))
        assert.equal(await pass(server, first), 'nothing', 'what was created is as it should be')
        const next: KubeObject = { ...second, apiVersion: first.apiVersion, kind: first.kind }
        const memory = createMemory()
        await pass(server, next, memory)
        assert.equal(await pass(server, next, memory), 'nothing', 'after a replacement')
        assert.equal(await pass(server, next), 'nothing', 'after a restart')
        const { spec: body, data } = server.stored
        const isPlain = first.kind === 'ConfigMap' || first.kind === 'Widget'
        if (isPlain && !dropsEmpty) assert.ok(covers({ spec: body, data }, { spec: next.spec, data: next.data }), 'all of it is there')
      }),
      RUNS,
    )
  })

  it('takes away what the template dropped and what somebody added, not what the server fills in', async () => {
    const server = aServer({ filled: 'in' }, {})
    const manifest = (body: object, labels: Texts): KubeObject => ({
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      metadata: { name: 'a', namespace: 'b', labels },
      spec: body,
    })
    await server.create(preparedManifest(manifest({ a: 1, b: 2 }, { x: '1' }), work))
    assert.equal(await pass(server, manifest({ a: 1 }, {})), 'update')
    assert.deepEqual(server.stored.spec, { filled: 'in', a: 1 })
    assert.equal(server.stored.metadata.labels?.x, undefined)
    await server.client.update(CONFIG_MAPS, { ...server.stored, spec: { a: 1, added: true } })
    assert.equal(await pass(server, manifest({ a: 1 }, {})), 'update')
    assert.deepEqual(server.stored.spec, { filled: 'in', a: 1 })
  })
})

describe('letting go of an object', () => {
  const ourLabels = fc.subarray([...OUR_LABELS]).map((keys) => Object.fromEntries(keys.map((name) => [name, 'x'])))
  const ourAnnotations = fc.subarray([...OUR_ANNOTATIONS]).map((keys) => Object.fromEntries(keys.map((name) => [name, 'x'])))
  it('takes off everything of ours and nothing else', () => {
    fc.assert(
      fc.property(texts, texts, ourLabels, ourAnnotations, (labels, annotations, oursL, oursA) => {
        const object = labelled({ ...labels, ...oursL }, { ...annotations, ...oursA })
        const patch = releasePatch(object) as { metadata: { labels: Record<string, null>; annotations: Record<string, null> } }
        assert.deepEqual(Object.keys(patch), ['metadata'])
        assert.deepEqual(Object.keys(patch.metadata.labels).sort(), Object.keys(oursL).sort())
        assert.deepEqual(Object.keys(patch.metadata.annotations).sort(), Object.keys(oursA).sort())
        assert.ok([...Object.values(patch.metadata.labels), ...Object.values(patch.metadata.annotations)].every((value) => value === null))
      }),
      RUNS,
    )
  })
  it('covers every mark that a prepared manifest carries', () => {
    const bare: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const { labels = {}, annotations = {} } = preparedManifest(bare, aWork('w', [])).metadata
    assert.deepEqual(
      Object.keys(labels).filter((name) => !OUR_LABELS.includes(name)),
      [],
    )
    assert.deepEqual(
      Object.keys(annotations).filter((name) => !OUR_ANNOTATIONS.includes(name)),
      [],
    )
  })
})
