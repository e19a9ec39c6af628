/** What a user's own webhook tells the fleet about their kind, and what happens while it does not answer. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { WAITING_BECAUSE } from '../../../src/fleet/detector/binding/annotations.ts'
import type { AggregatedStatusItem } from '../../../src/kinds/karmada/index.ts'
import { executionNamespace } from '../../../src/kinds/karmada/names.ts'
import { CONFIG_MAPS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { bindingOf, isPlaced, reportedAs, type Shares } from '../bindings.ts'
import { type Boat, KNOWN_OPERATIONS } from '../boat-webhook.ts'
import { eventAppears, isOnlyIn, reaches } from '../expectations.ts'
import { BAD_DAYS, endBadDay, ferryAt, type Harbour, harbour, launch } from '../harbour.ts'
import { report } from '../own-kind.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

const seatsIn = (object: KubeObject): number => (object as Boat).spec.seats ?? 0

const divided = (testbed: FleetTestbed, { boats }: Harbour, shares: Shares): Promise<void> =>
  isPlaced(testbed, boats.resource, 'ferry', shares, { replicas: seatsIn })

const sails = (testbed: FleetTestbed, at: Harbour, sailing: number): Promise<void> =>
  testbed.until(`a template that says ${sailing} sail`, async () => (await ferryAt(testbed.hub, at))?.status?.sailing === sailing)

/** Until the waiting object says why, in the server's words if there are any. */
const waitsBecause = (testbed: FleetTestbed, waiting: () => Promise<KubeObject | undefined>, why: RegExp): Promise<void> =>
  testbed.until(`a wait because of ${why}`, async () => why.test((await waiting())?.metadata.annotations?.[WAITING_BECAUSE] ?? ''))

const isReport =
  (status: Boat['status'], health: string) =>
  (item: AggregatedStatusItem): boolean =>
    isDeepStrictEqual(item.status, status) && item.health === health

/** As the template says, but with the captain that the member found. */
const isRepaired =
  (color: string) =>
  (boat: KubeObject): boolean =>
    (boat as Boat).spec.color === color && (boat as Boat).spec.captain === 'anne'

/** The ferry is in both members, and healthy. */
async function sailing(testbed: FleetTestbed, at: Harbour): Promise<void> {
  const [member1, member2] = testbed.members
  await launch(testbed, at)
  await divided(testbed, at, { member1: 2, member2: 4 })
  await reaches(testbed, CONFIG_MAPS, 'coast', [member1, member2])
  await report(member1, at.boats, 'ferry', { sailing: 2 })
  await report(member2, at.boats, 'ferry', { sailing: 4 })
  await sails(testbed, at, 6)
}

