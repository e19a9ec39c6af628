import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Located } from '../../client/cache/cluster-cache.ts'
import type { Informer } from '../../client/cache/informer.ts'
import { type CacheEvent, ObjectCache } from '../../client/cache/object-cache.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../../kinds/kubernetes/resources.ts'
import type { DataSourceClaim } from '../../kinds/volcano/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { keyOfObject } from '../../kube/object-reference.ts'
import { type LabelSelectorObject, matchesLabels, selectorFromObject } from '../../kube/selector.ts'
import type { Templates } from '../../runtime/templates.ts'
import { createClaimedTemplates } from './claimed-templates.ts'

/** Templates without an index: what the real ones must answer. */
function plainTemplates() {
  const caches = new Map([DEPLOYMENTS, CONFIG_MAPS].map((resource) => [resource.kind, { resource, cache: new ObjectCache() }]))
  const all = (): Located[] => [...caches.values()].flatMap(({ resource, cache }) => cache.list().map((object) => ({ resource, object })))
  const templates = {
    get: ({ kind, namespace = '', name }: { kind: string; namespace?: string; name: string }) =>
      caches.get(kind)?.cache.get(namespace, name),
    resourceOf: (_apiVersion: string, kind: string) => caches.get(kind)?.resource,
    inNamespace: (namespace: string, selector: LabelSelectorObject) => {
      const { value = [] } = selectorFromObject(selector)
      return all().filter(({ object }) => object.metadata.namespace === namespace && matchesLabels(value, object.metadata.labels))
    },
    subscribe(handler: (located: Located, event: CacheEvent) => void) {
      for (const { resource, cache } of caches.values()) cache.subscribe((event) => handler({ resource, object: event.object }, event))
      return () => undefined
    },
  } as unknown as Templates
  return { templates, caches, all }
}

const NAMES = ['x', 'y']
const NAMESPACES = ['a', 'b']
const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('1', '2'))
let revision = 0

const template = fc
  .record({
    kind: fc.constantFrom('Deployment', 'ConfigMap'),
    namespace: fc.constantFrom(...NAMESPACES),
    name: fc.constantFrom(...NAMES),
    labels,
    claims: fc.option(
      fc.oneof(
        fc.subarray(['c1', 'c2', 'c3'], { minLength: 1 }).map((names) => names.join(', ')),
        fc.string(),
      ),
      { nil: undefined },
    ),
  })
  .map(({ kind, namespace, name, labels: own, claims }): (() => KubeObject) => () => ({
    apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1',
    kind,
    metadata: {
      namespace,
      name,
      uid: `${kind}/${namespace}/${name}`,
      resourceVersion: String(++revision),
      labels: own,
      ...(claims === undefined ? {} : { annotations: { 'sluice.dev/claims': claims } }),
    },
  }))

const claim = fc
  .record({
    namespace: fc.constantFrom(...NAMESPACES),
    name: fc.constantFrom('c1', 'c2', 'c3'),
    spec: fc.oneof(
      fc.constant(undefined),
      fc
        .constantFrom('Deployment', 'ConfigMap', 'Secret')
        .chain((kind) =>
          fc.constantFrom(...NAMES).map((name) => ({ workload: { apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1', kind, name } })),
        ),
      fc
        .oneof(
          fc.constant({}),
          labels.map((matchLabels) => ({ matchLabels })),
        )
        .map((workloadSelector) => ({ workloadSelector })),
    ),
  })
  .map(({ namespace, name, spec }): (() => KubeObject) => () => ({
    apiVersion: 'datadependency.volcano.sh/v1alpha1',
    kind: 'DataSourceClaim',
    metadata: { namespace, name, uid: `${namespace}/${name}`, resourceVersion: String(++revision) },
    ...(spec === undefined ? {} : { spec }),
  }))

const step = fc.oneof(
  template.map((make) => ({ do: 'put-template' as const, make })),
  template.map((make) => ({ do: 'remove-template' as const, make })),
  claim.map((make) => ({ do: 'put-claim' as const, make })),
  claim.map((make) => ({ do: 'remove-claim' as const, make })),
)

const textOf = ({ object }: Located): string => `${object.kind} ${keyOfObject(object)}`

describe('templates and claims find each other', () => {
  it('in both directions alike, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const { templates, caches, all } = plainTemplates()
        const claims = new ObjectCache()
        const reported = new Set<string>()
        const claimed = createClaimedTemplates(templates, claims as unknown as Informer)
        claimed.subscribe((ref) => reported.add(`${ref.namespace}/${ref.name}`))
        for (const { do: what, make } of steps) {
          const object = make()
          const cache = what.endsWith('claim') ? claims : caches.get(object.kind)?.cache
          const before = what.endsWith('template') ? cache?.get(object.metadata.namespace ?? '', object.metadata.name ?? '') : undefined
          const concerned = before === undefined ? [] : claimed.claimsOf(before)
          reported.clear()
          if (what.startsWith('put')) cache?.put(object)
          else cache?.remove(object)
          if (what === 'put-template')
            for (const key of JSON.stringify(before?.metadata.labels) === JSON.stringify(object.metadata.labels)
              ? []
              : [...concerned, ...claimed.claimsOf(object)])
              assert.ok(reported.has(key), `${key} was not reported`)
          if (what === 'remove-template' && before !== undefined)
            for (const key of concerned) assert.ok(reported.has(key), `${key} was not reported`)
        }
        for (const one of claims.list() as unknown as DataSourceClaim[]) {
          const found = claimed.of(one).map(textOf).sort()
          assert.equal(new Set(found).size, found.length)
          const expected = all()
            .filter(({ object }) => claimed.claimsOf(object).includes(keyOfObject(one)))
            .map(textOf)
          assert.deepEqual(found, expected.sort())
          assert.ok(
            claimed.of(one).every(({ object }) => object.metadata.namespace === one.metadata.namespace),
            'never across namespaces',
          )
        }
      }),
      { numRuns: 300 },
    )
  })

  it('name the binding of a workload also when the workload is gone', () => {
    const { templates } = plainTemplates()
    const claimed = createClaimedTemplates(templates, new ObjectCache() as unknown as Informer)
    const spec = { workload: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'Web' } }
    const one = { metadata: { namespace: 'a', name: 'c1' }, spec } as unknown as DataSourceClaim
    assert.deepEqual(claimed.bindingsOf(one), [{ namespace: 'a', name: 'web-deployment' }])
  })
})
