import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aConfigMap, aDefinition, aNamespace, anEvent, aWidget } from '../../src/faultsim/builders/index.ts'
import { conditionsOf, expectGone, expectThere } from '../../src/faultsim/expect/index.ts'
import { story } from '../../src/faultsim/story.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, EVENTS, NAMESPACES } from '../../src/kinds/kubernetes/resources.ts'
import type { Resource } from '../../src/kube/resource.ts'

const WIDGETS: Resource = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true }
const held = { metadata: { finalizers: ['example.com/hold'] } }

describe('a namespace that is deleted', () => {
  story('takes everything in it along, events and custom resources too', async (world) => {
    const { hub } = world
    await hub.create(aNamespace('a'))
    await hub.create(aDefinition('Widget'))
    await world.settle()
    for (const object of [aConfigMap('a/one'), aConfigMap('a/two'), anEvent('a/news'), aWidget('a/w')]) await hub.create(object)
    await hub.create(aConfigMap('default/stays'))
    await hub.delete(NAMESPACES, 'a')
    assert.equal(((await expectThere(hub, NAMESPACES, 'a')).status as { phase: string }).phase, 'Terminating')
    await world.settle()
    await expectGone(hub, NAMESPACES, 'a')
    assert.deepEqual(await hub.list(WIDGETS), [])
    assert.deepEqual(await hub.list(EVENTS), [])
    await expectThere(hub, CONFIG_MAPS, 'default/stays')
  })

  story('waits for finalizers, says for which, and goes when they are gone', async (world) => {
    const { hub } = world
    await hub.create(aNamespace('a'))
    await hub.create(aDefinition('Widget'))
    await world.settle()
    await hub.create(aConfigMap('a/one', held))
    await hub.create(aWidget('a/w', held))
    await hub.create(aWidget('a/free'))
    await hub.delete(NAMESPACES, 'a')
    await world.settle()

    const conditions = conditionsOf(await expectThere(hub, NAMESPACES, 'a'))
    const texts = [...conditions.values()].map(({ type, status, reason, message }) => [type, status, reason, message])
    assert.deepEqual(texts, [
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
      [
        'NamespaceContentRemaining',
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 1 resource instances',
      ],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances',
      ],
    ])

    await world.advance(60_000)
    await hub.patch(CONFIG_MAPS, 'a/one', { metadata: { finalizers: null } })
    await world.settle()
    const later = conditionsOf(await expectThere(hub, NAMESPACES, 'a')).get('NamespaceContentRemaining')
    assert.equal(later?.message, 'Some resources are remaining: widgets.example.com has 1 resource instances')
    assert.equal(later?.lastTransitionTime, conditions.get('NamespaceContentRemaining')?.lastTransitionTime)

    await hub.patch(WIDGETS, 'a/w', { metadata: { finalizers: null } })
    await world.settle()
    await expectGone(hub, NAMESPACES, 'a')
  })

  story('goes although the definition of what is in it goes at the same time', async (world) => {
    const { hub } = world
    await hub.create(aNamespace('a'))
    await hub.create(aDefinition('Widget'))
    await world.settle()
    await hub.create(aWidget('a/w'))
    await hub.delete(CUSTOM_RESOURCE_DEFINITIONS, 'widgets.example.com')
    await hub.delete(NAMESPACES, 'a')
    await world.settle()
    await expectGone(hub, NAMESPACES, 'a')
    await expectGone(hub, CUSTOM_RESOURCE_DEFINITIONS, 'widgets.example.com')
  })

  story('can come again under the same name', async (world) => {
    const { hub } = world
    for (const round of ['first', 'second']) {
      await hub.create(aNamespace('a', { metadata: { labels: { round } } }))
      await world.settle()
      await hub.create(aConfigMap('a/one'))
      await hub.delete(NAMESPACES, 'a')
      await world.settle()
      await expectGone(hub, NAMESPACES, 'a')
    }
  })
})