export const interpreterWebhook: FleetArea = {
  name: 'interpreter webhook',
  stories: [
    {
      name: 'a server reads and divides replicas, names what goes along, and says how members are and what that makes together',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const at = await harbour(testbed)
        const { resource } = at.boats
        await launch(testbed, at)
        await divided(testbed, at, { member1: 2, member2: 4 })
        const spec = (await bindingOf(testbed, resource, 'ferry'))?.spec
        assert.equal(spec?.replicas, 6)
        assert.deepEqual(spec?.replicaRequirements?.resourceRequest, { cpu: '100m' })
        await reaches(testbed, CONFIG_MAPS, 'coast', [member1, member2], ({ data }) => data?.depth === '7')
        await isOnlyIn(testbed, CONFIG_MAPS, 'coast', [member1, member2])
        await report(member1, at.boats, 'ferry', { sailing: 2, weather: 'fair' })
        await report(member2, at.boats, 'ferry', { sailing: 3, weather: 'foul' })
        await reportedAs(testbed, resource, 'ferry', 'member1', isReport({ sailing: 2 }, 'Healthy'))
        await reportedAs(testbed, resource, 'ferry', 'member2', isReport({ sailing: 3 }, 'Unhealthy'))
        await sails(testbed, at, 5)
        await report(member2, at.boats, 'ferry', { sailing: 4 })
        await reportedAs(testbed, resource, 'ferry', 'member2', isReport({ sailing: 4 }, 'Healthy'))
        await sails(testbed, at, 6)
        await testbed.hub.patch(resource, 'ferry', { spec: { seats: 9 } })
        await divided(testbed, at, { member1: 3, member2: 6 })
        assert.deepEqual([...at.webhook.asked].sort(), [...KNOWN_OPERATIONS].sort())
      },
    },
    {
      name: 'what the server keeps of a member stays, everything else is repaired',
      async run(testbed) {
        const [member1] = testbed.members
        const at = await harbour(testbed)
        const { resource } = at.boats
        await launch(testbed, at)
        await divided(testbed, at, { member1: 2, member2: 4 })
        await member1.patch(resource, 'ferry', { spec: { captain: 'anne', color: 'blue' } })
        await reaches(testbed, resource, 'ferry', [member1], isRepaired('red'))
        await testbed.hub.patch(resource, 'ferry', { spec: { color: 'green' } })
        await reaches(testbed, resource, 'ferry', [member1], isRepaired('green'))
      },
    },
    ...BAD_DAYS.map(({ name, begin, why }) => ({
      name: `what is new while the server ${name} waits with the reason, and goes on when it is well`,
      async run(testbed: FleetTestbed) {
        const at = await harbour(testbed)
        begin(at)
        await launch(testbed, at)
        await waitsBecause(testbed, () => ferryAt(testbed.hub, at), why)
        await eventAppears(testbed, 'GetReplicasFailed', why, undefined, 'ferry')
        await isOnlyIn(testbed, at.boats.resource, 'ferry', [])
        endBadDay(at)
        await divided(testbed, at, { member1: 2, member2: 4 })
        assert.equal((await ferryAt(testbed.hub, at))?.metadata.annotations?.[WAITING_BECAUSE], undefined)
      },
    })),
    ...BAD_DAYS.map(({ name, begin, why }) => ({
      name: `while the server ${name}, how members were stands, and how they are is read when it is well`,
      async run(testbed: FleetTestbed) {
        const [, member2] = testbed.members
        const at = await harbour(testbed)
        await sailing(testbed, at)
        begin(at)
        await report(member2, at.boats, 'ferry', { sailing: 3 })
        await reportedAs(testbed, at.boats.resource, 'ferry', 'member2', isReport({ sailing: 4 }, 'Unknown'))
        await eventAppears(testbed, 'InterpretHealthFailed', why, { namespace: executionNamespace('member2') })
        await eventAppears(testbed, 'ReflectStatusFailed', why, { namespace: executionNamespace('member2') })
        assert.equal((await ferryAt(testbed.hub, at))?.status?.sailing, 6)
        endBadDay(at)
        await reportedAs(testbed, at.boats.resource, 'ferry', 'member2', isReport({ sailing: 3 }, 'Unhealthy'))
        await sails(testbed, at, 5)
      },
    })),
    ...BAD_DAYS.map(({ name, begin, why }) => ({
      name: `while the server ${name}, members keep what they have, and changes wait with the reason until it is well`,
      async run(testbed: FleetTestbed) {
        const [member1, member2] = testbed.members
        const at = await harbour(testbed)
        const { resource } = at.boats
        await sailing(testbed, at)
        begin(at)
        await testbed.hub.patch(resource, 'ferry', { spec: { seats: 9 } })
        await member1.patch(resource, 'ferry', { spec: { captain: 'anne', color: 'blue' } })
        await waitsBecause(testbed, () => bindingOf(testbed, resource, 'ferry') as Promise<KubeObject | undefined>, why)
        await eventAppears(testbed, 'SyncFailed', why, undefined, 'ferry')
        await reportedAs(
          testbed,
          resource,
          'ferry',
          'member1',
          ({ applied, appliedMessage = '' }) => applied !== true && why.test(appliedMessage),
        )
        await divided(testbed, at, { member1: 2, member2: 4 })
        await isOnlyIn(testbed, CONFIG_MAPS, 'coast', [member1, member2])
        assert.equal((await ferryAt(member1, at))?.spec.captain, 'anne')
        endBadDay(at)
        await divided(testbed, at, { member1: 3, member2: 6 })
        await reaches(testbed, resource, 'ferry', [member1], isRepaired('red'))
        await testbed.until('nothing waits', async () => {
          const binding = await bindingOf(testbed, resource, 'ferry')
          return binding?.metadata.annotations?.[WAITING_BECAUSE] === undefined
        })
      },
    })),
  ],
}
