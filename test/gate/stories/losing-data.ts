/** Sources that are deleted, emptied or damaged: what runs stays, what is new waits, and nothing is stuck. */
import assert from 'node:assert/strict'
import { DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../../src/kinds/volcano/resources.ts'
import { DATA_SOURCE_CLAIM_FINALIZER, DATA_SOURCE_FINALIZER } from '../../../src/kinds/volcano/well-known.ts'
import { findCondition } from '../../../src/kube/conditions.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import { eventAppears } from '../../fleet/expectations.ts'
import type { FleetArea, FleetTestbed } from '../../fleet/story.ts'
import { claimNamed, footprintOf, isBoundTo, isHeld, isPending, isReleased, isSatisfied, isUsedBy, sourceNamed } from '../expectations.ts'
import { aClaim, aSource, aWorkload, moveData, running, submit } from '../manifests.ts'

const isGone = (testbed: FleetTestbed, base: string): Promise<void> =>
  testbed.until(`source ${base} gone`, async () => (await sourceNamed(testbed, base)) === undefined)

const boundBecause = async (testbed: FleetTestbed, claim: string): Promise<string | undefined> =>
  findCondition((await claimNamed(testbed, claim))?.status?.conditions, 'Bound')?.reason

const deleteSource = (testbed: FleetTestbed, base: string): Promise<void> => testbed.hub.delete(DATA_SOURCES, testbed.unique(base))

/** Ours fail closed while nobody serves them: who must write then removes them. They come back with the controllers. */
async function removeWebhooks({ hub }: FleetTestbed): Promise<void> {
  for (const { metadata } of await hub.list(VALIDATING_WEBHOOKS)) await hub.delete(VALIDATING_WEBHOOKS, metadata.name ?? '')
}

const VALIDATING_WEBHOOKS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
}

