import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededRandom } from '../base/random.ts'
import type { Transport } from '../client/transport.ts'
import { aWorld, type World } from '../faultsim/world/index.ts'
import { LEASES } from '../kinds/kubernetes/resources.ts'
import type { Lease } from '../kinds/kubernetes/types.ts'
import { liveHolder } from '../runtime/lease/live-lease.ts'
import { leaseOf, settleLease } from './lease-of-up.ts'

const WHERE = 'kube-system/sluice-hub'

async function settle(world: World, isBare: boolean): Promise<Lease | undefined> {
  const transport: Transport = { request: (request) => world.hub.client.raw(request), close: async () => undefined }
  await world.inside(() => settleLease({ role: 'hub', isBare, transport, clock: world.clock, random: seededRandom(1) }))
  return (await world.hub.get(LEASES, WHERE)) as Lease | undefined
}

describe('the lease of up', () => {
  it('is taken once, never runs out, and is given back by a bare start', async () => {
    const world = await aWorld().settle()
    const first = await settle(world, false)
    assert.equal(first?.spec?.holderIdentity, 'sluice up')
    await world.advance(600_000)
    const again = await settle(world, false)
    assert.equal(again?.metadata.resourceVersion, first?.metadata.resourceVersion, 'a second start writes nothing')
    const holder = await world.inside(() => liveHolder(world.hub.client, leaseOf('hub'), world.clock.now() + 10 * 365 * 86_400_000))
    assert.equal(holder, 'sluice up', 'ten years later it still counts')
    assert.equal(await settle(world, true), undefined)
    assert.equal(await settle(world, true), undefined)
    await world.stop()
  })

  it('is taken from whoever had it, because the server lives only with us; a bare start leaves the lease of others', async () => {
    const world = await aWorld().settle()
    const spec = { holderIdentity: 'another', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' }
    await world.hub.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'sluice-hub' },
      spec,
    })
    assert.equal((await settle(world, true))?.spec?.holderIdentity, 'another')
    assert.equal((await settle(world, false))?.spec?.holderIdentity, 'sluice up')
    await world.stop()
  })
})
