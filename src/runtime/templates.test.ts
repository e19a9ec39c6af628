import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ClusterCache, Located } from '../client/cache/cluster-cache.ts'
import { type CacheEvent, ObjectCache } from '../client/cache/object-cache.ts'
import { runClusterCache } from '../client/cache/testing.ts'
import { World } from '../faultsim/world/index.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../kinds/kubernetes/resources.ts'
import type { KubeObject } from '../kube/meta.ts'
import { keyOfResource, type Resource } from '../kube/resource.ts'
import { type LabelSelectorObject, matchesLabels, selectorFromObject } from '../kube/selector.ts'
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
    assert.deepEqual(names(templates.inNamespace('default', { matchLabels: { app: 'web' } })), ['default/web'])
    assert.deepEqual(names(templates.inNamespace('other', { matchExpressions: [{ key: 'app', operator: '?' }] })), [])
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
    const versions = () => [...templates.inNamespace('default', undefined)].map(({ object }) => object.apiVersion)
    assert.ok(versions().includes('example.io/v1'))
    await hub.delete(
      { ...DEPLOYMENTS, group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions', namespaced: false },
      definition.metadata.name,
    )
    await world.settle()
    assert.deepEqual(
      templates.ofBinding('default', 'web-configmap').map(({ object }) => object.apiVersion),
      ['v1'],
    )
    assert.ok(!versions().includes('example.io/v1'))
    await world.stop()
  })
})

const ROLES: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
}
const LEASES: Resource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true }

/** The part of a cluster cache that templates use, changed by the test instead of a server. */
class Cluster {
  readonly #caches = new Map<string, { resource: Resource; cache: ObjectCache }>()
  readonly #resourceHandlers = new Set<() => void>()
  readonly #handlers = new Set<(resource: Resource, event: CacheEvent) => void>()
  #revision = 0

  readonly view = {
    all: () => this.all(),
    resourceByKey: (key: string) => this.#caches.get(key)?.resource,
    subscribe: (handler) => this.#handlers.add(handler) && (() => undefined),
    onResources: (handler) => this.#resourceHandlers.add(handler) && (() => undefined),
    ready: async () => undefined,
    isComplete: () => true,
  } satisfies Partial<ClusterCache>

  templates(): Templates {
    return createTemplates(this.view as Partial<ClusterCache> as ClusterCache, propagatable)
  }

