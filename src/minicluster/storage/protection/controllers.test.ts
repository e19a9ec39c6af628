import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectGone, expectThere } from '../../../faultsim/expect/index.ts'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { aClaim, aPodWith, aVolume } from '../testing.ts'
import { claimProtection, usesClaim } from './claim/controller.ts'
import { volumeProtection } from './volume/controller.ts'

const MEMBER = { members: 1 }
const CLAIM = 'default/mine'

describe('a deleted claim', () => {
  story(
    'stays while a pod on a node uses it',
    async (world) => {
      const { member } = world
      await member.create(aClaim('mine'))
      await member.create(aPodWith('user', 'mine', 'somewhere'))
      await member.delete(PERSISTENT_VOLUME_CLAIMS, CLAIM)
      await world.settle()
      const kept = await expectThere(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)
      assert.ok(kept.metadata.deletionTimestamp !== undefined)
      await member.delete(PODS, 'default/user', { gracePeriodSeconds: 0 })
      await world.settle()
      await expectGone(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)
    },
    MEMBER,
  )

  story(
    'goes when its users have no node',
    async (world) => {
      const { member } = world
      await member.create(aClaim('mine'))
      await member.create(aPodWith('user', 'mine'))
      await member.delete(PERSISTENT_VOLUME_CLAIMS, CLAIM)
      await world.settle()
      await expectGone(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)
    },
    MEMBER,
  )

  story(
    'that lost its finalizer while it lived gets it again',
    async (world) => {
      const { member } = world
      await member.create(aClaim('mine'))
      await member.patch(PERSISTENT_VOLUME_CLAIMS, CLAIM, { metadata: { finalizers: null } })
      await world.settle()
      const { metadata } = await expectThere(member, PERSISTENT_VOLUME_CLAIMS, CLAIM)
      assert.deepEqual(metadata.finalizers, ['kubernetes.io/pvc-protection'])
    },
    MEMBER,
  )
})

describe('a deleted volume', () => {
  story(
    'stays while it is bound',
    async (world) => {
      const { member } = world
      await member.create(aVolume('v'))
      await member.create(aClaim('mine'))
      await world.settle()
      await member.delete(PERSISTENT_VOLUMES, 'v')
      await world.settle()
      await expectThere(member, PERSISTENT_VOLUMES, 'v')
      await member.delete(PERSISTENT_VOLUME_CLAIMS, CLAIM)
      await world.settle()
      await expectGone(member, PERSISTENT_VOLUMES, 'v')
    },
    MEMBER,
  )

  story(
    'that nobody has goes at once',
    async (world) => {
      const { member } = world
      await member.create(aVolume('v'))
      await world.settle()
      await member.delete(PERSISTENT_VOLUMES, 'v')
      await world.settle()
      await expectGone(member, PERSISTENT_VOLUMES, 'v')
    },
    MEMBER,
  )
})

describe('a pod uses a claim', () => {
  const owned = (uid: string) =>
    aClaim('user-scratch', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'user', uid, controller: true }] })
  const ephemeral = (more: Partial<Pod['metadata']> = {}): Pod => ({
    ...aPodWith('user', 'x', 'node'),
    metadata: { name: 'user', namespace: 'default', uid: 'u', ...more },
    spec: { nodeName: 'node', volumes: [{ name: 'scratch', ephemeral: {} }] },
  })
  const cases: [string, Pod, ReturnType<typeof aClaim>, boolean][] = [
    ['by name', aPodWith('user', 'mine', 'node'), aClaim('mine'), true],
    ['without a node', aPodWith('user', 'mine'), aClaim('mine'), false],
    ['of another name', aPodWith('user', 'other', 'node'), aClaim('mine'), false],
    ['as its ephemeral volume', ephemeral(), owned('u'), true],
    ['as an ephemeral volume of an earlier pod', ephemeral(), owned('before'), false],
    ['after its end', ephemeral({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }), owned('u'), false],
    ['during its end', ephemeral({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }), owned('u'), true],
  ]
  for (const [name, pod, claim, expected] of cases) it(`${name}: ${expected}`, () => assert.equal(usesClaim(pod, claim), expected))
})

survives(claimProtection(), {
  steps: [
    (cluster) => cluster.create(aClaim('mine')),
    (cluster) => cluster.create(aPodWith('user', 'mine', 'somewhere')),
    (cluster) => cluster.delete(PERSISTENT_VOLUME_CLAIMS, CLAIM),
    (cluster) => cluster.delete(PODS, 'default/user', { gracePeriodSeconds: 0 }),
  ],
  invariants: [
    {
      says: 'a claim is there as long as the pod that uses it',
      broken: (view) =>
        view.list('pods').length > 0 && view.list('persistentvolumeclaims').length === 0 ? 'the claim is gone before the pod' : undefined,
    },
  ],
  atRest: (cluster) => expectGone(cluster, PERSISTENT_VOLUME_CLAIMS, CLAIM),
})

survives(volumeProtection(), {
  steps: [
    (cluster) => cluster.create(aVolume('v')),
    (cluster) => cluster.create(aClaim('mine')),
    (cluster) => cluster.delete(PERSISTENT_VOLUMES, 'v'),
    (cluster) => cluster.delete(PERSISTENT_VOLUME_CLAIMS, CLAIM),
  ],
  atRest: (cluster) => expectGone(cluster, PERSISTENT_VOLUMES, 'v'),
})
