import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aClusterRole, aCog, aConfigMap, aDefinition, aNamespace, aWidget, blockedBy, ownedBy } from '../../src/faultsim/builders/index.ts'
import { expectGone, expectThere } from '../../src/faultsim/expect/index.ts'
import { story } from '../../src/faultsim/story.ts'
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../src/kube/meta.ts'
import type { Resource } from '../../src/kube/resource.ts'

const custom = (plural: string, kind: string, namespaced = true): Resource => ({
  group: 'example.com',
  version: 'v1',
  plural,
  kind,
  namespaced,
})
const WIDGETS = custom('widgets', 'Widget')
const COGS = custom('cogs', 'Cog', false)
const held = { metadata: { finalizers: ['example.com/hold'] } }
const ownersOf = (object: KubeObject): string[] => (object.metadata.ownerReferences ?? []).map((reference) => reference.name)

describe('deleting an owner', () => {
  story('in the background: the owner goes at once, all below it follow', async (world) => {
    const { hub } = world
    const top = await hub.create(aConfigMap('default/top'))
    const middle = await hub.create(aConfigMap('default/middle', ownedBy(top)))
    await hub.create(aConfigMap('default/bottom', ownedBy(middle)))
    await hub.create(aConfigMap('default/stranger'))
    await world.settle()
    await hub.delete(CONFIG_MAPS, 'default/top', { propagationPolicy: 'Background' })
    await expectGone(hub, CONFIG_MAPS, 'default/top')
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/middle')
    await expectGone(hub, CONFIG_MAPS, 'default/bottom')
    await expectThere(hub, CONFIG_MAPS, 'default/stranger')
  })

  story('in the foreground: it waits for those that block it, and for nobody else', async (world) => {
    const { hub } = world
    const top = await hub.create(aConfigMap('default/top'))
    const middle = await hub.create(aConfigMap('default/middle', ownedBy(blockedBy(top))))
    await hub.create(aConfigMap('default/bottom', ownedBy(blockedBy(middle)), { metadata: held.metadata }))
    await hub.create(aConfigMap('default/aside', ownedBy(top)))
    await world.settle()
    await hub.delete(CONFIG_MAPS, 'default/top', { propagationPolicy: 'Foreground' })
    await world.settle()
    for (const name of ['top', 'middle', 'bottom']) {
      const found = await expectThere(hub, CONFIG_MAPS, `default/${name}`)
      assert.ok(found.metadata.deletionTimestamp !== undefined, name)
    }
    await expectGone(hub, CONFIG_MAPS, 'default/aside')
    await hub.patch(CONFIG_MAPS, 'default/bottom', { metadata: { finalizers: null } })
    await world.settle()
    for (const name of ['top', 'middle', 'bottom']) await expectGone(hub, CONFIG_MAPS, `default/${name}`)
  })

  story('in the foreground: a held dependent that does not block does not delay it', async (world) => {
    const { hub } = world
    const top = await hub.create(aConfigMap('default/top'))
    await hub.create(aConfigMap('default/held', ownedBy(top), { metadata: held.metadata }))
    await world.settle()
    await hub.delete(CONFIG_MAPS, 'default/top', { propagationPolicy: 'Foreground' })
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/top')
    assert.ok((await expectThere(hub, CONFIG_MAPS, 'default/held')).metadata.deletionTimestamp !== undefined)
  })

  story('in the foreground: owners in a circle do not wait for each other for ever', async (world) => {
    const { hub } = world
    const a = await hub.create(aConfigMap('default/a'))
    const b = await hub.create(aConfigMap('default/b', ownedBy(blockedBy(a))))
    await hub.patch(CONFIG_MAPS, 'default/a', ownedBy(blockedBy(b)))
    await world.settle()
    await hub.delete(CONFIG_MAPS, 'default/a', { propagationPolicy: 'Foreground' })
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/a')
    await expectGone(hub, CONFIG_MAPS, 'default/b')
  })

  story('as an orphanage: dependents stay and forget it, and it alone', async (world) => {
    const { hub } = world
    const top = await hub.create(aConfigMap('default/top'))
    const other = await hub.create(aConfigMap('default/other'))
    await hub.create(aConfigMap('default/one', ownedBy(top)))
    await hub.create(aConfigMap('default/two', ownedBy(top, other)))
    await world.settle()
    await hub.delete(CONFIG_MAPS, 'default/top', { propagationPolicy: 'Orphan' })
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/top')
    assert.deepEqual(ownersOf(await expectThere(hub, CONFIG_MAPS, 'default/one')), [])
    assert.deepEqual(ownersOf(await expectThere(hub, CONFIG_MAPS, 'default/two')), ['other'])
  })

  story('of several: the others keep the dependent, the last takes it along', async (world) => {
    const { hub } = world
    const one = await hub.create(aConfigMap('default/one'))
    const two = await hub.create(aConfigMap('default/two'))
    await hub.create(aConfigMap('default/shared', ownedBy(one, two)))
    await world.settle()
    await hub.delete(CONFIG_MAPS, 'default/one')
    await world.settle()
    assert.deepEqual(ownersOf(await expectThere(hub, CONFIG_MAPS, 'default/shared')), ['two'])
    await hub.delete(CONFIG_MAPS, 'default/two')
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/shared')
  })

  story('many dependents at once', async (world) => {
    const { hub } = world
    const top = await hub.create(aConfigMap('default/top'))
    for (let i = 0; i < 100; i++) await hub.create(aConfigMap(`default/part-${i}`, ownedBy(blockedBy(top))))
    await world.settle()
    hub.takeControllerWrites()
    await hub.delete(CONFIG_MAPS, 'default/top', { propagationPolicy: 'Foreground' })
    await world.settle()
    assert.deepEqual(
      await hub.list(CONFIG_MAPS, { namespace: 'default', labelSelector: '' }).then((all) => all.map((one) => one.metadata.name)),
      ['kube-root-ca.crt'],
    )
    assert.equal(hub.takeControllerWrites().length, 101, 'one deletion each, and one for the finalizer of the owner')
  })
})

