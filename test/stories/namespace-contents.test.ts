import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aNamespace } from '../../src/faultsim/builders/index.ts'
import { expectThere } from '../../src/faultsim/expect/index.ts'
import { story } from '../../src/faultsim/story.ts'
import { AUTHORITY } from '../../src/faultsim/world/fixed-keys.ts'
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../../src/kinds/kubernetes/resources.ts'

const ROOT_CA = 'kube-root-ca.crt'

describe('every namespace', () => {
  story(
    'has a default ServiceAccount and the authority, in the hub and in members',
    async (world) => {
      for (const cluster of world.clusters) {
        await cluster.create(aNamespace('a'))
        await world.settle()
        for (const namespace of await cluster.list(NAMESPACES)) {
          const { name } = namespace.metadata
          await expectThere(cluster, SERVICE_ACCOUNTS, `${name}/default`)
          assert.deepEqual((await expectThere(cluster, CONFIG_MAPS, `${name}/${ROOT_CA}`)).data, { 'ca.crt': AUTHORITY })
        }
      }
    },
    { members: 1 },
  )

  story('gets them back when they are deleted or changed', async (world) => {
    const { hub } = world
    await hub.delete(SERVICE_ACCOUNTS, 'default/default')
    await hub.delete(CONFIG_MAPS, `kube-system/${ROOT_CA}`)
    await hub.patch(CONFIG_MAPS, `default/${ROOT_CA}`, { data: { 'ca.crt': 'another', more: 'noise' } })
    await world.settle()
    await expectThere(hub, SERVICE_ACCOUNTS, 'default/default')
    for (const namespace of ['default', 'kube-system'])
      assert.deepEqual((await expectThere(hub, CONFIG_MAPS, `${namespace}/${ROOT_CA}`)).data, { 'ca.crt': AUTHORITY })
  })

  story('keeps what people added to its account', async (world) => {
    const { hub } = world
    await hub.patch(SERVICE_ACCOUNTS, 'default/default', { imagePullSecrets: [{ name: 'mine' }] })
    await world.settle()
    assert.deepEqual((await expectThere(hub, SERVICE_ACCOUNTS, 'default/default')).imagePullSecrets, [{ name: 'mine' }])
  })

  story('follows the authority when it is renewed', async (world) => {
    const { hub } = world
    const renewed = AUTHORITY.replace('of the world', 'of the next world')
    await hub.inside(() => hub.rotateAuthority(renewed))
    await world.settle()
    for (const namespace of await hub.list(NAMESPACES))
      assert.deepEqual((await expectThere(hub, CONFIG_MAPS, `${namespace.metadata.name}/${ROOT_CA}`)).data, { 'ca.crt': renewed })
  })
})
