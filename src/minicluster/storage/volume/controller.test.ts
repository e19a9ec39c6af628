import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../kinds/kubernetes/resources.ts'
import type { PersistentVolume } from '../../../kinds/kubernetes/types.ts'
import { eventsOf } from '../../../runtime/workloads/pod/testing.ts'
import { PROVISIONED_BY } from '../names.ts'
import { aClaim, aVolume, theClaim, theVolume } from '../testing.ts'
import { plan, volumePhases } from './controller.ts'

const MEMBER = { members: 1 }
const NOTHING = new Set<string>()

describe('the phase of a volume', () => {
  const mine = { ...aClaim('mine', { volumeName: 'v' }), metadata: { name: 'mine', namespace: 'default', uid: 'u' } }
  const given = { claimRef: { namespace: 'default', name: 'mine', uid: 'u' } }
  const made = { annotations: { [PROVISIONED_BY]: 'example.com/disks' } }
  const cases: [string, PersistentVolume, string | undefined, string | undefined][] = [
    ['nobody has it', aVolume('v'), undefined, 'Available'],
    ['reserved by name', aVolume('v', { claimRef: { namespace: 'default', name: 'mine' } }), undefined, 'Available'],
    ['its claim names it', aVolume('v', given), 'v', 'Bound'],
    ['its claim names nobody yet', aVolume('v', given), '', undefined],
    ['its claim took another', aVolume('v', given), 'w', undefined],
    [
      'its claim took another, and it was made for it',
      aVolume('v', { ...given, persistentVolumeReclaimPolicy: 'Delete' }, made),
      'w',
      'Released',
    ],
    ['its claim is gone', aVolume('v', given), undefined, 'Released'],
  ]
  for (const [name, volume, taken, phase] of cases)
    it(`${name}: ${phase ?? 'as it was'}`, () => {
      const claim = taken === undefined ? undefined : { ...mine, spec: { ...mine.spec, volumeName: taken } }
      const [action] = plan({ volume, claim, recorded: NOTHING, recordedOfClaim: NOTHING, nowMs: 0 }).actions
      const status = action?.do === 'patch' ? (action.patch.status as { phase: string }) : undefined
      assert.equal(status?.phase, phase)
    })

  const ends: [string, string | undefined, string | undefined][] = [
    ['Retain', undefined, undefined],
    ['Delete', undefined, 'VolumeFailedDelete'],
    ['Delete', 'example.com/disks', undefined],
    ['Delete', 'kubernetes.io/old', 'VolumeFailedDelete'],
    ['Recycle', undefined, 'VolumeFailedRecycle'],
    ['Burn', undefined, 'VolumeUnknownReclaimPolicy'],
  ]
  for (const [policy, by, reason] of ends)
    it(`released with policy ${policy}, made by ${by ?? 'a person'}: ${reason ?? 'nothing'}`, () => {
      const metadata = by === undefined ? {} : { annotations: { [PROVISIONED_BY]: by } }
      const volume = { ...aVolume('v', { ...given, persistentVolumeReclaimPolicy: policy }, metadata), status: { phase: 'Released' } }
      const { actions } = plan({ volume, claim: undefined, recorded: NOTHING, recordedOfClaim: NOTHING, nowMs: 0 })
      const [action] = actions
      const events = action?.do === 'patch' ? action.events : undefined
      assert.equal(typeof events === 'object' && 'reason' in events ? events.reason : undefined, reason)
      assert.equal(actions.length, reason === undefined ? 0 : 1)
    })
})

describe('volumes whose claim goes', () => {
  story(
    'are released and retained; a new claim of the same name does not get them',
    async (world) => {
      const { member } = world
      await member.create(aVolume('kept'))
      await member.create(aClaim('mine'))
      await world.settle()
      await member.delete(PERSISTENT_VOLUME_CLAIMS, 'default/mine')
      await world.settle()
      const released = await theVolume(member, 'kept')
      assert.equal(released?.status?.phase, 'Released')
      assert.equal(released?.spec?.claimRef?.name, 'mine')
      await member.create(aClaim('mine'))
      await world.settle()
      assert.equal((await theClaim(member, 'mine'))?.status?.phase, 'Pending')
      await member.patch(PERSISTENT_VOLUMES, 'kept', { spec: { claimRef: null } })
      await world.settle()
      assert.equal((await theClaim(member, 'mine'))?.status?.phase, 'Bound')
    },
    MEMBER,
  )

  story(
    'fail when their policy is Delete and nobody can',
    async (world) => {
      const { member } = world
      await member.create(aVolume('doomed', { persistentVolumeReclaimPolicy: 'Delete' }))
      await member.create(aClaim('mine'))
      await world.settle()
      await member.delete(PERSISTENT_VOLUME_CLAIMS, 'default/mine')
      await world.settle()
      const why = 'error getting deleter volume plugin for volume "doomed": no deletable volume plugin matched'
      const { phase, message } = (await theVolume(member, 'doomed'))?.status ?? {}
      assert.deepEqual({ phase, message }, { phase: 'Failed', message: why })
      assert.deepEqual(await eventsOf(member, 'PersistentVolume', 'doomed'), [`VolumeFailedDelete: ${why}`])
    },
    MEMBER,
  )
})

story(
  'a volume reserved for a claim of another mode is told to both',
  async (world) => {
    const { member } = world
    const claim = await member.create(aClaim('mine', { volumeMode: 'Block' }))
    await member.create(aVolume('files', { claimRef: { namespace: 'default', name: 'mine', uid: claim.metadata.uid } }))
    await world.settle()
    assert.deepEqual(await eventsOf(member, 'PersistentVolume', 'files'), [
      'VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim "mine" due to incompatible volumeMode.',
    ])
    const recorded = await eventsOf(member, 'PersistentVolumeClaim', 'mine')
    assert.ok(
      recorded.includes(
        'VolumeMismatch: Cannot bind PersistentVolume "files" to requested PersistentVolumeClaim due to incompatible volumeMode.',
      ),
    )
  },
  MEMBER,
)

survives(volumePhases(), {
  steps: [
    (cluster) => cluster.create(aVolume('a')),
    (cluster) => cluster.create(aClaim('mine')),
    (cluster) => cluster.delete(PERSISTENT_VOLUME_CLAIMS, 'default/mine'),
  ],
  async atRest(cluster) {
    assert.equal((await theVolume(cluster, 'a'))?.status?.phase, 'Released')
  },
})
