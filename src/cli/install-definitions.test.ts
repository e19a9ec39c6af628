import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aWorld, type World } from '../faultsim/world/index.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../kinds/kubernetes/resources.ts'
import type { OwnKind } from '../kinds/schema/define-kind.ts'
import type { KubeObject } from '../kube/meta.ts'
import { installDefinitions } from './install-definitions.ts'

const NAME = 'widgets.example.dev'
const CRD: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME },
  spec: {
    group: 'example.dev',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
/** A kind that needs conversion. */
const widgets = {
  group: 'example.dev',
  kind: 'Widget',
  crd: CRD,
  definition: { convert: (object: KubeObject) => object, versions: [{ name: 'v1' }, { name: 'v2' }] },
} as unknown as OwnKind

const PLAIN: OwnKind = { ...widgets, definition: {} as OwnKind['definition'] }

interface Installed {
  created: string[]
  log: string[]
  crd: KubeObject | undefined
}

async function install(world: World, kinds: readonly OwnKind[], conversion?: { url: string; caBundle: string }): Promise<Installed> {
  const log: string[] = []
  const write = (level: string, message: string): void => void log.push(`${level} ${message}`)
  const { clock, hub } = world
  const created = await world.inside(() => installDefinitions(kinds, { client: hub.client, clock, log: { write }, conversion }))
  return { created, log, crd: await hub.get(CUSTOM_RESOURCE_DEFINITIONS, kinds[0]?.crd.metadata.name ?? '') }
}
const conversionOf = (crd: KubeObject | undefined) =>
  (crd?.spec as { conversion?: { strategy: string; webhook?: { clientConfig: unknown } } } | undefined)?.conversion
const address = (port: number) => ({ url: `https://127.0.0.1:${port}/convert`, caBundle: Buffer.from(`ca ${port}`).toString('base64') })

describe('our definitions on a server', () => {
  it('are created where they are absent, and served when that returns', async () => {
    const world = await aWorld().settle()
    const { created, crd } = await install(world, [PLAIN])
    assert.deepEqual(created, [NAME])
    assert.equal(conversionOf(crd)?.strategy, 'None')
    const widget = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'a', namespace: 'default' } }
    const resource = { group: 'example.dev', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true }
    await world.inside(() => world.hub.client.create(resource, widget))
    await world.stop()
  })

  it('are never overwritten: what is there stays to the letter', async () => {
    const world = await aWorld().settle()
    const theirs = await world.hub.create({ ...CRD, metadata: { name: NAME, annotations: { mine: 'yes' } } })
    await world.settle()
    const before = await world.hub.get(CUSTOM_RESOURCE_DEFINITIONS, NAME)
    for (const conversion of [undefined, address(1)]) {
      const { created, log, crd } = await install(world, [widgets], conversion)
      assert.deepEqual([created, log], [[], ['info a definition is already there and is left as it is']])
      assert.deepEqual(crd, before)
    }
    assert.equal(theirs.metadata.uid, before?.metadata.uid)
    await world.stop()
  })

  it('say where our conversion is, and learn it anew when the next process has another address', async () => {
    const world = await aWorld().settle()
    const first = await install(world, [widgets], address(1))
    assert.deepEqual([first.created, conversionOf(first.crd)?.webhook?.clientConfig], [[NAME], address(1)])
    await world.hub.patch(CUSTOM_RESOURCE_DEFINITIONS, NAME, { metadata: { labels: { mine: 'yes' } } })
    const second = await install(world, [widgets], address(2))
    assert.deepEqual([second.created, conversionOf(second.crd)?.webhook?.clientConfig], [[], address(2)])
    assert.deepEqual(second.crd?.metadata.labels, { mine: 'yes' })
    assert.match(second.log.join(), /was renewed/)
    await world.stop()
  })

  it('say why they are not served: another definition has the name', async () => {
    const world = await aWorld().settle()
    await install(world, [PLAIN])
    const spec = { ...(CRD.spec as object), names: { plural: 'gadgets', singular: 'gadget', kind: 'Widget', listKind: 'WidgetList' } }
    const clash: OwnKind = { ...PLAIN, crd: { ...CRD, metadata: { name: 'gadgets.example.dev' }, spec } }
    await assert.rejects(install(world, [clash]), /the server does not serve gadgets\.example\.dev: .*Widget/)
    await world.stop()
  })
})
