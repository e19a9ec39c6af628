/** Which claims concern which workloads, in whichever order they come, and what happens when that changes. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import { DATA_SOURCE_CLAIMS } from '../../../src/kinds/volcano/resources.ts'
import { CLAIMS_ANNOTATION } from '../../../src/kinds/volcano/well-known.ts'
import { findCondition } from '../../../src/kube/conditions.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import { HELD_REASON } from '../../../src/runtime/seams/narrowing.ts'
import { bindingOf, isIn, isPlaced } from '../../fleet/bindings.ts'
import { relabel } from '../../fleet/clusters.ts'
import { eventAppears, isOnlyIn, leaves } from '../../fleet/expectations.ts'
import { aConfigMap, aPropagationPolicy, on, selectorOf } from '../../fleet/manifests.ts'
import type { FleetArea, FleetTestbed } from '../../fleet/story.ts'
import {
  claimNamed,
  footprintOf,
  isBoundTo,
  isFree,
  isHeld,
  isPending,
  isReleased,
  isReleasedIn,
  isSatisfied,
  whereaboutsOf,
} from '../expectations.ts'
import { aClaim, aPolicyFor, aSelectingClaim, aSource, aWorkload, moveData, ownType, running, submit } from '../manifests.ts'

const naming = (claims: string): Record<string, string> => ({ [CLAIMS_ANNOTATION]: claims })

const withAnnotations = (object: KubeObject, annotations: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations },
})

const withLabels = (object: KubeObject, labels: Record<string, string>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels },
})

/** It runs on, but nothing new is decided about it. */
const isHeldRunning = (testbed: FleetTestbed, reason: string): Promise<void> =>
  testbed.until(`report runs and is held: ${reason}`, async () => {
    const binding = await bindingOf(testbed, DEPLOYMENTS, 'report')
    return binding?.metadata.annotations?.[HELD_REASON] === reason && (binding.spec.clusters ?? []).length > 0
  })

