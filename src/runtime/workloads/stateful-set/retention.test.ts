import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../kinds/kubernetes/types.ts'
import type { OwnerReference } from '../../../kube/meta.ts'
import { aStatefulSet } from '../../../minicluster/workloads/stateful-set/testing.ts'
import { isClaimStale, wantedOwners } from './retention.ts'

type Word = 'Retain' | 'Delete'
function setWith(whenDeleted: string, whenScaled: string): StatefulSet {
  const set = aStatefulSet({ replicas: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } })
  return { ...set, metadata: { ...set.metadata, uid: 'set' } }
}
const podAt = (ordinal: number): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `web-${ordinal}`, uid: `pod-${ordinal}` } })
const claimOf = (...ownerReferences: OwnerReference[]): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'www-web-0', ownerReferences },
})
const reference = (apiVersion: string, kind: string, name: string, more: { uid: string; controller?: boolean }): OwnerReference => ({
  ...{ apiVersion, kind, name, controller: true, blockOwnerDeletion: true },
  ...more,
})
const bySet = reference('apps/v1', 'StatefulSet', 'web', { uid: 'set' })
const byPod = (ordinal: number): OwnerReference => reference('v1', 'Pod', `web-${ordinal}`, { uid: `pod-${ordinal}` })
const byOther = reference('example.com/v1', 'Widget', 'w', { uid: 'w' })
const uids = (references: readonly OwnerReference[] | undefined): string[] | undefined => references?.map(({ uid }) => uid)

describe('the owners of a claim', () => {
  const cases: [whenDeleted: Word, whenScaled: Word, ordinal: number, wanted: string[]][] = [
    ['Retain', 'Retain', 0, []],
    ['Retain', 'Retain', 1, []],
    ['Delete', 'Retain', 0, ['set']],
    ['Delete', 'Retain', 1, ['set']],
    ['Retain', 'Delete', 0, []],
    ['Retain', 'Delete', 1, ['pod-1']],
    ['Delete', 'Delete', 0, ['set']],
    ['Delete', 'Delete', 1, ['pod-1']],
  ]
  for (const [whenDeleted, whenScaled, ordinal, wanted] of cases)
    it(`${whenDeleted} when deleted, ${whenScaled} when scaled, ${ordinal === 0 ? 'in use' : 'scaled away'}`, () => {
      const set = setWith(whenDeleted, whenScaled)
      const pod = podAt(ordinal)
      const free = { ...byOther, controller: false }
      for (const held of [[], [bySet], [byPod(ordinal)], [bySet, byPod(ordinal)], [{ ...bySet, controller: false }]]) {
        const owners = wantedOwners(claimOf(free, ...held), set, pod)
        const isRight = held.length === wanted.length && held.every(({ uid, controller }) => controller && uid === wanted[0])
        assert.deepEqual(uids(owners?.ownerReferences), isRight ? undefined : ['w', ...wanted], JSON.stringify(uids(held)))
        if (owners !== undefined)
          assert.equal(wantedOwners(claimOf(...owners.ownerReferences), set, pod), undefined, 'and then it is right')
      }
    })

  it('are left to another that controls the claim', () => {
    const set = setWith('Delete', 'Delete')
    assert.equal(wantedOwners(claimOf(byOther), set, podAt(0)), undefined)
    assert.deepEqual(wantedOwners(claimOf(byOther, bySet), set, podAt(0)), { ownerReferences: [byOther], isContested: true })
  })

  it('are not touched while they refer to an earlier life of the set or the pod', () => {
    const set = setWith('Delete', 'Delete')
    assert.equal(wantedOwners(claimOf({ ...bySet, uid: 'earlier' }), set, podAt(0)), undefined)
    assert.equal(wantedOwners(claimOf({ ...byPod(0), uid: 'earlier' }), set, podAt(0)), undefined)
  })

  it('are nobody where the policy cannot be understood', () => {
    assert.deepEqual(wantedOwners(claimOf(bySet), setWith('Delete', 'Perhaps'), podAt(0))?.ownerReferences, [])
  })

  it('make a claim stale that goes with an earlier pod', () => {
    const claim = claimOf({ ...byPod(0), uid: 'earlier' })
    assert.equal(isClaimStale(claim, setWith('Retain', 'Delete'), 'web-0'), true)
    assert.equal(isClaimStale(claim, setWith('Delete', 'Retain'), 'web-0'), false)
    assert.equal(isClaimStale(claimOf(bySet), setWith('Delete', 'Delete'), 'web-0'), false)
  })
})
