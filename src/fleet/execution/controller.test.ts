import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { WORKS } from '../../kinds/karmada/resources.ts'
import { CONFIG_MAPS, DEPLOYMENTS, EVENTS } from '../../kinds/kubernetes/resources.ts'
import type { Deployment } from '../../kinds/kubernetes/types.ts'
import { APPLIED, aConfigMap, aDeployment, aWork, conditionsOf, DISPATCHED, executionWorld, theWork } from './testing.ts'

describe('fleet.execution', () => {
  it('brings a manifest into its member, with its marks, and says so once', async () => {
    const world = await executionWorld({ members: 2 })
    await world.hub.create(aWork('web', [aConfigMap('web')]))
    await world.settle()
    const [member, other] = world.members
    const object = await member?.get(CONFIG_MAPS, 'default/web')
    assert.deepEqual(object?.data, { a: '1' })
    const work = await theWork(world.hub, 'web')
    const id = work.metadata.labels?.['work.karmada.io/permanent-id']
    assert.deepEqual(object?.metadata.labels, { 'karmada.io/managed': 'true', 'work.karmada.io/permanent-id': id })
    assert.equal(object?.metadata.annotations?.['work.karmada.io/name'], 'web')
    assert.equal(object?.metadata.annotations?.['work.karmada.io/namespace'], 'karmada-es-member1')
    assert.deepEqual(conditionsOf(work), [APPLIED, DISPATCHED])
    assert.deepEqual(work.status?.manifestStatuses, [
      { identifier: { ordinal: 0, version: 'v1', kind: 'ConfigMap', resource: '', namespace: 'default', name: 'web' }, health: 'Healthy' },
    ])
    assert.equal(await other?.get(CONFIG_MAPS, 'default/web'), undefined)
    const events = await world.hub.list(EVENTS)
    assert.deepEqual(events.map(({ reason, message }) => `${reason}: ${message}`).sort(), [
      'SyncSucceed: Successfully applied resource(default/web) to cluster member1',
      'SyncSucceed: Sync work(karmada-es-member1/web) to cluster(member1) successful.',
    ])
    await world.stop()
  })

  it('brings back how a Deployment is, in few writes', async () => {
    const world = await executionWorld({ nodes: 2 })
    world.hub.takeWrites()
    await world.hub.create(aWork('web', [aDeployment('web', 3)]))
    await world.settle()
    const work = await theWork(world.hub, 'web')
    const [status] = work.status?.manifestStatuses ?? []
    assert.equal(status?.health, 'Healthy')
    assert.equal(status?.status?.readyReplicas, 3)
    assert.equal(status?.status?.resourceTemplateGeneration, 1)
    const writes = world.hub.takeWrites().filter(({ path }) => path.includes('/works/'))
    assert.ok(writes.length <= 3, `${writes.length} writes: ${writes.map(({ method, path }) => `${method} ${path}`).join(', ')}`)
    await world.stop()
  })

  it('repairs drift, and makes again what was deleted', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('web', [aConfigMap('web')]))
    await world.settle()
    await member.patch(CONFIG_MAPS, 'default/web', { data: { a: '2', b: '3' }, metadata: { labels: { theirs: 'x' } } })
    await world.settle()
    const repaired = await member.get(CONFIG_MAPS, 'default/web')
    assert.deepEqual(repaired?.data, { a: '1' })
    assert.equal(repaired?.metadata.labels?.theirs, 'x', 'a label that somebody added is theirs')
    await member.delete(CONFIG_MAPS, 'default/web')
    await world.settle()
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { a: '1' })
    await hub.delete(WORKS, 'karmada-es-member1/web')
    await world.settle()
    assert.equal(await member.get(CONFIG_MAPS, 'default/web'), undefined)
    assert.equal(await hub.get(WORKS, 'karmada-es-member1/web'), undefined)
    await world.stop()
  })

  it('changes what is there when the Work changes', async () => {
    const world = await executionWorld({ nodes: 1 })
    const { hub, member } = world
    await hub.create(aWork('web', [aDeployment('web', 2)]))
    await world.settle()
    await hub.update(WORKS, 'karmada-es-member1/web', (work) => {
      ;(work.spec as { workload: unknown }).workload = { manifests: [aDeployment('web', 4, 'nginx:2')] }
    })
    await world.settle()
    const deployment = await member.get(DEPLOYMENTS, 'default/web')
    assert.equal((deployment as Deployment | undefined)?.spec?.replicas, 4)
    assert.equal((await theWork(hub, 'web')).status?.manifestStatuses?.[0]?.status?.readyReplicas, 4)
    await world.stop()
  })
})