describe('an owner that is not what the reference says', () => {
  story('never existed: the dependent goes', async (world) => {
    const { hub } = world
    const ghost = { ...aConfigMap('default/ghost'), metadata: { name: 'ghost', uid: '00000000-0000-4000-8000-000000000000' } }
    await hub.create(aConfigMap('default/owned', ownedBy(ghost)))
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/owned')
  })

  story('has another life by now: what belonged to the first goes, what belongs to the second stays', async (world) => {
    const { hub } = world
    const first = await hub.create(aConfigMap('default/owner'))
    await hub.create(aConfigMap('default/of-first', ownedBy(first)))
    await world.settle()
    await hub.inside(async () => {
      await hub.client.delete(CONFIG_MAPS, { namespace: 'default', name: 'owner' })
      const second = await hub.client.create(CONFIG_MAPS, aConfigMap('default/owner'))
      await hub.client.create(CONFIG_MAPS, aConfigMap('default/of-second', ownedBy(second)))
    })
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/of-first')
    await expectThere(hub, CONFIG_MAPS, 'default/of-second')
    await expectThere(hub, CONFIG_MAPS, 'default/owner')
  })

  story('lives in another namespace: owners do not reach across, so the dependent goes', async (world) => {
    const { hub } = world
    await hub.create(aNamespace('a'))
    const owner = await hub.create(aConfigMap('a/owner'))
    await hub.create(aConfigMap('default/owned', ownedBy(owner)))
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/owned')
    await expectThere(hub, CONFIG_MAPS, 'a/owner')
  })

  story('is inside a namespace while the dependent is in none: nobody can tell, so it stays', async (world) => {
    const { hub } = world
    const owner = await hub.create(aConfigMap('default/owner'))
    await hub.create(aClusterRole('owned', ownedBy(owner)))
    await hub.delete(CONFIG_MAPS, 'default/owner')
    await world.settle()
    await expectThere(
      hub,
      { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', kind: 'ClusterRole', namespaced: false },
      'owned',
    )
  })

  story('is of a kind nobody serves: it stays, until the kind is served and the owner is not there', async (world) => {
    const { hub } = world
    const ghost = aWidget('default/ghost', { metadata: { uid: '00000000-0000-4000-8000-000000000000' } })
    await hub.create(aConfigMap('default/owned', ownedBy(ghost)))
    await world.settle()
    await world.advance(10 * 60_000)
    await expectThere(hub, CONFIG_MAPS, 'default/owned')
    await hub.create(aDefinition('Widget'))
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/owned')
  })
})

describe('owners of other kinds', () => {
  story('custom resources own built-in ones, and are owned by them', async (world) => {
    const { hub } = world
    await hub.create(aDefinition('Widget'))
    await world.settle()
    const widget = await hub.create(aWidget('default/w'))
    const map = await hub.create(aConfigMap('default/of-widget', ownedBy(widget)))
    await hub.create(aWidget('default/of-map', ownedBy(map)))
    await world.settle()
    await hub.delete(WIDGETS, 'default/w')
    await world.settle()
    await expectGone(hub, CONFIG_MAPS, 'default/of-widget')
    await expectGone(hub, WIDGETS, 'default/of-map')
  })

  story('cluster-scoped owners have dependents in namespaces', async (world) => {
    const { hub } = world
    await hub.create(aDefinition('Cog', 'Cluster'))
    await hub.create(aNamespace('a'))
    await world.settle()
    const cog = await hub.create(aCog('c'))
    await hub.create(aConfigMap('default/one', ownedBy(cog)))
    await hub.create(aConfigMap('a/two', ownedBy(blockedBy(cog))))
    await world.settle()
    await hub.delete(COGS, 'c', { propagationPolicy: 'Foreground' })
    await world.settle()
    await expectGone(hub, COGS, 'c')
    await expectGone(hub, CONFIG_MAPS, 'default/one')
    await expectGone(hub, CONFIG_MAPS, 'a/two')
    await expectThere(hub, NAMESPACES, 'a')
  })

  story('a definition owns, and its instances take their own dependents along', async (world) => {
    const { hub } = world
    const definition = await hub.create(aDefinition('Widget'))
    await world.settle()
    await hub.create(aConfigMap('default/of-definition', ownedBy(definition)))
    const widget = await hub.create(aWidget('default/w'))
    await hub.create(aConfigMap('default/of-widget', ownedBy(widget)))
    await world.settle()
    await hub.delete(CUSTOM_RESOURCE_DEFINITIONS, 'widgets.example.com')
    await world.settle()
    await expectGone(hub, CUSTOM_RESOURCE_DEFINITIONS, 'widgets.example.com')
    await expectGone(hub, CONFIG_MAPS, 'default/of-definition')
    await expectGone(hub, CONFIG_MAPS, 'default/of-widget')
  })
})
