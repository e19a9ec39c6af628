import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../../../kube/meta.ts'
import { isUnfinished, wrongAtRest } from './at-rest.ts'
import { aBinding, aCopy, aTemplate, aWork, foreign, type HandMade, handMade } from './testing.ts'

async function divided(): Promise<HandMade> {
  const fleet = handMade()
  await fleet.put('hub', aTemplate())
  await fleet.put('hub', aBinding({ member1: 1, member2: 2 }))
  for (const [cluster, share] of [
    ['member1', 1],
    ['member2', 2],
  ] as const) {
    await fleet.put('hub', aWork(cluster))
    await fleet.put(cluster, aCopy(cluster, share))
  }
  return fleet
}

const refused = (work: KubeObject): KubeObject => ({
  ...work,
  status: { conditions: [{ type: 'Applied', status: 'False', message: 'no' }] },
})

const going = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
})

const selecting: KubeObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { namespace: 'default', name: 'near' },
  spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' }] },
}

describe('a fleet at rest', () => {
  const wrong: [says: RegExp, does: (fleet: HandMade) => Promise<void>][] = [
    [/karmada-es-member2\/shop-abc is outside of the clusters/, (fleet) => fleet.put('hub', aBinding({ member1: 3 }))],
    [/replicas do not add up/, (fleet) => fleet.put('hub', aBinding({ member1: 1, member2: 1 }))],
    [/member2 has 1 of 2 replicas/, (fleet) => fleet.put('member2', aCopy('member2', 1))],
    [/goes to member2, which has no Work/, (fleet) => fleet.remove('hub', aWork('member2'))],
    [/member2: nobody stands for Deployment/, (fleet) => fleet.remove('hub', aWork('member2'))],
    [/member2: Deployment default\/shop is not there/, (fleet) => fleet.remove('member2', aCopy('member2', 2))],
    [/is not ours, and its Work says that it is applied/, (fleet) => fleet.put('member2', foreign())],
    [/was not taken over/, (fleet) => fleet.put('hub', aWork('member2', { overwrite: true })).then(() => fleet.put('member2', foreign()))],
    [/is there, and its Work says no/, (fleet) => fleet.put('hub', refused(aWork('member2')))],
    [/has lost its binding/, (fleet) => fleet.remove('hub', aBinding({}))],
    [/has no template/, (fleet) => fleet.remove('hub', aTemplate())],
    [/the Work .* is still going/, (fleet) => fleet.put('hub', aWork('member2', { going: true }))],
    [/the binding .* is still going/, (fleet) => fleet.put('hub', going(aBinding({ member1: 1, member2: 2 })))],
    [/is selected by a policy and has no binding/, (fleet) => fleet.put('hub', selecting).then(() => fleet.remove('hub', aBinding({})))],
  ]

  it('is well where everything is in its place', async () => {
    const fleet = await divided()
    await fleet.put('hub', selecting)
    assert.deepEqual(wrongAtRest(fleet), [])
    assert.equal(isUnfinished(fleet.hub), false)
  })

  for (const [says, does] of wrong)
    it(`is not well: ${says.source}`, async () => {
      const fleet = await divided()
      await does(fleet)
      assert.match(wrongAtRest(fleet).join('\n'), says)
    })

  const well: [what: string, does: (fleet: HandMade) => Promise<void>][] = [
    [
      'what is not ours stays, and the Work says that it was refused',
      (fleet) => fleet.put('member2', foreign()).then(() => fleet.put('hub', refused(aWork('member2')))),
    ],
    [
      'what is held back is not there',
      (fleet) => fleet.put('hub', aWork('member2', { suspendDispatching: true })).then(() => fleet.remove('member2', aCopy('member2', 2))),
    ],
    [
      'a copy that is left by and by may stay a while',
      (fleet) =>
        fleet.put(
          'hub',
          aBinding(
            { member1: 1 },
            { gracefulEvictionTasks: [{ fromCluster: 'member2', purgeMode: 'Gracefully', reason: 'R', producer: 'P' }] },
          ),
        ),
    ],
  ]
  for (const [what, does] of well)
    it(`is well: ${what}`, async () => {
      const fleet = await divided()
      await does(fleet)
      assert.deepEqual(wrongAtRest(fleet), [])
    })

  it('is unfinished while a Work is refused or a cluster is being left', async () => {
    const fleet = await divided()
    await fleet.put('hub', refused(aWork('member2')))
    assert.equal(isUnfinished(fleet.hub), true)
    await fleet.put('hub', aWork('member2'))
    assert.equal(isUnfinished(fleet.hub), false)
    await fleet.put('hub', aBinding({}, { gracefulEvictionTasks: [{ fromCluster: 'member2', reason: 'R', producer: 'P' }] }))
    assert.equal(isUnfinished(fleet.hub), true)
  })
})
