import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { controllerReference } from '../../../runtime/workloads/pod/ownership.ts'
import { eventsOf } from '../../../runtime/workloads/pod/testing.ts'
import { aClaim, aPodWith } from '../testing.ts'
import { ephemeralClaims } from './controller.ts'

const MEMBER = { members: 1 }
const CLAIM = 'default/user-scratch'

function aPodWithScratch(): Pod {
  const pod = aPodWith('user', 'x')
  const volumeClaimTemplate = {
    metadata: { labels: { kind: 'scratch' }, annotations: { note: 'for a while' } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
  }
  return { ...pod, spec: { ...pod.spec, volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }] } }
}

describe('ephemeral volumes', () => {
  story(
    'have claims that come and go with their pod',
    async (world) => {
      const { member } = world
      const pod = await member.create(aPodWithScratch())
      await world.settle()
      const { metadata, spec } = await expectThere(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)
      assert.deepEqual(metadata.ownerReferences, [controllerReference(pod)])
      assert.deepEqual(metadata.labels, { kind: 'scratch' })
      assert.deepEqual(metadata.annotations, { note: 'for a while' })
      assert.deepEqual((spec as { resources: unknown }).resources, { requests: { storage: '1Gi' } })
      await member.delete(PODS, 'default/user')
      await world.settle()
      await expectGone(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)
    },
    MEMBER,
  )

  story(
    'do not take what belongs to somebody else',
    async (world) => {
      const { member } = world
      await member.create(aClaim('user-scratch'))
      await member.create(aPodWithScratch())
      await world.settle()
      assert.deepEqual(await eventsOf(member, 'Pod', 'user'), [
        'FailedBinding: ephemeral volume scratch: PVC default/user-scratch was not created for pod default/user (pod is not owner)',
      ])
      assert.equal((await expectThere(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)).metadata.ownerReferences, undefined)
      await member.delete(PERSISTENT_VOLUME_CLAIMS, CLAIM)
      await world.settle()
      assert.equal((await expectThere(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)).metadata.ownerReferences?.length, 1)
    },
    MEMBER,
  )
})

survives(ephemeralClaims(), {
  steps: [
    (cluster) => cluster.create(aPodWithScratch()),
    (cluster) => cluster.delete(PERSISTENT_VOLUME_CLAIMS, CLAIM),
    (cluster) => cluster.delete(PODS, 'default/user'),
  ],
  atRest: (cluster) => expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, CLAIM),
})
