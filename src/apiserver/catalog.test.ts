import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KindDefinition } from '../kinds/kind.ts'
import { bucketOf, createCatalog } from './catalog.ts'

function definition(plural: string, more: Partial<KindDefinition> = {}): KindDefinition {
  const kind = plural[0]?.toUpperCase() + plural.slice(1, -1)
  return {
    group: 'example.com',
    kind,
    listKind: `${kind}List`,
    plural,
    singular: plural.slice(0, -1),
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: ['get'],
    versions: [
      { name: 'v1', served: true, schema: {} as never },
      { name: 'v2', served: false, schema: {} as never },
    ],
    storageVersion: 'v2',
    subresources: [],
    rules: {},
    builtin: false,
    ...more,
  }
}

describe('the catalog', () => {
  it('finds served versions by path and by kind, and the stored one by name', () => {
    const catalog = createCatalog([definition('widgets')])
    const served = catalog.find('example.com', 'v1', 'widgets')
    assert.equal(served?.apiVersion, 'example.com/v1')
    assert.equal(served?.storageApiVersion, 'example.com/v2')
    assert.equal(served?.bucket, 'widgets.example.com')
    assert.equal(catalog.findKind('example.com', 'v1', 'Widget'), served)
    assert.equal(catalog.find('example.com', 'v2', 'widgets'), undefined, 'v2 is stored, not served')
    assert.equal(catalog.findStored('example.com', 'widgets')?.version.name, 'v2')
    for (const name of ['__proto__', 'constructor', ''])
      assert.equal(catalog.find(name, name, name) ?? catalog.findKind(name, name, name) ?? catalog.findStored(name, name), undefined)
  })

  it('replaces a definition whole, and grows its epoch with every change', () => {
    const catalog = createCatalog([])
    let reported = 0
    const stop = catalog.onChange(() => reported++)
    catalog.put(definition('widgets'))
    const before = catalog.epoch
    const only = [{ name: 'v3', served: true, schema: {} as never }]
    catalog.put(definition('widgets', { versions: only, storageVersion: 'v3', kind: 'Gadget' }))
    assert.equal(catalog.epoch, before + 1)
    assert.equal(catalog.find('example.com', 'v1', 'widgets'), undefined)
    assert.equal(catalog.findKind('example.com', 'v1', 'Widget'), undefined)
    assert.equal(catalog.findKind('example.com', 'v3', 'Gadget')?.definition.plural, 'widgets')
    assert.equal(catalog.definitions().length, 1)
    catalog.remove('example.com', 'nothing')
    assert.equal(catalog.epoch, before + 1, 'nothing changed')
    catalog.remove('example.com', 'widgets')
    assert.deepEqual(catalog.definitions(), [])
    assert.equal(reported, 3)
    stop()
    catalog.put(definition('widgets'))
    assert.equal(reported, 3)
  })

  it('gives the same list of definitions until something changes', () => {
    const catalog = createCatalog([definition('widgets')])
    assert.equal(catalog.definitions(), catalog.definitions())
    const before = catalog.definitions()
    catalog.put(definition('gadgets'))
    assert.notEqual(catalog.definitions(), before)
  })

  it('never lets a definition take the place of a built-in kind', () => {
    const builtin = definition('deployments', { group: 'apps', builtin: true })
    const catalog = createCatalog([builtin])
    catalog.put(definition('deployments', { group: 'apps' }))
    assert.equal(catalog.find('apps', 'v1', 'deployments')?.definition, builtin)
    catalog.put(definition('others', { group: 'apps', kind: 'Deployment' }))
    assert.equal(catalog.findKind('apps', 'v1', 'Deployment')?.definition, builtin)
    catalog.remove('apps', 'others')
    catalog.remove('apps', 'deployments')
    assert.equal(catalog.find('apps', 'v1', 'deployments')?.definition, builtin)
    assert.equal(catalog.findKind('apps', 'v1', 'Deployment')?.definition, builtin)
  })

  it('never lets a definition take the place of a kind that it was made with, built in or not', () => {
    const own = definition('gauges')
    const catalog = createCatalog([own])
    const { epoch } = catalog
    assert.equal(catalog.fixed('example.com', 'gauges'), own)
    catalog.put(definition('gauges', { kind: 'Other', namespaced: false }))
    catalog.remove('example.com', 'gauges')
    assert.deepEqual([catalog.epoch, catalog.definitions()], [epoch, [own]])
    catalog.put(definition('others', { kind: 'Gauge' }))
    assert.equal(catalog.fixed('example.com', 'others'), undefined)
    assert.equal(catalog.findKind('example.com', 'v1', 'Gauge')?.definition, own)
    catalog.remove('example.com', 'others')
    assert.equal(catalog.findKind('example.com', 'v1', 'Gauge')?.definition, own)
  })

  it('knows which groups are its own', () => {
    const catalog = createCatalog([definition('pods', { group: '', builtin: true }), definition('widgets')])
    assert.deepEqual(
      [catalog.hasBuiltinGroup(''), catalog.hasBuiltinGroup('example.com'), catalog.hasBuiltinGroup('x')],
      [true, false, false],
    )
  })

  it('names buckets as kubectl names resources', () => {
    assert.deepEqual([bucketOf('', 'pods'), bucketOf('apps', 'deployments')], ['pods', 'deployments.apps'])
  })
})