  all(): Located[] {
    return [...this.#caches.values()].flatMap(({ resource, cache }) => cache.list().map((object) => ({ resource, object })))
  }

  put(of: Resource, namespace: string, { name, labels }: { name: string; labels: Record<string, string> | undefined }): void {
    const { resource, cache } = this.#follow(of)
    const uid = cache.get(of.namespaced ? namespace : '', name)?.metadata.uid ?? `${this.#revision}`
    const scope = of.namespaced ? { namespace } : {}
    const apiVersion = of.group === '' ? of.version : `${of.group}/${of.version}`
    cache.put({ apiVersion, kind: resource.kind, metadata: { ...scope, name, labels, uid, resourceVersion: `${++this.#revision}` } })
  }

  delete(of: Resource, namespace: string, name: string): void {
    const found = this.#caches.get(keyOfResource(of))?.cache.get(of.namespaced ? namespace : '', name)
    if (found !== undefined) this.#follow(of).cache.remove(found)
  }

  /** As when its definition is deleted: no deletion is reported. */
  leave(of: Resource): void {
    this.#caches.delete(keyOfResource(of))
    for (const handler of this.#resourceHandlers) handler()
  }

  #follow(of: Resource): { resource: Resource; cache: ObjectCache } {
    const known = this.#caches.get(keyOfResource(of))
    if (known !== undefined) return known
    const followed = { resource: { ...of }, cache: new ObjectCache() }
    this.#caches.set(keyOfResource(of), followed)
    followed.cache.subscribe((event) => {
      for (const handler of this.#handlers) handler(followed.resource, event)
    })
    for (const handler of this.#resourceHandlers) handler()
    return followed
  }
}

/** Labels that count how often they are enumerated, and how often they are looked at. */
function observed(labels: Record<string, string>, seen: { listed: number; looked: number }): Record<string, string> {
  return new Proxy(labels, {
    ownKeys(target) {
      seen.listed++
      return Reflect.ownKeys(target)
    },
    getOwnPropertyDescriptor(target, key) {
      seen.looked++
      return Reflect.getOwnPropertyDescriptor(target, key)
    },
  })
}

describe('templates of a namespace', () => {
  const within = (templates: Templates, namespace: string, selector?: LabelSelectorObject) =>
    [...templates.inNamespace(namespace, selector)].map(({ object }) => object.metadata.name).sort()

  it('are found by their labels, of every kind, and by nothing else', () => {
    const cluster = new Cluster()
    cluster.put(CONFIG_MAPS, 'a', { name: 'settings', labels: { app: 'web', tier: 'front' } })
    cluster.put(DEPLOYMENTS, 'a', { name: 'web', labels: { app: 'web' } })
    cluster.put(DEPLOYMENTS, 'a', { name: 'bare', labels: undefined })
    cluster.put(DEPLOYMENTS, 'b', { name: 'far', labels: { app: 'web' } })
    cluster.put(LEASES, 'a', { name: 'never', labels: { app: 'web' } })
    cluster.put(ROLES, '', { name: 'role', labels: { app: 'web' } })
    const templates = cluster.templates()
    const CASES: [string, LabelSelectorObject | undefined, string[]][] = [
      ['a', undefined, ['bare', 'settings', 'web']],
      ['a', {}, ['bare', 'settings', 'web']],
      ['a', { matchLabels: { app: 'web' } }, ['settings', 'web']],
      ['a', { matchLabels: { app: 'web', tier: 'front' } }, ['settings']],
      ['a', { matchLabels: { app: 'web', tier: 'back' } }, []],
      ['a', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['back', 'front', 'front'] }] }, ['settings']],
      ['a', { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, ['bare', 'web']],
      ['a', { matchExpressions: [{ key: 'tier', operator: 'Near' }] }, []],
      ['', { matchLabels: { app: 'web' } }, ['role']],
      ['c', undefined, []],
    ]
    for (const [namespace, selector, expected] of CASES)
      assert.deepEqual(within(templates, namespace, selector), expected, `${namespace} ${JSON.stringify(selector)}`)
  })

  it('cost nothing before somebody asks, and then only the candidates of the rarest label', () => {
    const cluster = new Cluster()
    const templates = cluster.templates()
    const seen = { listed: 0, looked: 0 }
    for (let i = 0; i < 200; i++)
      cluster.put(CONFIG_MAPS, 'a', { name: `m${i}`, labels: observed({ app: 'web', ...(i < 2 ? { tier: `${i}` } : {}) }, seen) })
    assert.equal(seen.listed, 0, 'nobody has asked for labels yet')
    within(templates, 'a')
    assert.equal(seen.listed, 200, 'the index is built once')
    cluster.put(CONFIG_MAPS, 'a', { name: 'm200', labels: observed({ app: 'web' }, seen) })
    seen.looked = 0
    assert.deepEqual(within(templates, 'a', { matchLabels: { app: 'web', tier: '1' } }), ['m1'])
    const either = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['0', '1', '2'] }] }
    assert.deepEqual(within(templates, 'a', either), ['m0', 'm1'])
    assert.ok(seen.looked <= 6, `${seen.looked} looks at three candidates with two requirements each`)
    assert.equal(seen.listed, 201)
  })

  it('are what a scan finds, whatever happened before and after the first question', () => {
    const kind = fc.constantFrom(CONFIG_MAPS, DEPLOYMENTS, ROLES, LEASES)
    const namespace = fc.constantFrom('a', 'b')
    const name = fc.constantFrom('one', 'two', 'three')
    const key = fc.constantFrom('app', 'tier', 'constructor')
    const value = fc.constantFrom('', 'x', 'y')
    const labels = fc.option(fc.dictionary(key, value), { nil: undefined })
    const values = fc.array(value, { minLength: 1, maxLength: 3 })
    const selector = fc.record({
      matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
      matchExpressions: fc.array(
        fc.oneof(
          fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values }),
          fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
        ),
        { maxLength: 2 },
      ),
    })
    const put = fc.record({ do: fc.constant('put' as const), kind, namespace, name, labels })
    const step = fc.oneof(
      { weight: 6, arbitrary: put },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), kind, namespace, name }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), kind }) },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('ask' as const),
          namespace: fc.constantFrom('a', 'b', ''),
          selector: fc.option(selector, { nil: undefined }),
        }),
      },
    )
    let found = 0
    const check = (cluster: Cluster, templates: Templates, ask: { namespace: string; selector: LabelSelectorObject | undefined }) => {
      const parsed = selectorFromObject(ask.selector).value ?? []
      const expected = cluster
        .all()
        .filter(({ resource }) => propagatable.isPropagatable(resource))
        .filter(({ object: { metadata } }) => (metadata.namespace ?? '') === ask.namespace && matchesLabels(parsed, metadata.labels))
      const reported = ({ resource, object }: Located) => `${resource.kind} ${object.metadata.name} ${object.metadata.resourceVersion}`
      found += expected.length
      assert.deepEqual([...templates.inNamespace(ask.namespace, ask.selector)].map(reported).sort(), expected.map(reported).sort())
    }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const cluster = new Cluster()
        const templates = cluster.templates()
        for (const one of steps) {
          if (one.do === 'put') cluster.put(one.kind, one.namespace, one)
          else if (one.do === 'delete') cluster.delete(one.kind, one.namespace, one.name)
          else if (one.do === 'leave') cluster.leave(one.kind)
          else check(cluster, templates, one)
        }
        for (const scope of ['a', 'b', '']) check(cluster, templates, { namespace: scope, selector: undefined })
      }),
      { numRuns: 300 },
    )
    assert.ok(found > 500, `only ${found} templates were found`)
  })
})
