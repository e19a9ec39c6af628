import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { World, WorldCluster } from '../../../faultsim/world/index.ts'
import { CRON_JOBS, JOBS } from '../../../kinds/kubernetes/resources.ts'
import type { CronJob, CronJobSpec, CronJobStatus, Job } from '../../../kinds/kubernetes/types.ts'
import { endAll, eventsOf } from '../job/testing.ts'
import { cronJobController } from './controller.ts'
import { plan } from './plan.ts'

const MEMBER = { members: 1, hub: false }
const PERIOD = 600_000

function aCronJob(name: string, spec: CronJobSpec = {}): CronJob {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work' }] } }
  const jobTemplate = { metadata: { labels: { from: name }, annotations: { note: 'kept' } }, spec: { template } }
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'default' },
    spec: { schedule: '*/10 * * * *', jobTemplate, ...spec },
  }
}

async function jobsOf(cluster: WorldCluster, name: string): Promise<Job[]> {
  const jobs = (await cluster.list(JOBS, { namespace: 'default', labelSelector: `from=${name}` })) as Job[]
  return jobs.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

const namesOf = async (cluster: WorldCluster, name: string): Promise<(string | undefined)[]> =>
  (await jobsOf(cluster, name)).map(({ metadata }) => metadata.name)

async function statusOf(cluster: WorldCluster, name: string): Promise<CronJobStatus> {
  return ((await cluster.get(CRON_JOBS, `default/${name}`)) as CronJob | undefined)?.status ?? {}
}

/** To shortly after the next start of `aCronJob`'s schedule. */
async function nextStart(world: World): Promise<void> {
  await world.advance(PERIOD - (world.clock.now() % PERIOD) + 200)
  await world.settle()
}

const minutesAt = (time: string): number => Date.parse(time) / 60_000

describe('cron jobs', () => {
  story(
    'a job for each start, and what became of it',
    async (world) => {
      const { member } = world
      await member.create(aCronJob('regular'))
      await world.settle()
      assert.deepEqual(await statusOf(member, 'regular'), {})
      await nextStart(world)
      const [job, ...others] = await jobsOf(member, 'regular')
      const cron = await member.get(CRON_JOBS, 'default/regular')
      assert.ok(job !== undefined && others.length === 0)
      const name = `regular-${minutesAt('2026-01-01T00:10:00Z')}`
      assert.equal(job.metadata.name, name)
      assert.equal(job.metadata.annotations?.note, 'kept')
      assert.equal(job.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'], '2026-01-01T00:10:00Z')
      assert.deepEqual(job.metadata.ownerReferences, [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: 'regular', uid: cron?.metadata.uid, controller: true, blockOwnerDeletion: true },
      ])
      const { active, lastScheduleTime, lastSuccessfulTime } = await statusOf(member, 'regular')
      assert.deepEqual(
        [active?.map((one) => [one.name, one.uid]), lastScheduleTime, lastSuccessfulTime],
        [[[name, job.metadata.uid]], '2026-01-01T00:10:00Z', undefined],
      )
      await endAll(world, name, 'Succeeded')
      const after = await statusOf(member, 'regular')
      assert.deepEqual([after.active, after.lastSuccessfulTime], [undefined, (await jobsOf(member, 'regular'))[0]?.status?.completionTime])
      assert.deepEqual(await eventsOf(member, 'regular'), [
        `Normal SuccessfulCreate: Created job ${name}`,
        `Normal SawCompletedJob: Saw completed job: ${name}, condition: Complete`,
      ])
    },
    MEMBER,
  )

  story(
    'over a change of the clocks in its time zone',
    async (world) => {
      const { member } = world
      await member.create(aCronJob('night', { schedule: '30 1-3 * * *', timeZone: 'America/New_York' }))
      await world.advance(62 * 60_000)
      // Half past two did not exist.
      assert.deepEqual(
        (await jobsOf(member, 'night')).map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']),
        ['2026-03-08T01:30:00-05:00', '2026-03-08T03:30:00-04:00'],
      )
    },
    { ...MEMBER, startMs: Date.parse('2026-03-08T06:29:00Z') },
  )

  story(
    'Allow, Forbid and Replace when the one before still runs',
    async (world) => {
      const { member } = world
      for (const concurrencyPolicy of ['Allow', 'Forbid', 'Replace'])
        await member.create(aCronJob(concurrencyPolicy.toLowerCase(), { concurrencyPolicy }))
      await nextStart(world)
      await nextStart(world)
      const [first, second] = [minutesAt('2026-01-01T00:10:00Z'), minutesAt('2026-01-01T00:20:00Z')]
      assert.deepEqual(await namesOf(member, 'allow'), [`allow-${first}`, `allow-${second}`])
      assert.deepEqual(await namesOf(member, 'forbid'), [`forbid-${first}`])
      assert.deepEqual(await namesOf(member, 'replace'), [`replace-${second}`])
      assert.equal((await statusOf(member, 'allow')).active?.length, 2)
      assert.deepEqual(
        (await statusOf(member, 'replace')).active?.map(({ name }) => name),
        [`replace-${second}`],
      )
      assert.deepEqual(await eventsOf(member, 'forbid'), [
        `Normal SuccessfulCreate: Created job forbid-${first}`,
        'Normal JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid',
      ])
      assert.deepEqual(await eventsOf(member, 'replace'), [
        `Normal SuccessfulCreate: Created job replace-${first}`,
        `Normal SuccessfulDelete: Deleted job replace-${first}`,
        `Normal SuccessfulCreate: Created job replace-${second}`,
      ])
      // As soon as the previous Job has ended, the delayed start happens.
      await endAll(world, `forbid-${first}`, 'Succeeded')
      assert.deepEqual(await namesOf(member, 'forbid'), [`forbid-${first}`, `forbid-${second}`])
    },
    MEMBER,
  )

  story(
    'the history is kept short',
    async (world) => {
      const { member } = world
      await member.create(aCronJob('kept', { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 }))
      for (const outcome of ['Succeeded', 'Succeeded', 'Succeeded']) {
        await nextStart(world)
        const last = (await namesOf(member, 'kept')).at(-1) ?? ''
        await endAll(world, last, outcome as 'Succeeded')
      }
      const [two, three] = [minutesAt('2026-01-01T00:20:00Z'), minutesAt('2026-01-01T00:30:00Z')]
      assert.deepEqual(await namesOf(member, 'kept'), [`kept-${two}`, `kept-${three}`])
      const events = await eventsOf(member, 'kept')
      assert.ok(events.includes(`Normal SuccessfulDelete: Deleted job kept-${minutesAt('2026-01-01T00:10:00Z')}`), events.join('\n'))
    },
    MEMBER,
  )

  story(
    'suspended ones start nothing, and then only the last start that was missed',
    async (world) => {
      const { member } = world
      await member.create(aCronJob('pause', { suspend: true }))
      await member.create(aCronJob('strict', { suspend: true, startingDeadlineSeconds: 100 }))
      await member.create(aCronJob('minutely', { suspend: true, schedule: '@every 20s' }))
      await world.advance(3.5 * PERIOD)
      for (const name of ['pause', 'strict', 'minutely']) assert.deepEqual(await namesOf(member, name), [])
      for (const name of ['pause', 'strict', 'minutely']) await member.patch(CRON_JOBS, `default/${name}`, { spec: { suspend: false } })
      await world.settle()
      assert.deepEqual(await namesOf(member, 'pause'), [`pause-${minutesAt('2026-01-01T00:30:00Z')}`])
      assert.deepEqual(await namesOf(member, 'strict'), [], 'five minutes late is too late')
      assert.equal((await namesOf(member, 'minutely')).length, 1)
      const [first] = await eventsOf(member, 'minutely')
      assert.equal(
        first,
        'Warning TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
      )
      await member.patch(CRON_JOBS, 'default/minutely', { spec: { suspend: true } })
    },
    MEMBER,
  )

  story(
    'a schedule that is never due is told of',
    async (world) => {
      await world.member.create(aCronJob('never', { schedule: '0 0 31 2 *' }))
      await world.settle()
      assert.deepEqual(await eventsOf(world.member, 'never'), [
        'Warning InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
      ])
      await world.member.delete(CRON_JOBS, 'default/never')
    },
    MEMBER,
  )

  story(
    'jobs that others make in its name are not its own, and active ones that go are missed',
    async (world) => {
      const { member } = world
      await member.create(aCronJob('own'))
      const cron = await member.get(CRON_JOBS, 'default/own')
      const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'own', uid: cron?.metadata.uid ?? '', controller: true }]
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work' }] } }
      await member.create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'by-hand', namespace: 'default', ownerReferences },
        spec: { template },
      })
      await world.settle()
      assert.deepEqual(await statusOf(member, 'own'), {})
      assert.deepEqual(await eventsOf(member, 'own'), [
        'Warning UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand',
      ])
      await nextStart(world)
      const [name] = await namesOf(member, 'own')
      await member.delete(JOBS, `default/${name}`, { propagationPolicy: 'Background' })
      await world.settle()
      assert.equal((await statusOf(member, 'own')).active, undefined)
      assert.deepEqual(await namesOf(member, 'own'), [], 'a start is made once')
      assert.equal((await eventsOf(member, 'own')).at(-1), `Normal MissingJob: Active job went missing: ${name}`)
    },
    MEMBER,
  )

  it('plans nothing that throws, whatever the object says', () => {
    const odd: CronJobSpec[] = [
      {},
      { schedule: '' },
      { schedule: 'TZ=Nowhere/None * * * * *' },
      { schedule: '* * * * *', timeZone: 'posixrules' },
      { schedule: '* * * * *', timeZone: '' },
      { schedule: '@every 0s' },
      { schedule: '@every 1000000h', startingDeadlineSeconds: 0 },
    ]
    for (const spec of odd)
      for (const creationTimestamp of [undefined, 'nonsense', '1970-01-01T00:00:00Z', '9999-01-01T00:00:00Z']) {
        const cron: CronJob = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'x', creationTimestamp }, spec }
        const { actions } = plan({ cron, jobs: [], nowMs: Date.parse('2026-01-01T00:00:30Z'), isTaken: () => false, isCurrent: true })
        assert.ok(actions.length <= 1)
      }
  })

  survives(cronJobController, {
    steps: [
      (cluster) => cluster.create(aCronJob('often', { suspend: true })),
      // As if it had been suspended for long: the last missed start happens.
      (cluster) => cluster.patch(CRON_JOBS, 'default/often', { status: { lastScheduleTime: '2025-12-31T23:00:00Z' } }, 'status'),
      (cluster) => cluster.patch(CRON_JOBS, 'default/often', { spec: { suspend: false } }),
      async (cluster) => {
        const [job] = await jobsOf(cluster, 'often')
        if (job !== undefined) await cluster.delete(JOBS, `default/${job.metadata.name}`, { propagationPolicy: 'Background' })
      },
    ],
    invariants: [
      {
        says: 'a start is made once',
        broken(objects) {
          const jobs = objects.list('jobs')
          return jobs.length <= 1 ? undefined : jobs.map(({ metadata }) => metadata.name).join()
        },
      },
    ],
    async atRest(cluster) {
      assert.deepEqual(await statusOf(cluster, 'often'), { lastScheduleTime: '2026-01-01T00:00:00Z' })
    },
  })
})
