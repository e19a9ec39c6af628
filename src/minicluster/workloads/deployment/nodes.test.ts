/** Deployments on nodes: pods are placed, start, run and end on their own, and the stored state is always within bounds. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { conditionsOf } from '../../../faultsim/expect/index.ts'
import { monitorInvariants } from '../../../faultsim/prover/invariant-monitor.ts'
import { story } from '../../../faultsim/story.ts'
import type { World } from '../../../faultsim/world/index.ts'
import { DEPLOYMENTS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Deployment, Pod } from '../../../kinds/kubernetes/types.ts'
import type { Invariant } from '../../../runtime/seams/seeded.ts'
import { isPodActive, isPodReady } from '../../../runtime/workloads/pod/state.ts'
import { aDeployment, podsIn, replicaSetsIn, theDeployment } from '../../../runtime/workloads/pod/testing.ts'

const NODES = { members: 1, nodes: 2 }

/** Between `least` ready and `most` active pods. */
const within = (least: number, most: number): Invariant => ({
  says: `at least ${least} pods are ready and at most ${most} are active`,
  broken(stored) {
    const active = (stored.list('pods') as Pod[]).filter(isPodActive)
    const ready = active.filter(isPodReady)
    return ready.length < least || active.length > most ? `${ready.length} ready of ${active.length}` : undefined
  },
})

/** The invariant holds while `change` is made and takes effect. */
async function holds(world: World, invariant: Invariant, change: Deployment['spec']): Promise<void> {
  const monitor = monitorInvariants(world.member.store, [invariant])
  await world.member.patch(DEPLOYMENTS, 'default/web', { spec: change })
  await world.settle()
  monitor.stop()
  assert.equal(monitor.broken, undefined)
}

const rolled = (image: string): Deployment['spec'] => ({ template: { spec: { containers: [{ name: 'main', image }] } } })

async function expectDone(world: World, replicas: number): Promise<void> {
  const web = await theDeployment(world.member, 'web')
  assert.equal(conditionsOf(web).get('Progressing')?.reason, 'NewReplicaSetAvailable')
  assert.equal(web.status?.availableReplicas, replicas)
  assert.equal(web.status?.updatedReplicas, replicas)
  assert.equal(web.status?.replicas, replicas)
  assert.equal(web.status?.terminatingReplicas, 0)
  assert.equal(web.status?.observedGeneration, web.metadata.generation)
}

describe('Deployments on nodes', () => {
  const strategies: [number, number | string, number | string, number, number][] = [
    [5, 1, 0, 5, 6],
    [5, 0, 1, 4, 5],
    [10, '25%', '25%', 8, 13],
    [4, '100%', '100%', 0, 8],
  ]
  for (const [replicas, maxSurge, maxUnavailable, least, most] of strategies)
    story(
      `roll out ${replicas} pods with surge ${maxSurge} and ${maxUnavailable} unavailable, and back`,
      async (world) => {
        const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } }
        await world.member.create(aDeployment('web', { replicas, strategy }))
        await world.settle()
        await expectDone(world, replicas)
        await holds(world, within(least, most), rolled('two'))
        await expectDone(world, replicas)
        await holds(world, within(least, most), rolled('one'))
        await expectDone(world, replicas)
        assert.equal((await podsIn(world.member)).length, replicas)
        assert.equal((await replicaSetsIn(world.member)).length, 2)
      },
      NODES,
    )

  story(
    'never run old and new pods together with Recreate',
    async (world) => {
      await world.member.create(aDeployment('web', { replicas: 3, strategy: { type: 'Recreate' } }))
      await world.settle()
      const alone: Invariant = {
        says: 'all pods have one template',
        broken(stored) {
          const hashes = new Set(stored.list('pods').map(({ metadata }) => metadata.labels?.['pod-template-hash']))
          return hashes.size > 1 ? [...hashes].join(' and ') : undefined
        },
      }
      await holds(world, alone, rolled('two'))
      await expectDone(world, 3)
    },
    NODES,
  )

  story(
    'scale up and down, and replace pods that are deleted',
    async (world) => {
      const { member } = world
      await member.create(aDeployment('web', { replicas: 2 }))
      await world.settle()
      await holds(world, within(2, 20), { replicas: 20 })
      await expectDone(world, 20)
      await holds(world, within(3, 20), { replicas: 3 })
      await expectDone(world, 3)
      const [pod] = await podsIn(member)
      await member.delete(PODS, `default/${pod?.metadata.name}`)
      await world.settle()
      await expectDone(world, 3)
      assert.ok((await podsIn(member)).every(({ metadata }) => metadata.uid !== pod?.metadata.uid))
    },
    NODES,
  )

  story(
    'change their mind in the middle of a rollout',
    async (world) => {
      const { member } = world
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } }
      await member.create(aDeployment('web', { replicas: 6, strategy }))
      await world.settle()
      const monitor = monitorInvariants(member.store, [within(5, 7)])
      for (const image of ['two', 'three', 'one', 'four']) {
        await member.patch(DEPLOYMENTS, 'default/web', { spec: rolled(image) })
        await world.advance(400)
      }
      await world.settle()
      monitor.stop()
      assert.equal(monitor.broken, undefined)
      await expectDone(world, 6)
    },
    NODES,
  )
})
