import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { WORKS } from '../../kinds/karmada/resources.ts'
import { CONFIG_MAPS, EVENTS } from '../../kinds/kubernetes/resources.ts'
import { APPLIED, aConfigMap, aWork, conditionsOf, DISPATCHED, ES, executionWorld, overwriting, theWork } from './testing.ts'

describe('an object that is there already', () => {
  const message =
    'Failed to apply all manifests (0/1): resource(kind=ConfigMap, default/web) already exists in the cluster member1 and the ' +
    'work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage this resource'

  it('is left alone, with the reason on the Work, and taken over when it makes way', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await member.create(aConfigMap('web', { theirs: 'x' }))
    await hub.create(aWork('web', [aConfigMap('web')]))
    await hub.create(aWork('other', [aConfigMap('other')]))
    await world.settle()
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { theirs: 'x' })
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [`Applied False AppliedFailed: ${message}`, DISPATCHED])
    assert.deepEqual(conditionsOf(await theWork(hub, 'other')), [APPLIED, DISPATCHED], 'others are not held up')
    hub.takeWrites()
    await world.advance(60_000)
    assert.deepEqual(hub.takeControllerWrites(), [], 'it is looked at again, and nothing is written')
    await member.delete(CONFIG_MAPS, 'default/web')
    await world.advance(300_000)
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { a: '1' })
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [APPLIED, DISPATCHED])
    const events = (await hub.list(EVENTS, { namespace: ES })).filter(({ reason }) => reason === 'SyncFailed')
    assert.equal(events.length, 1, 'told once, not with every try')
    await world.stop()
  })

  it('is taken over where the manifest says overwrite, with what is the member’s own', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    const theirs = aConfigMap('web', { theirs: 'x' })
    await member.create({ ...theirs, metadata: { ...theirs.metadata, labels: { mine: 'yes' }, finalizers: ['example.io/keep'] } })
    await hub.create(aWork('web', [overwriting(aConfigMap('web'))]))
    await world.settle()
    const taken = await member.get(CONFIG_MAPS, 'default/web')
    assert.deepEqual(taken?.data, { a: '1' })
    assert.equal(taken?.metadata.labels?.mine, 'yes')
    assert.deepEqual(taken?.metadata.finalizers, ['example.io/keep'])
    assert.deepEqual(conditionsOf(await theWork(hub, 'web')), [APPLIED, DISPATCHED])
    const failed = (await hub.list(EVENTS)).filter(({ reason }) => reason === 'SyncFailed')
    assert.deepEqual(failed, [], 'that it was there is no failure')
    await world.stop()
  })

  it('of another Work is not touched while that Work is there, and survives the deletion of this one', async () => {
    const world = await executionWorld()
    const { hub, member } = world
    await hub.create(aWork('first', [aConfigMap('web', { of: 'first' })]))
    await world.settle()
    await hub.create(aWork('second', [overwriting(aConfigMap('web', { of: 'second' }))]))
    await world.settle()
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { of: 'first' })
    assert.match(conditionsOf(await theWork(hub, 'second'))[0] ?? '', /is managed by work\(karmada-es-member1\/first\)$/)
    await hub.delete(WORKS, `${ES}/second`)
    await world.settle()
    assert.deepEqual((await member.get(CONFIG_MAPS, 'default/web'))?.data, { of: 'first' })
    await world.stop()
  })
})
