import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunControllers } from '../../faultsim/world/cluster.ts'
import { World } from '../../faultsim/world/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { CUSTOM_RESOURCE_DEFINITIONS } from '../builtin-resources.ts'
import { createClient } from '../client.ts'
import { readAll, type Transport } from '../transport.ts'
import { type Everything, followEverything } from './everything.ts'

const BOATS: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.example.io' },
  spec: {
    group: 'example.io',
    scope: 'Namespaced',
    names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** Discovery as a server gives it that is so late: each answer is what was true so long ago. */
function lateDiscovery(transport: Transport, lagMs: number, nowMs: () => number): Transport {
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

async function aWorld(lagMs: number): Promise<{ world: World; everything: Everything }> {
  let made: Everything | undefined
  const controllers: RunControllers = ({ clock, random, transportFor }) => {
    const transport = lateDiscovery(transportFor('everything'), lagMs, () => clock.now())
    const client = createClient({ transport, clock, random, userAgent: 'test' })
    const everything = followEverything({ client, clock, random, isDiscoveryLate: true, onError: () => undefined })
    made = everything
    return {
      busy: () => everything.behind(),
      lookAgain: () => undefined,
      async stop() {
        everything.stop()
        await client.close()
      },
    }
  }
  const world = new World({ controllers })
  await world.start()
  await world.settle()
  assert.ok(made !== undefined)
  return { world, everything: made }
}

describe('everything', () => {
  it('is followed though discovery lags behind the definitions, and left in the same way', async () => {
    const { world, everything } = await aWorld(800)
    await world.hub.create(BOATS)
    await world.advance(30_000)
    assert.equal(everything.resourceNamed('example.io', 'boats')?.kind, 'Boat')
    await world.hub.delete(CUSTOM_RESOURCE_DEFINITIONS, 'boats.example.io')
    await world.advance(30_000)
    assert.equal(everything.resourceNamed('example.io', 'boats'), undefined)
    await world.stop()
  })
})
