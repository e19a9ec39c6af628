import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectGone } from '../../../faultsim/expect/index.ts'
import { operationResource } from '../../../kinds/fluid/operation.ts'
import type { OperationKind } from '../../../kinds/fluid/operation-parts.ts'
import { CONFIG_MAPS, JOBS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Resource } from '../../../kube/resource.ts'
import { anOperation, KINDS } from '../testing.ts'
import { bindDataset, endPods, eventsOf, jobIn, phaseOf, setDataset, statusOf, story } from './testing.ts'

const JOB_NAMES: Record<OperationKind, string> = {
  DataLoad: 'one-loader-job',
  DataMigrate: 'one-migrate-migrate',
  DataBackup: 'one-pod',
  DataProcess: 'one-processor-job',
}
const resourceOf = (kind: OperationKind) => operationResource(kind) as Resource

for (const kind of KINDS)
  describe(`the life of a ${kind}`, () => {
    story('runs a Job, and is complete with it', async (world) => {
      const { member } = world
      await bindDataset(member)
      await member.create(anOperation(kind))
      await world.settle()
      assert.equal(await phaseOf(member, kind), 'Executing')
      await world.advance(63_000)
      await endPods(world, JOB_NAMES[kind])
      const { phase, conditions, duration, nodeAffinity, infos } = await statusOf(member, kind)
      assert.equal(phase, 'Complete')
      assert.deepEqual(
        conditions.map(({ type, status }) => `${type} ${status}`),
        ['Complete True'],
      )
      assert.match(duration, /^1m\d+s$/)
      assert.match(JSON.stringify(nodeAffinity), /"kubernetes\.io\/hostname".*"n1".*"z1"/)
      assert.deepEqual(infos ?? {}, kind === 'DataBackup' ? { BackupLocationPath: 'pvc://backups/demo', BackupLocationNodeName: 'NA' } : {})
      assert.deepEqual(await eventsOf(member, 'one'), [`Normal DataOperationSucceed: ${kind} one succeeded`])
    })

    story('fails with its Job, and says why', async (world) => {
      const { member } = world
      await bindDataset(member)
      await member.create(anOperation(kind))
      await world.settle()
      for (let tries = 0; tries < 4; tries++) {
        await endPods(world, JOB_NAMES[kind], 'Failed')
        await world.advance(120_000)
        await world.settle()
      }
      const { phase, conditions } = await statusOf(member, kind)
      assert.deepEqual([phase, conditions[0]?.type, conditions[0]?.reason], ['Failed', 'Failed', 'BackoffLimitExceeded'])
      assert.deepEqual(await eventsOf(member, 'one'), [`Warning DataOperationFailed: ${kind} one failed`])
    })

    story('waits for its dataset, and says so once', async (world) => {
      const { member } = world
      await member.create(anOperation(kind))
      await world.settle()
      assert.equal(await phaseOf(member, kind), 'Pending')
      assert.match((await statusOf(member, kind)).infos?.waiting ?? '', /^Target dataset not found: .*create it$/)
      await bindDataset(member, 'demo', 'NotBound')
      await world.settle()
      assert.match((await statusOf(member, kind)).infos?.waiting ?? '', /^Bounded accelerate runtime not ready/)
      await setDataset(member, 'Bound')
      await world.settle()
      const { phase, infos } = await statusOf(member, kind)
      assert.deepEqual([phase, infos ?? {}], ['Executing', {}])
    })

    story('is over when it is deleted, at whatever point, and leaves nothing', async (world) => {
      const { member } = world
      await bindDataset(member)
      for (const point of ['executing', 'complete', 'pending']) {
        if (point === 'pending') await setDataset(member, 'NotBound')
        await member.create(anOperation(kind))
        await world.settle()
        if (point === 'complete') await endPods(world, JOB_NAMES[kind])
        await member.delete(resourceOf(kind), 'default/one')
        await world.settle()
        // No node confirms that its pods have ended.
        for (const { metadata } of await member.list(PODS, { namespace: 'default' }))
          await member.inside(() =>
            member.client.delete(PODS, { namespace: 'default', name: metadata.name ?? '' }, { gracePeriodSeconds: 0 }),
          )
        await world.settle()
        await expectGone(member, resourceOf(kind), 'default/one')
        assert.deepEqual((await member.list(JOBS)).length, 0, point)
        assert.deepEqual(
          (await member.list(CONFIG_MAPS, { namespace: 'default', labelSelector: 'fluid.io/managed-by=fluid' })).length,
          0,
          point,
        )
      }
    })

    story('is deleted at its time, and not before', async (world) => {
      const { member } = world
      await bindDataset(member)
      const operation = anOperation(kind, { spec: { ttlSecondsAfterFinished: 60 } })
      await member.create(operation)
      await world.settle()
      await endPods(world, JOB_NAMES[kind])
      await world.advance(50_000)
      assert.equal(await phaseOf(member, kind), 'Complete')
      await world.advance(11_000)
      await world.settle()
      await expectGone(member, resourceOf(kind), 'default/one')
    })
  })

describe('a Job of somebody else', () => {
  story('is left alone, and the operation says what to do', async (world) => {
    const { member } = world
    await bindDataset(member)
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    await member.create({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { namespace: 'default', name: 'one-loader-job' },
      spec: { template },
    })
    await member.create(anOperation('DataLoad'))
    await world.settle()
    assert.match((await statusOf(member, 'DataLoad')).infos?.waiting ?? '', /Job one-loader-job exists and is not its own: delete it/)
    await member.inside(() =>
      member.client.delete(JOBS, { namespace: 'default', name: 'one-loader-job' }, { propagationPolicy: 'Background' }),
    )
    await world.settle()
    const job = await jobIn(member, 'one-loader-job')
    assert.deepEqual(
      job?.metadata.ownerReferences?.map(({ kind }) => kind),
      ['DataLoad'],
    )
  })
})

describe('an operation that came in without being judged', () => {
  story('fails with the reason, in a phase that nobody knows it does nothing, and it says so', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataLoad'))
    await world.settle()
    await endPods(world, 'one-loader-job')
    await member.patch(resourceOf('DataLoad'), 'default/one', { status: { phase: 'Paused' } }, 'status')
    await world.settle()
    const { phase, infos } = await statusOf(member, 'DataLoad')
    assert.equal(phase, 'Paused')
    assert.match(infos?.waiting ?? '', /its phase "Paused" is unknown, so nothing is done: set it to Pending or Failed/)
  })
})
