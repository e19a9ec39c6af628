import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Located } from '../client/cache/cluster-cache.ts'
import { runClusterCache } from '../client/cache/testing.ts'
import { World } from '../faultsim/world/index.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { MODULES } from '../modules.ts'
import { propagatableBy } from './module/run-modules.ts'
import { createTemplates, type Templates } from './templates.ts'

const propagatable = propagatableBy(MODULES)
const ID = 'propagationpolicy.karmada.io/permanent-id'
const CLUSTER_ID = 'clusterpropagationpolicy.karmada.io/permanent-id'

const aMap = (where: string, labels: Record<string, string> = {}): KubeObject => {
  const [namespace, name] = where.split('/')
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels }, data: { a: '1' } }
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'configmaps.example.io' },
  spec: {
    group: 'example.io',
    scope: 'Namespaced',
    names: { plural: 'configmaps', singular: 'configmap', kind: 'ConfigMap', listKind: 'ConfigMapList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** A hub on which only the view of its templates runs. */
async function aHub(): Promise<{ world: World; templates: Templates; completions: () => number }> {
  let made: Templates | undefined
  let completions = 0
  const controllers = runClusterCache({ whole: propagatable.isPropagatable }, (clusterCache) => {
    made = createTemplates(clusterCache, propagatable)
    made.onComplete(() => completions++)
  })
  const world = new World({ controllers })
  await world.start()
  await world.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await world.settle()
  assert.ok(made !== undefined)
  return { world, templates: made, completions: () => completions }
}

const names = (found: Iterable<Located>): string[] =>
  [...found].map(({ object }) => `${object.metadata.namespace ?? ''}/${object.metadata.name}`).sort()

describe('templates', () => {
  it('are found whole by reference, by binding, by selector and by claim', async () => {
    const { world, templates, completions } = await aHub()
    const { hub } = world
    await hub.create(aMap('default/web', { app: 'web', [ID]: 'id-1' }))
    await hub.create(aMap('other/web', { app: 'web', [CLUSTER_ID]: 'id-2' }))
    await hub.create(aMap('default/db', { app: 'db', [ID]: 'id-1' }))
    await world.settle()
    assert.ok(templates.isComplete())
    assert.ok(completions() > 0)
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'web' }
    assert.deepEqual(templates.get(reference)?.data, { a: '1' })
    assert.deepEqual(templates.resourceOf('v1', 'ConfigMap')?.plural, 'configmaps')
    assert.equal(templates.resourceOf('work.karmada.io/v1alpha2', 'ResourceBinding'), undefined)
    assert.deepEqual(names(templates.ofBinding('default', 'web-configmap')), ['default/web'])
    assert.deepEqual(names(templates.ofBinding('default', 'none-configmap')), [])
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
    const byLabel = { ...kind, labelSelector: { matchLabels: { app: 'web' } } }
    assert.deepEqual(names(templates.selectedBy({ ...kind, name: 'web' })), ['default/web', 'other/web'])
    assert.deepEqual(names(templates.selectedBy({ ...kind, name: 'web' }, 'other')), ['other/web'])
    assert.deepEqual(names(templates.selectedBy({ ...kind, name: 'web', namespace: 'default' }, 'other')), [])
    assert.deepEqual(names(templates.selectedBy(byLabel)), ['default/web', 'other/web'])
    assert.deepEqual(names(templates.selectedBy({ ...byLabel, namespace: 'default' })), ['default/web'])
    assert.deepEqual(names(templates.selectedBy({ ...kind, apiVersion: 'v2' })), [])
    assert.deepEqual(names(templates.selectedBy({ ...byLabel, labelSelector: { matchExpressions: [{ key: 'a', operator: '?' }] } })), [])
    assert.deepEqual(names(templates.claimedBy('id-1')), ['default/db', 'default/web'])
    assert.deepEqual(names(templates.claimedBy('id-2')), ['other/web'])
    await world.stop()
  })

  it('follow changes and deletions, and tell of them', async () => {
    const { world, templates } = await aHub()
    const { hub } = world
    await hub.create(aMap('default/web', { [ID]: 'id-1' }))
    await world.settle()
    const reported: string[] = []
    const stop = templates.subscribe(({ object }, { type }) => object.metadata.name === 'web' && reported.push(type))
    await hub.patch(CONFIG_MAPS, 'default/web', { metadata: { labels: { [ID]: 'id-2' } } })
    await world.settle()
    assert.deepEqual([names(templates.claimedBy('id-1')), names(templates.claimedBy('id-2'))], [[], ['default/web']])
    await hub.delete(CONFIG_MAPS, 'default/web')
    await world.settle()
    assert.deepEqual([names(templates.claimedBy('id-2')), templates.ofBinding('default', 'web-configmap')], [[], []])
    stop()
    await hub.create(aMap('default/web'))
    await world.settle()
    assert.deepEqual(reported, ['added', 'updated', 'deleted'])
    await world.stop()
  })

  it('share a binding name where names collide, also with kinds that come later, and lose them with their kind', async () => {
    const { world, templates } = await aHub()
    const { hub } = world
    const role = (name: string) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules: [] })
    await hub.create(role('team:reader'))
    await hub.create(role('team.reader'))
    await world.settle()
    assert.deepEqual(names(templates.ofBinding('', 'team.reader-clusterrole')), ['/team.reader', '/team:reader'])
    await hub.create(aMap('default/web'))
    await hub.create(definition)
    await world.settle()
    await hub.inside(() =>
      hub.client.create(
        { ...CONFIG_MAPS, group: 'example.io' },
        { apiVersion: 'example.io/v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'web' } },
      ),
    )
    await world.settle()
    const both = templates.ofBinding('default', 'web-configmap').map(({ object }) => object.apiVersion)
    assert.deepEqual(both.sort(), ['example.io/v1', 'v1'])
    await hub.delete(
      { ...DEPLOYMENTS, group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions', namespaced: false },
      definition.metadata.name,
    )
    await world.settle()
    assert.deepEqual(
      templates.ofBinding('default', 'web-configmap').map(({ object }) => object.apiVersion),
      ['v1'],
    )
    await world.stop()
  })
})
