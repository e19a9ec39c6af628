import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aDefinition } from '../../faultsim/builders/index.ts'
import { World } from '../../faultsim/world/index.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../kinds/kubernetes/resources.ts'
import { readAll, type Transport } from '../transport.ts'
import type { ClusterCache } from './cluster-cache.ts'
import { runClusterCache } from './testing.ts'

/** A server whose discovery lags by `lagMs`: each answer is what was true that long ago. */
function lateDiscovery(transport: Transport, nowMs: () => number, lagMs: number): Transport {
  const answers: { atMs: number; body: Buffer }[] = []
  return {
    ...transport,
    async request(request) {
      const answer = await transport.request(request)
      if (request.path !== '/apis') return answer
      answers.push({ atMs: nowMs(), body: await readAll(answer.body) })
      const known = answers.findLast(({ atMs }) => atMs <= nowMs() - lagMs) ?? answers[0]
      return {
        ...answer,
        body: (async function* () {
          if (known !== undefined) yield known.body
        })(),
      }
    },
  }
}

describe('everything', () => {
  it('is followed though discovery lags behind the definitions, and left in the same way', async () => {
    let made: ClusterCache | undefined
    const reach = (transport: Transport, nowMs: () => number): Transport => lateDiscovery(transport, nowMs, 800)
    const world = new World({
      controllers: runClusterCache({ isDiscoveryLate: true, reach }, (clusterCache) => {
        made = clusterCache
      }),
    })
    await world.start()
    await world.settle()
    await world.hub.create(aDefinition('Boat'))
    await world.advance(30_000)
    assert.equal(made?.resourceNamed('example.com', 'boats')?.kind, 'Boat')
    await world.hub.delete(CUSTOM_RESOURCE_DEFINITIONS, 'boats.example.com')
    await world.advance(30_000)
    assert.equal(made?.resourceNamed('example.com', 'boats'), undefined)
    await world.stop()
  })
})