export const claimsAndWorkloads: FleetArea = {
  name: 'claims and workloads',
  stories: [
    {
      name: 'a workload that names its claims waits for them before they exist',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const workload = aWorkload('report', { annotations: naming('sales, stock') })
        await submit(testbed, workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchClaim', message: /claim sales, / })
        await testbed.hub.create(aSource(testbed, 'sales', [member1, member2]))
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchClaim', message: /claim stock, / })
        await testbed.hub.create(aSource(testbed, 'stock', [member2]))
        await testbed.hub.create(aClaim(testbed, 'stock', workload))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
      },
    },
    {
      name: 'a ConfigMap that names a claim waits and follows, too',
      async run(testbed) {
        const [, , member3] = testbed.members
        const template = withAnnotations(aConfigMap('settings'), naming('sales'))
        await submit(testbed, template)
        await isHeld(testbed, CONFIG_MAPS, 'settings', { reason: 'NoSuchClaim' })
        await testbed.hub.create(aClaim(testbed, 'sales', template))
        await isHeld(testbed, CONFIG_MAPS, 'settings', { reason: 'NoSuchSource' })
        await testbed.hub.create(aSource(testbed, 'sales', [member3]))
        await isReleasedIn(testbed, CONFIG_MAPS, 'settings', [member3])
        await isSatisfied(testbed, 'sales')
      },
    },
    {
      name: 'a claim that is deleted while its workload still names it: what was released stays as it is, what is new waits',
      async run(testbed) {
        const [, member2] = testbed.members
        await running(testbed, { places: [member2], workload: aWorkload('report', { annotations: naming('sales') }) })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await footprintOf(testbed, 'report')
        await testbed.hub.delete(DATA_SOURCE_CLAIMS, 'sales')
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        await submit(testbed, aWorkload('late', { annotations: naming('sales') }))
        await isHeld(testbed, DEPLOYMENTS, 'late', { reason: 'NoSuchClaim' })
      },
    },
    {
      name: 'D3: a claim whose workload has no namespace opens like one that names it',
      async run(testbed) {
        const [, member2] = testbed.members
        const [first, second] = [aWorkload('first'), aWorkload('second')]
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        const spec = { dataSourceName: testbed.unique('sales') }
        await testbed.hub.create(aClaim(testbed, 'first', first, { spec }))
        const workload = { ...selectorOf(second), namespace: testbed.namespace }
        await testbed.hub.create(aClaim(testbed, 'second', second, { spec: { ...spec, workload } }))
        await submit(testbed, first)
        await submit(testbed, second)
        await isReleased(testbed, DEPLOYMENTS, 'first', { member2: 1 })
        await isReleased(testbed, DEPLOYMENTS, 'second', { member2: 1 })
      },
    },
    {
      name: 'D16: no attributes and empty attributes are the same; others must be equal',
      async run(testbed) {
        const [, member2] = testbed.members
        const workload = aWorkload()
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await testbed.hub.create(aClaim(testbed, 'sales', workload, { spec: { attributes: {} } }))
        await testbed.hub.create(aSource(testbed, 'stock', [member2], { spec: { attributes: {} } }))
        await testbed.hub.create(aClaim(testbed, 'stock', workload))
        await testbed.hub.create(aSource(testbed, 'staff', [member2], { spec: { attributes: { tier: 'gold' } } }))
        await testbed.hub.create(aClaim(testbed, 'staff', workload, { spec: { attributes: { tier: 'gold', year: '2026' } } }))
        for (const name of ['sales', 'stock']) await isBoundTo(testbed, name, testbed.unique(name))
        await isPending(testbed, 'staff', 'NoSuchSource')
        await testbed.hub.patch(DATA_SOURCE_CLAIMS, 'staff', { spec: { attributes: { year: null } } })
        await isBoundTo(testbed, 'staff', testbed.unique('staff'))
      },
    },
    {
      name: 'D21: a claim that is deleted leaves no restriction behind',
      async run(testbed) {
        const [, member2] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await testbed.hub.delete(DATA_SOURCE_CLAIMS, 'sales')
        await isFree(testbed, DEPLOYMENTS, 'report', { member1: 1, member2: 1, member3: 1 })
      },
    },
    {
      name: 'D21: a claim that is deleted lets go what it held',
      async run(testbed) {
        const workload = aWorkload()
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await submit(testbed, workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
        await testbed.hub.delete(DATA_SOURCE_CLAIMS, 'sales')
        await isFree(testbed, DEPLOYMENTS, 'report', { member1: 1, member2: 1, member3: 1 })
      },
    },
    {
      name: 'D21: a claim that goes over to another workload frees the one and narrows the other',
      async run(testbed) {
        const [, member2] = testbed.members
        const other = aWorkload('other')
        await running(testbed, { places: [member2] })
        await submit(testbed, other)
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await isFree(testbed, DEPLOYMENTS, 'other', { member1: 1, member2: 1, member3: 1 })
        await testbed.hub.patch(DATA_SOURCE_CLAIMS, 'sales', { spec: { workload: selectorOf(other) } })
        await isFree(testbed, DEPLOYMENTS, 'report', { member1: 1, member2: 1, member3: 1 })
        await isReleased(testbed, DEPLOYMENTS, 'other', { member2: 1 }, { allow: ['member2'] })
        await isSatisfied(testbed, 'sales')
      },
    },
    {
      name: 'D21: a claim that comes to ask for other data moves its workload there, once that data is known',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await whereaboutsOf(testbed, 'report')
        await testbed.hub.patch(DATA_SOURCE_CLAIMS, 'sales', { spec: { dataSourceName: testbed.unique('stock') } })
        await isPending(testbed, 'sales', 'NoSuchSource')
        await isHeldRunning(testbed, 'NoSuchSource')
        assert.deepEqual(await whereaboutsOf(testbed, 'report'), before)
        await testbed.hub.create(aSource(testbed, 'stock', [member3]))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
      },
    },
    {
      name: 'R1: a claim that comes after its workload: what is outside leaves, what is inside stays, and an event says why',
      async run(testbed) {
        const [, member2] = testbed.members
        const workload = aWorkload()
        await submit(testbed, workload)
        await isPlaced(testbed, DEPLOYMENTS, 'report', { member1: 1, member2: 1, member3: 1 })
        await testbed.settle()
        const uid = (await member2.get(DEPLOYMENTS, 'report'))?.metadata.uid
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await isHeldRunning(testbed, 'NoSuchSource')
        await testbed.settle()
        await isPlaced(testbed, DEPLOYMENTS, 'report', { member1: 1, member2: 1, member3: 1 })
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        assert.equal((await member2.get(DEPLOYMENTS, 'report'))?.metadata.uid, uid)
        await eventAppears(testbed, 'Narrowed', /claim sales allows only member2: it leaves member1, member3/, undefined, 'report')
      },
    },
    {
      name: 'R1: a claim that comes after its workload, which is inside already: nothing moves',
      async run(testbed) {
        const [, member2] = testbed.members
        const workload = aWorkload()
        await submit(testbed, workload, on(member2))
        await isPlaced(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await whereaboutsOf(testbed, 'report')
        await testbed.hub.create(aSource(testbed, 'sales', testbed.members))
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await isSatisfied(testbed, 'sales')
        assert.deepEqual(await whereaboutsOf(testbed, 'report'), before)
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member1', 'member2', 'member3'] })
      },
    },
    {
      name: 'R2, R3: everything at once: it is scheduled once, and only to where the data is',
      async run(testbed) {
        const [, member2] = testbed.members
        const workload = aWorkload()
        await Promise.all([
          testbed.hub.create(aClaim(testbed, 'sales', workload)),
          testbed.hub.create(aSource(testbed, 'sales', [member2])),
          testbed.hub.create(aPolicyFor(workload)),
          testbed.hub.create(withAnnotations(workload, naming('sales'))),
        ])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        await isSatisfied(testbed, 'sales')
        const deployment = await member2.get(DEPLOYMENTS, 'report')
        // Labels and annotations of the claim and of the policy wake everybody again; nothing comes of it.
        const mark = { metadata: { labels: { again: 'yes' } } }
        await Promise.all([
          testbed.hub.patch(DATA_SOURCE_CLAIMS, 'sales', mark),
          testbed.hub.patch(PROPAGATION_POLICIES, 'report', mark),
          testbed.hub.patch(DEPLOYMENTS, 'report', mark),
        ])
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        assert.equal((await member2.get(DEPLOYMENTS, 'report'))?.metadata.uid, deployment?.metadata.uid)
      },
    },
    {
      name: 'what a workload takes along waits with it, and goes where it goes',
      async run(testbed) {
        const [, member2] = testbed.members
        const workload = aWorkload('report', { pod: { volumes: [{ name: 'settings', configMap: { name: 'settings' } }] } })
        await testbed.hub.create(aConfigMap('settings'))
        await testbed.hub.create(aClaim(testbed, 'sales', workload))
        await testbed.hub.create(aPolicyFor(workload, {}, { propagateDeps: true }))
        await testbed.hub.create(workload)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
        await leaves(testbed, CONFIG_MAPS, 'settings', testbed.members)
        await testbed.hub.create(aSource(testbed, 'sales', [member2]))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await isOnlyIn(testbed, CONFIG_MAPS, 'settings', [member2])
      },
    },
    {
      name: 'a workload that is deleted and made again is decided about again',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        await running(testbed, { places: [member2] })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        await moveData(testbed, 'sales', [member3])
        await testbed.hub.delete(DEPLOYMENTS, 'report')
        await leaves(testbed, DEPLOYMENTS, 'report', testbed.members)
        await testbed.until('no binding', async () => (await bindingOf(testbed, DEPLOYMENTS, 'report')) === undefined)
        await testbed.hub.create(aWorkload())
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
      },
    },
    {
      name: 'a claim means workloads of its own namespace only',
      async run(testbed) {
        const namespace = testbed.unique('neighbours')
        await testbed.hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
        const workload = aWorkload()
        const claim = aClaim(testbed, 'sales', workload)
        await testbed.hub.create({ ...claim, metadata: { ...claim.metadata, namespace } })
        await submit(testbed, workload)
        await isFree(testbed, DEPLOYMENTS, 'report', { member1: 1, member2: 1, member3: 1 })
      },
    },
    {
      name: 'a selector means every workload with its labels, now and later, and nothing that is no workload',
      needs: 'seed form', // workloadSelector
      async run(testbed) {
        const [, member2] = testbed.members
        const labels = { data: 'sales' }
        await testbed.hub.create(aSelectingClaim(testbed, 'sales', labels))
        await submit(testbed, aWorkload('first', { labels }))
        await submit(testbed, aWorkload('second', { labels }))
        await submit(testbed, aWorkload('free'))
        const settings = withLabels(aConfigMap('settings'), labels)
        await testbed.hub.create(aPropagationPolicy('settings', [selectorOf(settings)], {}))
        await testbed.hub.create(settings)
        for (const name of ['first', 'second']) await isHeld(testbed, DEPLOYMENTS, name, { reason: 'NoSuchSource' })
        await isFree(testbed, DEPLOYMENTS, 'free', { member1: 1, member2: 1, member3: 1 })
        await isIn(testbed, CONFIG_MAPS, 'settings', testbed.members)
        await testbed.hub.create(aSource(testbed, 'sales', [member2], { spec: { type: ownType(testbed) } }))
        for (const name of ['first', 'second']) await isReleased(testbed, DEPLOYMENTS, name, { member2: 1 })
        await submit(testbed, aWorkload('third', { labels }))
        await isReleased(testbed, DEPLOYMENTS, 'third', { member2: 1 })
        await isSatisfied(testbed, 'sales')
        // A workload that loses the label is free.
        await testbed.hub.patch(DEPLOYMENTS, 'first', { metadata: { labels: { data: null } } })
        await isFree(testbed, DEPLOYMENTS, 'first', { member1: 1, member2: 1, member3: 1 })
        await isIn(testbed, CONFIG_MAPS, 'settings', testbed.members)
      },
    },
    {
      name: 'a selector of attributes chooses the source, and a locality can be an affinity',
      needs: 'seed form', // workloadSelector, attributesSelector, clusterAffinity
      async run(testbed) {
        const [, , member3] = testbed.members
        const key = testbed.unique('site')
        const labels = { data: 'sales' }
        const spec = (attributes: Record<string, string>) => ({ type: ownType(testbed), attributes })
        const locality = { clusterAffinity: { labelSelector: { matchLabels: { [key]: 'yes' } } } }
        await testbed.hub.create(aSource(testbed, 'raw', testbed.members, { spec: spec({ tier: 'raw' }) }))
        await testbed.hub.create(aSource(testbed, 'gold', [], { spec: { ...spec({ tier: 'gold' }), locality } }))
        const attributesSelector = { matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold', 'silver'] }] }
        await testbed.hub.create(aSelectingClaim(testbed, 'sales', labels, { attributesSelector }))
        await submit(testbed, aWorkload('report', { labels }))
        await isBoundTo(testbed, 'sales', testbed.unique('gold'))
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoLocality', message: /selects no joined cluster/ })
        await relabel(testbed, member3, { [key]: 'yes' })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member3: 1 }, { allow: ['member3'] })
      },
    },
    {
      name: 'a claim that is bound to one object by name takes that or nothing',
      needs: 'seed form', // workloadSelector
      async run(testbed) {
        const [member1, member2] = testbed.members
        const labels = { data: 'sales' }
        const spec = { type: ownType(testbed) }
        await testbed.hub.create(aSource(testbed, 'other', [member1], { spec }))
        await testbed.hub.create(aSource(testbed, 'sales', [member2], { spec: { ...spec, system: 'spark' } }))
        await testbed.hub.create(aSelectingClaim(testbed, 'sales', labels, { dataSourceName: testbed.unique('sales') }))
        await submit(testbed, aWorkload('report', { labels }))
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource', message: /is of spark\/\S+, not of hive\// })
        const bound = findCondition((await claimNamed(testbed, 'sales'))?.status?.conditions, 'Bound')
        assert.deepEqual([bound?.status, bound?.reason], ['False', 'BindingInvalid'])
        await testbed.hub.patch(DATA_SOURCE_CLAIMS, 'sales', { spec: { system: 'spark' } })
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
      },
    },
  ],
}
