import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ObjectMeta } from '../../../kube/meta.ts'
import { ClusterResourceBinding, ResourceBinding, Work } from '../index.ts'
import {
  CLUSTER_RESOURCE_BINDING_ID,
  DEPENDENCIES_ANNOTATION,
  MANAGED_ANNOTATIONS,
  MANAGED_LABELS,
  RESOURCE_BINDING_ID,
  WORK_ID,
} from '../well-known.ts'
import { aComing, admit } from './testing.ts'

const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'work', name: 'web' }
const bound = (more: Record<string, unknown> = {}) => ({ spec: { resource, ...more } })

describe('a binding', () => {
  it('gets its id once, and keeps one that it brings', async () => {
    const made = (await admit(ResourceBinding, bound())).object.metadata.labels
    assert.deepEqual(Object.keys(made ?? {}), [RESOURCE_BINDING_ID])
    const wide = (await admit(ClusterResourceBinding, bound())).object.metadata.labels
    assert.deepEqual(Object.keys(wide ?? {}), [CLUSTER_RESOURCE_BINDING_ID])
    const brought = { metadata: { labels: { [RESOURCE_BINDING_ID]: 'mine' } } }
    assert.equal((await admit(ResourceBinding, bound(), brought)).object.metadata.labels?.[RESOURCE_BINDING_ID], 'mine')
    const empty = { metadata: { labels: { [RESOURCE_BINDING_ID]: '' } } }
    assert.notEqual((await admit(ResourceBinding, bound(), empty)).object.metadata.labels?.[RESOURCE_BINDING_ID], '')
  })

  const reaches: [string, typeof ResourceBinding | typeof ClusterResourceBinding, ObjectMeta, string | undefined, RegExp | undefined][] = [
    ['its own namespace', ResourceBinding, {}, 'work', undefined],
    ['an object without a namespace', ResourceBinding, {}, undefined, undefined],
    ['an object whose namespace is empty', ResourceBinding, {}, '', undefined],
    ['another namespace', ResourceBinding, {}, 'other', /"other": must be the namespace of the binding, work/],
    ['credentials of clusters', ResourceBinding, {}, 'karmada-cluster', /never propagated/],
    ['the system of the fleet', ResourceBinding, {}, 'karmada-system', /never propagated/],
    ['what lies beside Works', ResourceBinding, {}, 'karmada-es-member1', /never propagated/],
    ['credentials, from where they are', ResourceBinding, { namespace: 'karmada-cluster' }, 'karmada-cluster', /never propagated/],
    ['no namespace, from a reserved one', ResourceBinding, { namespace: 'karmada-cluster' }, undefined, /never propagated/],
    ['a namespace that only begins alike', ResourceBinding, { namespace: 'karmada-clusters' }, 'karmada-clusters', undefined],
    ['a namespace, without having one', ClusterResourceBinding, {}, 'work', /ClusterResourceBinding is for objects without a namespace/],
    ['credentials, without a namespace', ClusterResourceBinding, {}, 'karmada-cluster', /never propagated/],
    ['what has none, as it has none', ClusterResourceBinding, {}, undefined, undefined],
  ]
  for (const [what, kind, metadata, namespace, expected] of reaches)
    for (const isUpdate of [false, true])
      it(`${expected === undefined ? 'reaches' : 'does not reach'} ${what}, ${isUpdate ? 'updated' : 'created'}`, async () => {
        const { namespace: _, ...unplaced } = resource
        const spec = { resource: namespace === undefined ? unplaced : { ...unplaced, namespace } }
        const old = isUpdate ? aComing(kind, bound({ resource: unplaced }), metadata) : undefined
        const { refused, schema } = await admit(kind, { spec }, { metadata, old })
        assert.deepEqual(schema, [])
        if (expected === undefined) assert.deepEqual(refused, [])
        else assert.match(refused.join('\n'), expected)
        const going = { ...metadata, deletionTimestamp: '2025-06-01T00:00:00Z' }
        assert.deepEqual((await admit(kind, { spec }, { metadata: going, old })).refused, [], 'its finalizers can be removed')
      })

  it('gets no id when it is updated', async () => {
    const { object: old } = await admit(ResourceBinding, bound())
    assert.equal((await admit(ResourceBinding, bound(), { old })).object.metadata.labels, undefined)
  })

  it('knows the old names of purge modes', async () => {
    const tasks = [{ fromCluster: 'a', reason: 'TaintUntolerated', producer: 'TaintManager', purgeMode: 'Immediately' }]
    const { object, schema } = await admit(
      ResourceBinding,
      bound({ gracefulEvictionTasks: tasks, failover: { cluster: { purgeMode: 'Graciously' } } }),
    )
    const { spec } = object as ResourceBinding
    assert.deepEqual([spec.gracefulEvictionTasks?.[0]?.purgeMode, spec.failover?.cluster?.purgeMode], ['Directly', 'Gracefully'])
    assert.deepEqual(schema, [])
  })

  const component = (name: string) => ({ name, replicas: 1 })
  for (const [dependencies, isFine] of [
    ['[{"apiVersion":"v1","kind":"Secret","namespace":"work","name":"s"}]', true],
    ['[]', true],
    ['null', true],
    ['{', false],
    ['{}', false],
    ['["a"]', false],
    ['', false],
  ] as const)
    it(`${isFine ? 'may' : 'may not'} depend on ${JSON.stringify(dependencies)}`, async () => {
      const { refused } = await admit(ResourceBinding, bound(), { metadata: { annotations: { [DEPENDENCIES_ANNOTATION]: dependencies } } })
      assert.equal(refused.length, isFine ? 0 : 1)
      if (!isFine)
        assert.match(
          refused[0] ?? '',
          /^metadata\.annotations\.resourcebinding\.karmada\.io\/dependencies: .*: annotation value must be a valid JSON$/,
        )
    })

  it('has components of different names', async () => {
    assert.deepEqual((await admit(ResourceBinding, bound({ components: [component('a'), component('b')] }))).refused, [])
    assert.deepEqual((await admit(ResourceBinding, bound({ components: [component('a'), component('a'), component('')] }))).refused, [
      'spec.components[1].name: Invalid value: "a": component names must be unique',
      'spec.components[2].name: Invalid value: "": component names must be non-empty',
    ])
  })
})

