import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { World } from '../../../faultsim/world/index.ts'
import { operationResource } from '../../../kinds/fluid/operation.ts'
import type { OperationKind } from '../../../kinds/fluid/operation-parts.ts'
import { CRON_JOBS, JOBS } from '../../../kinds/kubernetes/resources.ts'
import type { CronJob, Job } from '../../../kinds/kubernetes/types.ts'
import type { Resource } from '../../../kube/resource.ts'
import { anOperation } from '../testing.ts'
import { bindDataset, endPods, eventsOf, phaseOf, statusOf, story } from './testing.ts'

const CRON_JOB_NAMES = { DataLoad: 'one-loader-job', DataMigrate: 'one-migrate-migrate', DataProcess: 'one-processor-job' } as const
const cron = { policy: 'Cron', schedule: '*/10 * * * *' }
const PERIOD = 600_000

/** To shortly after the next start; the name of the Job that it made. */
async function nextRun(world: World, kind: keyof typeof CRON_JOB_NAMES): Promise<string> {
  await world.advance(PERIOD - (world.clock.now() % PERIOD) + 200)
  await world.settle()
  const jobs = (await world.member.list(JOBS, { namespace: 'default', labelSelector: `cronjob=${CRON_JOB_NAMES[kind]}` })) as Job[]
  return (
    jobs
      .map(({ metadata }) => metadata.name ?? '')
      .sort()
      .at(-1) ?? ''
  )
}

for (const kind of Object.keys(CRON_JOB_NAMES) as (keyof typeof CRON_JOB_NAMES)[])
  describe(`a ${kind} by schedule`, () => {
    story('says of each run how it ends, begins again, and keeps the times', async (world) => {
      const { member } = world
      await bindDataset(member)
      await member.create(anOperation(kind, { spec: { ...cron, ttlSecondsAfterFinished: 0 } }))
      await world.settle()
      assert.equal(await phaseOf(member, kind), 'Executing')
      const first = await nextRun(world, kind)
      await endPods(world, first)
      const { phase, lastScheduleTime, lastSuccessfulTime } = await statusOf(member, kind)
      assert.equal(phase, 'Complete')
      assert.ok(lastScheduleTime !== undefined && lastSuccessfulTime !== undefined)
      const second = await nextRun(world, kind)
      assert.notEqual(second, first)
      assert.equal(await phaseOf(member, kind), 'Executing')
      await endPods(world, second)
      const last = await statusOf(member, kind)
      assert.equal(last.phase, 'Complete')
      assert.notEqual(last.lastScheduleTime, lastScheduleTime)
      assert.deepEqual([...new Set(await eventsOf(member, 'one'))], [`Normal DataOperationSucceed: ${kind} one succeeded`])
    })
  })

describe('an operation by schedule', () => {
  story('follows its spec, and takes its CronJob with it', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataProcess', { spec: cron }))
    await world.settle()
    const resource = operationResource('DataProcess' satisfies OperationKind) as Resource
    await member.patch(resource, 'default/one', { spec: { schedule: 'CRON_TZ=Europe/Berlin 0 3 * * *' } })
    await world.settle()
    const { spec } = (await member.get(CRON_JOBS, 'default/one-processor-job')) as CronJob
    assert.deepEqual([spec?.schedule, spec?.timeZone], ['0 3 * * *', 'Europe/Berlin'])
    await member.delete(resource, 'default/one')
    await world.settle()
    assert.equal(await member.get(CRON_JOBS, 'default/one-processor-job'), undefined)
    assert.equal(await member.get(resource, 'default/one'), undefined)
  })

  story('releases who waits for it with the first completion after that one came', async (world) => {
    const { member } = world
    await bindDataset(member)
    await member.create(anOperation('DataLoad', { spec: cron }))
    await world.settle()
    await endPods(world, await nextRun(world, 'DataLoad'))
    await world.advance(2000)
    await member.create(anOperation('DataProcess', { metadata: { name: 'next' }, spec: { runAfter: { kind: 'DataLoad', name: 'one' } } }))
    await world.settle()
    assert.equal(await phaseOf(member, 'DataProcess', 'next'), 'Pending')
    assert.match((await statusOf(member, 'DataProcess', 'next')).infos?.waiting ?? '', /next completion .* runs by schedule/)
    await endPods(world, await nextRun(world, 'DataLoad'))
    assert.equal(await phaseOf(member, 'DataProcess', 'next'), 'Executing')
  })
})