export const losingData: FleetArea = {
  name: 'losing data',
  stories: [
    {
      name: 'D8, drill 4: a source is deleted: what runs is untouched, what is new waits, and a new source opens for that alone',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await footprintOf(testbed, 'report')
        await deleteSource(testbed, 'sales')
        await isGone(testbed, 'sales')
        await isPending(testbed, 'sales', 'NoSuchSource')
        assert.equal(await boundBecause(testbed, 'sales'), 'BindingInvalid')
        await eventAppears(testbed, 'BindingInvalid', /DataSource sales-\S+ was deleted/, undefined, 'sales')
        const late = aWorkload('late')
        await testbed.hub.create(aClaim(testbed, 'late', late, { spec: { dataSourceName: testbed.unique('sales') } }))
        await submit(testbed, late)
        await isHeld(testbed, DEPLOYMENTS, 'late', { reason: 'NoSuchSource' })
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await testbed.hub.create(aSource(testbed, 'sales', [member3]))
        await isReleased(testbed, DEPLOYMENTS, 'late', { member3: 1 })
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await isSatisfied(testbed, 'sales')
        await isUsedBy(testbed, 'sales', ['late', 'sales'])
      },
    },
    {
      name: 'D11: a source that is gone when the controllers come back: its claim says so, and binds again when it returns',
      alone: 'restored',
      async run(testbed) {
        const [, member2] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await footprintOf(testbed, 'report')
        await testbed.restart(async () => {
          await removeWebhooks(testbed)
          await testbed.hub.patch(DATA_SOURCES, testbed.unique('sales'), { metadata: { finalizers: null } })
          await deleteSource(testbed, 'sales')
        })
        await isPending(testbed, 'sales', 'NoSuchSource')
        assert.equal(await boundBecause(testbed, 'sales'), 'BindingInvalid')
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isSatisfied(testbed, 'sales')
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
      },
    },
    {
      name: 'D12: damaged back references are repaired, and nobody depends on them',
      async run(testbed) {
        const [member1] = testbed.members
        await running(testbed, { places: [{ name: 'atlantis' }] })
        await isUsedBy(testbed, 'sales', ['sales'])
        const name = testbed.unique('sales')
        const stranger = { apiVersion: 'v1', kind: 'ConfigMap', namespace: testbed.namespace, name: 'stranger', uid: 'none' }
        await testbed.hub.patch(DATA_SOURCES, name, { status: { claimRefs: [stranger], boundClaims: 7 } }, { subresource: 'status' })
        await isUsedBy(testbed, 'sales', ['sales'])
        await testbed.hub.patch(DATA_SOURCES, name, { status: null }, { subresource: 'status' })
        await moveData(testbed, 'sales', [member1])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member1: 1 })
        await isUsedBy(testbed, 'sales', ['sales'])
        await testbed.hub.patch(DATA_SOURCES, name, { status: { claimRef: [], claimRefs: [stranger] } }, { subresource: 'status' })
        await deleteSource(testbed, 'sales')
        await isGone(testbed, 'sales')
        await isPending(testbed, 'sales', 'NoSuchSource')
      },
    },
    {
      name: 'D13: a source that nobody uses, deleted while no controller ran, is let go',
      alone: 'restored',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aSource(testbed, 'sales', [member1]))
        await testbed.hub.create(aClaim(testbed, 'sales', aWorkload()))
        await isUsedBy(testbed, 'sales', ['sales'])
        await testbed.restart(async () => {
          await testbed.hub.delete(DATA_SOURCE_CLAIMS, 'sales')
          await deleteSource(testbed, 'sales')
          assert.deepEqual((await sourceNamed(testbed, 'sales'))?.metadata.finalizers, [DATA_SOURCE_FINALIZER], 'it is kept')
        })
        await isGone(testbed, 'sales')
      },
    },
    {
      name: "volcano-global's finalizer does not keep a claim",
      async run(testbed) {
        const workload = aWorkload()
        const claim = aClaim(testbed, 'sales', workload)
        await testbed.hub.create({ ...claim, metadata: { ...claim.metadata, finalizers: [DATA_SOURCE_CLAIM_FINALIZER] } })
        await isPending(testbed, 'sales', 'NoSuchSource')
        await testbed.hub.delete(DATA_SOURCE_CLAIMS, 'sales')
        await testbed.until('the claim gone', async () => (await claimNamed(testbed, 'sales')) === undefined)
      },
    },
    {
      name: 'a source that is kept while it is deleted is not bound any more, and says so to what waits',
      async run(testbed) {
        const [, member2] = testbed.members
        const keep = 'example.com/keep'
        await testbed.hub.create(aSource(testbed, 'sales', [member2], { finalizers: [keep] }))
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await isBoundTo(testbed, 'sales', testbed.unique('sales'))
        await testbed.settle()
        assert.deepEqual(
          [...((await sourceNamed(testbed, 'sales'))?.metadata.finalizers ?? [])].sort(),
          [DATA_SOURCE_FINALIZER, keep].sort(),
        )
        await deleteSource(testbed, 'sales')
        await isPending(testbed, 'sales', 'SourceGoing', /DataSource sales-\S+ is being deleted/)
        await submit(testbed, workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'SourceGoing' })
        assert.deepEqual((await sourceNamed(testbed, 'sales'))?.metadata.finalizers, [keep])
        await testbed.hub.patch(DATA_SOURCES, testbed.unique('sales'), { metadata: { finalizers: null } })
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
      },
    },
    {
      name: 'a source that comes to hold something else is unbound, and what runs stays',
      async run(testbed) {
        const [, member2] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await footprintOf(testbed, 'report')
        await testbed.hub.patch(DATA_SOURCES, testbed.unique('sales'), { spec: { attributes: { color: 'red' } } })
        await isPending(testbed, 'sales', 'NoSuchSource')
        assert.equal(await boundBecause(testbed, 'sales'), 'BindingInvalid')
        await isUsedBy(testbed, 'sales', [])
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
      },
    },
    {
      name: 'reclaim policy: with its last claim, Delete removes the source and Retain keeps it',
      async run(testbed) {
        const [member1] = testbed.members
        const workload = aWorkload()
        for (const [base, reclaimPolicy] of [
          ['sales', 'Delete'],
          ['stock', 'Retain'],
        ] as const) {
          await testbed.hub.create(aSource(testbed, base, [member1], { spec: { reclaimPolicy } }))
          for (const name of [`${base}-1`, `${base}-2`])
            await testbed.hub.create(aClaim(testbed, name, workload, { spec: { dataSourceName: testbed.unique(base) } }))
          await isUsedBy(testbed, base, [`${base}-1`, `${base}-2`])
          await testbed.hub.delete(DATA_SOURCE_CLAIMS, `${base}-1`)
          await isUsedBy(testbed, base, [`${base}-2`])
          await testbed.hub.delete(DATA_SOURCE_CLAIMS, `${base}-2`)
        }
        await isGone(testbed, 'sales')
        await isUsedBy(testbed, 'stock', [])
        await testbed.settle()
        assert.deepEqual((await sourceNamed(testbed, 'stock'))?.metadata.finalizers ?? [], [], 'nothing keeps it any more')
      },
    },
  ],
}