describe('a Work', () => {
  const manifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'work', labels: { z: '1', b: '2' }, annotations: { y: '1' } },
  }
  const work = { spec: { workload: { manifests: [manifest] } } }

  it('gets its id, and says in the manifest whose it is and what is managed', async () => {
    const { object, schema } = await admit(Work, work)
    const id = object.metadata.labels?.[WORK_ID] ?? ''
    assert.notEqual(id, '')
    assert.deepEqual(schema, [])
    assert.deepEqual((object as Work).spec.workload?.manifests?.[0]?.metadata, {
      name: 'c',
      namespace: 'work',
      labels: { z: '1', b: '2', [WORK_ID]: id },
      annotations: {
        y: '1',
        [MANAGED_ANNOTATIONS]: [MANAGED_ANNOTATIONS, MANAGED_LABELS, 'y'].join(','),
        [MANAGED_LABELS]: ['b', WORK_ID, 'z'].join(','),
      },
    })
  })

  it('is as it was when it comes again', async () => {
    const { object: old } = await admit(Work, work)
    const again = await admit(Work, { spec: old.spec }, { old, metadata: old.metadata })
    assert.deepEqual(again.object, old)
  })

  it('forgets a key that the template dropped', async () => {
    const { object: old } = await admit(Work, work)
    const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
    const { object } = await admit(Work, { spec: { workload: { manifests: [bare] } } }, { old, metadata: old.metadata })
    const metadata = (object as Work).spec.workload?.manifests?.[0]?.metadata as { annotations: Record<string, string> }
    assert.equal(metadata.annotations[MANAGED_LABELS], WORK_ID)
    assert.equal(metadata.annotations[MANAGED_ANNOTATIONS], `${MANAGED_ANNOTATIONS},${MANAGED_LABELS}`)
  })
})
