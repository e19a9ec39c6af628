import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Registry } from 'prom-client'
import { runControllers } from '../composition.ts'
import { World, type WorldCluster } from '../faultsim/world/index.ts'
import { CONFIG_MAPS, NAMESPACES } from '../kinds/kubernetes/resources.ts'
import { housekeeping } from '../minicluster/housekeeping/module.ts'
import { METRICS } from './metrics.ts'

/** Every series of a registry: name and labels, without the value. */
const seriesOf = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.slice(0, line.lastIndexOf(' ')))

async function aMeasuredWorld(registry: Registry): Promise<World> {
  const world = new World({ controllers: (options) => runControllers({ ...options, registry, modules: [housekeeping] }) })
  await world.start()
  await world.settle()
  return world
}

/** Creates a namespace with something in it, and deletes it. */
async function live(world: World, hub: WorldCluster, name: string): Promise<void> {
  await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await hub.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `map-of-${name}`, namespace: name }, data: { a: '1' } })
  await world.settle()
  await hub.delete(NAMESPACES, name)
  await world.settle()
  assert.deepEqual(await hub.list(CONFIG_MAPS, { namespace: name }), [])
}

describe('metrics of controllers', () => {
  it('have as many series as the program declares, whatever the objects are called', async () => {
    const registry = new Registry()
    const world = await aMeasuredWorld(registry)
    const { hub } = world
    await hub.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'peculiarities.example.dev' },
      spec: {
        group: 'example.dev',
        scope: 'Namespaced',
        names: { plural: 'peculiarities', singular: 'peculiarity', kind: 'Peculiarity', listKind: 'PeculiarityList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
    await live(world, hub, 'first')
    const before = await seriesOf(registry)
    for (let i = 0; i < 5; i++) await live(world, hub, `peculiar-${i}`)
    const after = await seriesOf(registry)
    assert.deepEqual(after.sort(), before.sort())
    assert.doesNotMatch(after.join('\n'), /peculiar|map-of/)
    await world.stop()
  })

  it('tell passes, writes, queues and caches, each under a name that the reference explains', async () => {
    const registry = new Registry()
    const world = await aMeasuredWorld(registry)
    await live(world, world.hub, 'first')
    const text = await registry.metrics()
    const namespace = 'controller="minicluster.housekeeping.namespace"'
    assert.match(text, new RegExp(`sluice_controller_passes_total\\{${namespace},result="done"\\} [1-9]`))
    assert.match(
      text,
      new RegExp(`sluice_controller_writes_total\\{${namespace},verb="delete-collection",resource="\\*",result="done"\\} [1-9]`),
    )
    assert.match(text, new RegExp(`sluice_controller_queue_depth\\{${namespace}\\} 0`))
    assert.match(text, /sluice_cache_is_following\{resource="namespaces"\} 1/)
    assert.match(text, /sluice_cache_objects\{resource="namespaces"\} [4-9]/)
    const names = new Set(text.split('\n').flatMap((line) => (line.startsWith('# HELP ') ? [line.split(' ')[2] ?? ''] : [])))
    assert.deepEqual([...names].sort(), Object.keys(METRICS).sort())
    await world.stop()
  })
})
