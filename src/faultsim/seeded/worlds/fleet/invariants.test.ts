import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../../kube/meta.ts'
import { FLEET_INVARIANTS } from './invariants.ts'
import { aBinding, aCopy, aTemplate, aWork, foreign, type HandMade, handMade } from './testing.ts'

type StoryRun = (fleet: HandMade) => Promise<void>

/** The history, then a correct step and a wrong one: each in its own fleet. */
interface Case {
  says: string
  before: StoryRun
  right: StoryRun
  wrong: StoryRun
}

const going = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
})

const evicted = { gracefulEvictionTasks: [{ fromCluster: 'member1', purgeMode: 'Directly', reason: 'R', producer: 'P' }] }

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'default',
    name: 'shop-1-a',
    uid: 'pod',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'shop-1', uid: 'set' }],
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
}

const set: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    namespace: 'default',
    name: 'shop-1',
    uid: 'set',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop', uid: 'shop in member1' }],
  },
}

async function placed(fleet: HandMade, spec: Record<string, unknown> = {}): Promise<void> {
  await fleet.put('hub', aTemplate())
  await fleet.put('hub', aBinding({ member1: 3 }))
  await fleet.put('hub', aWork('member1', spec))
  await fleet.put('member1', aCopy('member1', 3))
}

const CASES: readonly Case[] = [
  {
    says: 'nothing is deleted that is preserved',
    before: (fleet) => placed(fleet, { going: true, preserveResourcesOnDeletion: true }),
    right: (fleet) => fleet.put('member1', foreign(3)),
    wrong: (fleet) => fleet.remove('member1', aCopy('member1', 3)),
  },
  {
    says: 'an object of ours goes from a member only when its Work goes',
    before: (fleet) => placed(fleet),
    async right(fleet) {
      await fleet.put('hub', aWork('member1', { going: true }))
      await fleet.put('member1', going(aCopy('member1', 3)))
      await fleet.remove('member1', aCopy('member1', 3))
    },
    wrong: (fleet) => fleet.put('member1', going(aCopy('member1', 3))),
  },
  {
    says: 'an object of ours goes from a member only when its Work goes',
    before: (fleet) => fleet.put('member1', aCopy('member1', 3)),
    right: (fleet) => fleet.peopleRemove('member1', aCopy('member1', 3)),
    wrong: (fleet) => fleet.remove('member1', aCopy('member1', 3)),
  },
  {
    says: 'no object of a member is touched that is not ours',
    async before(fleet) {
      await fleet.put('member1', foreign())
      await fleet.put('hub', aWork('member1'))
    },
    right: (fleet) => fleet.put('member1', { ...foreign(), status: { replicas: 1 } }),
    wrong: (fleet) => fleet.put('member1', aCopy('member1', 3)),
  },
  {
    says: 'no object of a member is touched that is not ours',
    async before(fleet) {
      await fleet.put('member1', foreign())
      await fleet.put('hub', aWork('member1', { overwrite: true }))
    },
    right: (fleet) => fleet.put('member1', aCopy('member1', 3)),
    wrong: (fleet) => fleet.put('member1', foreign(3)),
  },
  {
    says: 'no object of a member is touched that is not ours',
    before: (fleet) => fleet.put('member1', foreign()),
    right: (fleet) => fleet.peopleRemove('member1', foreign()),
    wrong: (fleet) => fleet.remove('member1', foreign()),
  },
  {
    says: 'the replicas of a decision add up',
    before: (fleet) => fleet.put('hub', aBinding({ member1: 3 })),
    right: (fleet) => fleet.put('hub', aBinding({ member1: 1, member2: 2 })),
    wrong: (fleet) => fleet.put('hub', aBinding({ member1: 2, member2: 2 })),
  },
  {
    says: 'the replicas of a decision add up',
    before: (fleet) => fleet.put('hub', aBinding({ member1: 1, member2: 2 })),
    right: (fleet) => fleet.put('hub', aBinding({ member2: 2 }, evicted)),
    wrong: (fleet) => fleet.put('hub', aBinding({ member2: 2 })),
  },
  {
    says: 'the replicas of a decision add up',
    before: (fleet) => fleet.put('hub', aBinding({ member1: 3 }, { placement: {} })),
    right: (fleet) => fleet.put('hub', aBinding({ member1: 3, member2: 3 }, { placement: {} })),
    wrong: (fleet) => fleet.put('hub', aBinding({ member1: 3, member2: 1 }, { placement: {} })),
  },
  {
    says: 'under purge mode Directly nothing comes to a cluster while the copy that is left is still there',
    async before(fleet) {
      await placed(fleet, { going: true })
      await fleet.put('hub', aBinding({ member2: 3 }, evicted))
    },
    async right(fleet) {
      await fleet.remove('member1', aCopy('member1', 3))
      await fleet.remove('hub', aWork('member1', { going: true }))
      await fleet.put('hub', aWork('member2'))
    },
    wrong: (fleet) => fleet.put('hub', aWork('member2')),
  },
  {
    says: 'under purge mode Directly nothing comes to a cluster while the copy that is left is still there',
    async before(fleet) {
      await placed(fleet, { going: true })
      await fleet.put('member1', pod)
      await fleet.put('hub', aBinding({ member2: 3 }, evicted))
      await fleet.remove('member1', aCopy('member1', 3))
      await fleet.remove('hub', aWork('member1', { going: true }))
    },
    async right(fleet) {
      await fleet.remove('member1', pod)
      await fleet.put('hub', aWork('member2'))
    },
    wrong: (fleet) => fleet.put('hub', aWork('member2')),
  },
  {
    says: 'under purge mode Directly nothing comes to a cluster while the copy that is left is still there',
    async before(fleet) {
      await placed(fleet, { going: true, preserveResourcesOnDeletion: true })
      await fleet.put('member1', pod)
      await fleet.put('hub', aBinding({ member2: 3 }, evicted))
      await fleet.put('member1', foreign(3))
      await fleet.remove('hub', aWork('member1', { going: true }))
    },
    right: (fleet) => fleet.put('hub', aWork('member2')),
    async wrong(fleet) {
      await fleet.remove('member1', foreign(3))
      await fleet.put('hub', aWork('member2'))
    },
  },
  {
    says: 'an eviction of purge mode Directly is over only when the copy that is left is gone',
    async before(fleet) {
      await placed(fleet, { going: true })
      await fleet.put('hub', aBinding({ member2: 3 }, evicted))
    },
    async right(fleet) {
      await fleet.remove('member1', aCopy('member1', 3))
      await fleet.remove('hub', aWork('member1', { going: true }))
      await fleet.put('hub', aBinding({ member2: 3 }))
    },
    wrong: (fleet) => fleet.put('hub', aBinding({ member2: 3 })),
  },
  {
    says: 'a Work is gone only when its member no longer has what it brought',
    before: (fleet) => placed(fleet, { going: true }),
    async right(fleet) {
      await fleet.remove('member1', aCopy('member1', 3))
      await fleet.remove('hub', aWork('member1'))
    },
    wrong: (fleet) => fleet.remove('hub', aWork('member1')),
  },
  {
    says: 'a running pod stays when nothing about its place has changed',
    async before(fleet) {
      await placed(fleet)
      await fleet.put('member1', set)
      await fleet.put('member1', pod)
    },
    async right(fleet) {
      const scaled = aCopy('member1', 2)
      await fleet.put('member1', { ...scaled, metadata: { ...scaled.metadata, generation: 2 } })
      await fleet.put('member1', going(pod))
    },
    wrong: (fleet) => fleet.put('member1', going(pod)),
  },
  {
    says: 'a running pod stays when nothing about its place has changed',
    async before(fleet) {
      await placed(fleet)
      await fleet.put('member1', set)
      await fleet.put('member1', pod)
    },
    async right(fleet) {
      await fleet.put('member1', { ...set, spec: { replicas: 0 } })
      await fleet.put('member1', going(pod))
    },
    wrong: (fleet) => fleet.put('member1', going(pod)),
  },
  {
    says: 'a running pod stays when nothing about its place has changed',
    async before(fleet) {
      await placed(fleet)
      await fleet.put('member1', set)
      await fleet.put('member1', pod)
    },
    async right(fleet) {
      await fleet.put('member1', { ...set, metadata: { ...set.metadata, generation: 3 }, status: { observedGeneration: 1 } })
      await fleet.put('member1', going(pod))
    },
    async wrong(fleet) {
      await fleet.put('member1', { ...set, metadata: { ...set.metadata, generation: 3 }, status: { observedGeneration: 3 } })
      await fleet.put('member1', going(pod))
    },
  },
]

describe('invariants of a fleet', () => {
  for (const [i, { says, before, right, wrong }] of CASES.entries())
    it(`${says} (${i + 1})`, async () => {
      const [well, badly] = [handMade(FLEET_INVARIANTS), handMade(FLEET_INVARIANTS)]
      await before(well)
      await right(well)
      assert.equal(well.broken(), undefined)
      await before(badly)
      assert.equal(badly.broken(), undefined, 'before the wrong step')
      await wrong(badly)
      assert.ok(badly.broken()?.startsWith(`"${says}" does not hold`), badly.broken())
    })

  it('each is broken by a case', () => {
    assert.deepEqual(
      FLEET_INVARIANTS.map(({ says }) => says).filter((says) => !CASES.some((one) => one.says === says)),
      [],
    )
  })
})
