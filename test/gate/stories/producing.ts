/** Workloads that make data for others: what claims it waits for them, follows them, and says how they are doing. */
import assert from 'node:assert/strict'
import { PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { DEPLOYMENTS, JOBS } from '../../../src/kinds/kubernetes/resources.ts'
import type { DataSource } from '../../../src/kinds/volcano/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../../../src/kinds/volcano/resources.ts'
import { sourceObjectName } from '../../../src/kinds/volcano/source-name.ts'
import { CLAIMS_ANNOTATION, PRODUCES_ANNOTATION, SOURCE_VERSION } from '../../../src/kinds/volcano/well-known.ts'
import { eventAppears, reaches } from '../../fleet/expectations.ts'
import { aJob, on } from '../../fleet/manifests.ts'
import type { FleetArea, FleetTestbed } from '../../fleet/story.ts'
import { footprintOf, isBoundTo, isHeld, isPending, isReleased, isSatisfied, waitsFor } from '../expectations.ts'
import { aReportedJob, fails, succeeds } from '../jobs.ts'
import { aClaim, aPolicyFor, aSource, aWorkload, dataName, SYSTEM, submit, TYPE } from '../manifests.ts'

const making = (...data: string[]): Record<string, string> => ({ [PRODUCES_ANNOTATION]: data.join(', ') })

/** The object that stands for what this namespace makes under a name. */
const madeName = (testbed: FleetTestbed, name: string, type = TYPE): string =>
  sourceObjectName({ system: SYSTEM, type, name }, testbed.namespace)

const made = (testbed: FleetTestbed, base: string): Promise<DataSource | undefined> =>
  testbed.hub.get(DATA_SOURCES, madeName(testbed, testbed.unique(base)))

/** Until what the namespace makes is known in this version, in these clusters. */
const isMade = (testbed: FleetTestbed, base: string, version: string, clusters: readonly string[]): Promise<void> =>
  testbed.until(`${base} made in version ${version} in ${clusters.join(', ')}`, async () => {
    const source = await made(testbed, base)
    return source?.metadata.annotations?.[SOURCE_VERSION] === version && source.spec.locality.clusterNames?.join() === clusters.join()
  })

/** A Deployment that claims what a story makes as `sales`. */
async function aConsumer(testbed: FleetTestbed): Promise<void> {
  const consumer = aWorkload()
  await testbed.hub.create(aClaim(testbed, 'sales', consumer))
  await submit(testbed, consumer)
}

export const producing: FleetArea = {
  name: 'producing data',
  stories: [
    {
      name: 'what claims data that a Job makes waits until the Job has succeeded, and goes where it ran',
      async run(testbed) {
        const [, member2] = testbed.members
        await aConsumer(testbed)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NoSuchSource' })
        const job = aReportedJob('make', making(dataName(testbed, 'sales')))
        await testbed.hub.create(job)
        const makes = `Job ${testbed.namespace}/make makes hive/table/sales-\\S+, and`
        await isPending(testbed, 'sales', 'NotProducedYet', new RegExp(`${makes} is not placed yet`))
        await testbed.hub.create(aPolicyFor(job, on(member2)))
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'NotProducedYet', message: new RegExp(`${makes} is running`) })
        await isPending(testbed, 'sales', 'NotProducedYet', new RegExp(`${makes} is running`))
        await succeeds(testbed, member2, 'make')
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 }, { allow: ['member2'] })
        await isMade(testbed, 'sales', 'v1', ['member2'])
        await isBoundTo(testbed, 'sales', madeName(testbed, testbed.unique('sales')))
        await isSatisfied(testbed, 'sales')
        await eventAppears(testbed, 'Published', /is published as DataSource \S+, version v1, in member2/, undefined, 'make')
        // It is kept when nobody claims it any more.
        await testbed.hub.delete(DATA_SOURCE_CLAIMS, 'sales')
        await testbed.settle()
        assert.equal((await made(testbed, 'sales'))?.status?.boundClaims, 0)
      },
    },
    {
      name: 'a Job whose pods succeed makes its data, from one Job to the next to the last',
      needs: 'pods', // they must run and end
      async run(testbed) {
        const [, , member3] = testbed.members
        const link = (name: string, annotations: Record<string, string>) => ({ ...aJob(name), metadata: { name, annotations } })
        const first = link('first', making(dataName(testbed, 'raw')))
        const second = link('second', { ...making(dataName(testbed, 'clean')), [CLAIMS_ANNOTATION]: 'raw' })
        const third = link('third', { [CLAIMS_ANNOTATION]: 'clean' })
        for (const job of [third, second]) await submit(testbed, job)
        await testbed.hub.create(aClaim(testbed, 'clean', third))
        await testbed.hub.create(aClaim(testbed, 'raw', second))
        for (const name of ['second', 'third'])
          await isHeld(testbed, JOBS, name, { reason: name === 'third' ? 'NotProducedYet' : 'NoSuchSource' })
        await waitsFor(testbed, 'clean', 'NotProducedYet', /Job \S+\/second makes \S+, and is held: NoSuchSource/)
        await submit(testbed, first, on(member3))
        await isReleased(testbed, JOBS, 'third', { member3: 1 })
        await isMade(testbed, 'clean', 'v1', ['member3'])
      },
    },
    {
      name: 'a Job that is run again makes a new version: what is new goes there, what runs stays',
      async run(testbed) {
        const [, member2, member3] = testbed.members
        const job = aReportedJob('make', making(dataName(testbed, 'sales')))
        await aConsumer(testbed)
        await submit(testbed, job, on(member2))
        await succeeds(testbed, member2, 'make')
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const before = await footprintOf(testbed, 'report')
        await testbed.hub.delete(JOBS, 'make')
        await testbed.until('the Job gone', async () => (await member2.get(JOBS, 'make')) === undefined)
        await isSatisfied(testbed, 'sales')
        await testbed.hub.create({ ...aPolicyFor(job, on(member3)), metadata: { name: 'again' } })
        await testbed.hub.delete(PROPAGATION_POLICIES, 'make')
        await testbed.hub.create(job)
        await succeeds(testbed, member3, 'make')
        await isMade(testbed, 'sales', 'v2', ['member3'])
        assert.deepEqual(await footprintOf(testbed, 'report'), before)
        const late = aWorkload('late')
        await testbed.hub.create(aClaim(testbed, 'late', late, { spec: { dataSourceName: testbed.unique('sales') } }))
        await submit(testbed, late)
        await isReleased(testbed, DEPLOYMENTS, 'late', { member3: 1 })
      },
    },
    {
      name: 'copies of a Job each make the data: it is wherever one of them has succeeded',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await submit(testbed, aReportedJob('make', making(dataName(testbed, 'sales'))), on(member1, member2))
        await succeeds(testbed, member2, 'make')
        await isMade(testbed, 'sales', 'v1', ['member2'])
        await succeeds(testbed, member1, 'make')
        await isMade(testbed, 'sales', 'v1', ['member1', 'member2'])
      },
    },
    {
      name: 'a Job that fails is reported on what waits for it, which goes on waiting',
      async run(testbed) {
        const [, member2] = testbed.members
        const job = aReportedJob('make', making(dataName(testbed, 'sales')))
        await aConsumer(testbed)
        await submit(testbed, job, on(member2))
        await fails(testbed, member2, 'make')
        await isPending(testbed, 'sales', 'ProducerFailed', /Job \S+\/make makes hive\/table\/sales-\S+, and has failed/)
        await isHeld(testbed, DEPLOYMENTS, 'report', { reason: 'ProducerFailed' })
        assert.equal(await made(testbed, 'sales'), undefined)
        // Another one does it.
        await submit(testbed, aReportedJob('again', making(dataName(testbed, 'sales'))), on(member2))
        await isPending(testbed, 'sales', 'NotProducedYet', /Job \S+\/again makes/)
        await succeeds(testbed, member2, 'again')
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
      },
    },
    {
      name: 'two Jobs that wait for each other: both claims say so with who is in the circle, until somebody breaks it',
      async run(testbed) {
        const [member1] = testbed.members
        const hen = aReportedJob('hen', { ...making(dataName(testbed, 'egg')), [CLAIMS_ANNOTATION]: 'hatched' })
        const egg = aReportedJob('brood', { ...making(dataName(testbed, 'hatched')), [CLAIMS_ANNOTATION]: 'egg' })
        await testbed.hub.create(aClaim(testbed, 'hatched', hen))
        await testbed.hub.create(aClaim(testbed, 'egg', egg))
        await submit(testbed, hen)
        await submit(testbed, egg)
        for (const claim of ['egg', 'hatched']) {
          await isPending(testbed, claim, 'DependencyCycle', /egg/)
          await isPending(testbed, claim, 'DependencyCycle', /hatched/)
        }
        for (const name of ['hen', 'brood']) await isHeld(testbed, JOBS, name, { reason: 'DependencyCycle' })
        await testbed.hub.create(aSource(testbed, 'egg', [member1]))
        await isReleased(testbed, JOBS, 'brood', { member1: 1 })
        await succeeds(testbed, member1, 'brood')
        await isReleased(testbed, JOBS, 'hen', { member1: 1 })
      },
    },
    {
      name: 'D15: data may be called anything, and names that run together are kept apart',
      async run(testbed) {
        const [, member2] = testbed.members
        const odd = testbed.unique('Lake_RAW/Sales:2026')
        const between = testbed.unique('b')
        const consumer = aWorkload()
        const claim = aClaim(testbed, 'odd', consumer, { spec: { dataSourceName: odd } })
        await testbed.hub.create(claim)
        await submit(testbed, consumer)
        await testbed.hub.create(aSource(testbed, 'odd', [member2], { spec: { name: odd } }))
        await isReleased(testbed, DEPLOYMENTS, 'report', { member2: 1 })
        const names = [
          { type: 'a', name: `${between}-c` },
          { type: `a-${between}`, name: 'c' },
          { type: TYPE, name: `${odd}_made` },
        ]
        const data = names.map(({ type, name }) => `${SYSTEM}/${type}/${name}`)
        await submit(testbed, aReportedJob('make', making(...data)), on(member2))
        await succeeds(testbed, member2, 'make')
        for (const { type, name } of names)
          await testbed.until(`a source for ${type}/${name}`, async () => {
            const source = await testbed.hub.get(DATA_SOURCES, madeName(testbed, name, type))
            return source?.spec.type === type && source.spec.name === name
          })
        assert.equal(new Set(names.map(({ type, name }) => madeName(testbed, name, type))).size, names.length)
      },
    },
    {
      name: 'D17: a source that a person wrote is never changed by what makes the same data, and the Job is told',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const own = await testbed.hub.create(aSource(testbed, 'sales', [member1]))
        await submit(testbed, aReportedJob('make', making(dataName(testbed, 'sales'))), on(member2))
        await succeeds(testbed, member2, 'make')
        await eventAppears(testbed, 'NotPublished', /DataSource sales-\S+ stands for it, which no workload made/, undefined, 'make')
        await testbed.settle()
        const { metadata, spec } = (await testbed.hub.get(DATA_SOURCES, testbed.unique('sales'))) ?? {}
        assert.deepEqual([metadata?.uid, metadata?.annotations, spec], [own.metadata.uid, undefined, own.spec])
        assert.equal(await made(testbed, 'sales'), undefined)
        // When the person takes it away, the Job's own stands for it.
        await testbed.hub.delete(DATA_SOURCES, testbed.unique('sales'))
        await isMade(testbed, 'sales', 'v1', ['member2'])
        await reaches(testbed, JOBS, 'make', [member2])
      },
    },
  ],
}
