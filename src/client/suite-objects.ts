/** Reading and writing objects, and lists larger than a page. */
import assert from 'node:assert/strict'
import { CONFIG_MAPS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts'
import type { ClientCase } from './suite.ts'
import { type ClientTestbed, configMap, create, names } from './suite-harness.ts'

const PAGES = 25

async function createMany({ client, namespace }: ClientTestbed): Promise<string[]> {
  const wanted = Array.from({ length: PAGES }, (_, i) => `item-${String(i).padStart(3, '0')}`)
  await Promise.all(wanted.map((name) => client.create(CONFIG_MAPS, configMap(namespace, name))))
  return wanted
}

export const objectCases: readonly ClientCase[] = [
  {
    name: 'creates, reads, updates and deletes',
    async run({ client, namespace }) {
      const made = await client.create(CONFIG_MAPS, configMap(namespace, 'a'))
      assert.ok(made.metadata.uid && made.metadata.resourceVersion)
      await assert.rejects(client.create(CONFIG_MAPS, configMap(namespace, 'a')), isAlreadyExists)
      const changed = await client.update(CONFIG_MAPS, { ...made, data: { key: 'changed' } })
      assert.ok(Number(changed.metadata.resourceVersion) > Number(made.metadata.resourceVersion))
      await assert.rejects(client.update(CONFIG_MAPS, { ...made, data: { key: 'late' } }), isConflict)
      assert.deepEqual(await client.get(CONFIG_MAPS, { namespace, name: 'a' }), changed)
      await assert.rejects(client.delete(CONFIG_MAPS, { namespace, name: 'a' }, { preconditions: { uid: 'another' } }), isConflict)
      await client.delete(CONFIG_MAPS, { namespace, name: 'a' }, { preconditions: { uid: made.metadata.uid } })
      await assert.rejects(client.get(CONFIG_MAPS, { namespace, name: 'a' }), isNotFound)
      await assert.rejects(client.delete(CONFIG_MAPS, { namespace, name: 'a' }), isNotFound)
    },
  },
  {
    name: 'patches in all forms, and applies',
    async run({ client, namespace }) {
      await client.create(CONFIG_MAPS, configMap(namespace, 'a'))
      const of = { namespace, name: 'a' }
      await client.patch(CONFIG_MAPS, of, { type: 'merge', body: { data: { merge: '1' } } })
      await client.patch(CONFIG_MAPS, of, { type: 'strategic', body: { data: { strategic: '2' } } })
      await client.patch(CONFIG_MAPS, of, { type: 'json', body: [{ op: 'add', path: '/data/json', value: '3' }] })
      const applied = { ...configMap(namespace, 'a', { apply: '4' }), metadata: { name: 'a', namespace } }
      const result = await client.apply(CONFIG_MAPS, applied, { fieldManager: 'suite' })
      assert.deepEqual(result.data, { key: 'value', merge: '1', strategic: '2', json: '3', apply: '4' })
      assert.ok(result.metadata.managedFields?.some((entry) => entry.manager === 'suite' && entry.operation === 'Apply'))
      const rival = { ...applied, data: { apply: '5' } }
      await assert.rejects(client.apply(CONFIG_MAPS, rival, { fieldManager: 'rival' }), isConflict)
      const forced = await client.apply(CONFIG_MAPS, rival, { fieldManager: 'rival', force: true })
      assert.equal((forced.data as Record<string, string>).apply, '5')
    },
  },
  {
    name: 'tries without changing anything',
    async run({ client, namespace }) {
      const tried = await client.create(CONFIG_MAPS, configMap(namespace, 'a'), { dryRun: true })
      assert.ok(tried.metadata.uid)
      await assert.rejects(client.get(CONFIG_MAPS, { namespace, name: 'a' }), isNotFound)
    },
  },
  {
    name: 'lets the server make a name',
    async run({ client, namespace }) {
      const made = await client.create<KubeObject>(CONFIG_MAPS, {
        ...configMap(namespace, ''),
        metadata: { namespace, generateName: 'made-' },
      })
      assert.match(made.metadata.name ?? '', /^made-.{5}$/)
    },
  },
  {
    name: 'selects by label and field, and deletes what is selected',
    async run(testbed) {
      const { client, namespace } = testbed
      await create(testbed, 'a')
      await create(testbed, 'b')
      await client.create(CONFIG_MAPS, { ...configMap(namespace, 'c'), metadata: { name: 'c', namespace } })
      assert.deepEqual(names((await client.list(CONFIG_MAPS, { namespace, labelSelector: 'suite=yes' })).items), ['a', 'b'])
      assert.deepEqual(names((await client.list(CONFIG_MAPS, { namespace, fieldSelector: 'metadata.name=b' })).items), ['b'])
      await client.deleteCollection(CONFIG_MAPS, { namespace, labelSelector: 'suite=yes' })
      assert.deepEqual(names((await client.list(CONFIG_MAPS, { namespace })).items), ['c'])
    },
  },
  {
    name: 'lists page by page, every object with its kind',
    async run(testbed) {
      const { client, namespace, sent } = testbed
      const wanted = await createMany(testbed)
      testbed.plan(() => undefined)
      const result = await client.list(CONFIG_MAPS, { namespace, pageSize: 10 })
      assert.equal(sent.length, 3)
      assert.deepEqual(names(result.items), wanted)
      assert.ok(result.items.every((item) => item.kind === 'ConfigMap' && item.apiVersion === 'v1'))
    },
  },
  {
    name: 'keeps to the snapshot of the first page while others write',
    async run(testbed) {
      const { client, namespace, server } = testbed
      const wanted = await createMany(testbed)
      let writes: Promise<unknown> | undefined
      testbed.plan((request) => {
        if (request.method !== 'GET' || !request.path.includes('continue=') || writes !== undefined) return undefined
        writes = Promise.all([create(testbed, 'zz-new'), client.delete(CONFIG_MAPS, { namespace, name: 'item-024' })])
        return { do: 'delay', ms: server.isVirtual ? 1000 : 300 }
      })
      const result = await client.list(CONFIG_MAPS, { namespace, pageSize: 10 })
      await writes
      assert.deepEqual(names(result.items), wanted)
      assert.ok(names((await client.list(CONFIG_MAPS, { namespace })).items).includes('zz-new'))
    },
  },
  {
    name: 'starts a list over when its snapshot is gone',
    async run(testbed) {
      const { client, namespace, sent } = testbed
      const wanted = await createMany(testbed)
      testbed.plan((request) => (request.path.includes('continue=') ? { do: 'answer', code: 410 } : undefined))
      assert.deepEqual(names((await client.list(CONFIG_MAPS, { namespace, pageSize: 10 })).items), wanted)
      assert.equal(sent.length, 3)
    },
  },
]
