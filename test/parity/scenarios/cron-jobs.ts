/** CronJobs: when they fire, and why not. Most must wait for the next minute. */
import { messageOf } from '../../../src/base/error-text.ts'
import { CRON_JOBS, JOBS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { cronJob, job, pod } from './objects.ts'
import { podsIn } from './waits.ts'

const SLOW = { slow: true }
const EVERY_MINUTE = '* * * * *'

/** Waits over more than one minute: a schedule has no seconds. */
async function inTime(testbed: Testbed, what: string, check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 3 && !(await check()); i++) {
    try {
      await testbed.until(what, check)
    } catch (error) {
      if (i === 2) throw error
    }
  }
}

const fired = (testbed: Testbed, count = 1) => inTime(testbed, `${count} jobs`, async () => (await testbed.list(JOBS)).length >= count)

export const CRON_JOB_SCENARIOS: readonly Scenario[] = [
  scenario('cron job: suspended does nothing', async (testbed) => {
    await testbed.create(cronJob('tick', EVERY_MINUTE, { suspend: true }))
    await testbed.noteAll('suspended', CRON_JOBS, JOBS)
    await testbed.noteEvents('suspended')
  }),
  scenario('cron job: not yet due', async (testbed) => {
    await testbed.create(cronJob('tick', '0 0 29 2 *', { timeZone: 'Asia/Kathmandu' }))
    await testbed.noteAll('waiting', CRON_JOBS, JOBS)
    await testbed.noteEvents('waiting')
  }),
  scenario('cron job: a schedule that never comes', async (testbed) => {
    await testbed.create(cronJob('tick', '0 0 31 2 *'))
    await testbed.noteAll('never', CRON_JOBS, JOBS)
    await testbed.noteEvents('never')
  }),
  scenario(
    'cron job: fires, is recorded, and the job ends',
    async (testbed) => {
      await testbed.create(cronJob('tick', EVERY_MINUTE, { timeZone: 'Asia/Kathmandu' }))
      await fired(testbed)
      await testbed.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      const [first] = await podsIn(testbed, 1, 'Running')
      await testbed.noteAll('fired', CRON_JOBS, JOBS, PODS)
      await testbed.finish(first ?? pod(''), 0)
      await testbed.until('finished', async () => (await testbed.get(CRON_JOBS, 'tick'))?.status?.active === undefined)
      await testbed.noteAll('finished', CRON_JOBS, JOBS, PODS)
      await testbed.noteEvents('finished')
    },
    SLOW,
  ),
  scenario(
    'cron job: Forbid does not fire twice',
    async (testbed) => {
      await testbed.create(cronJob('tick', EVERY_MINUTE, { concurrencyPolicy: 'Forbid' }))
      await fired(testbed)
      await testbed.pass(65)
      await testbed.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      await testbed.noteAll('once', CRON_JOBS, JOBS)
      await testbed.noteEvents('once')
    },
    SLOW,
  ),
  scenario(
    'cron job: Replace ends the one before',
    async (testbed) => {
      await testbed.create(cronJob('tick', EVERY_MINUTE, { concurrencyPolicy: 'Replace' }))
      await fired(testbed)
      const [first] = await testbed.list(JOBS)
      await inTime(testbed, 'another', async () => {
        const jobs = await testbed.list(JOBS)
        return jobs.length === 1 && jobs[0]?.metadata.uid !== first?.metadata.uid
      })
      await testbed.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      await podsIn(testbed, 1, 'Running')
      await testbed.noteAll('replaced', CRON_JOBS, JOBS)
      await testbed.noteEvents('replaced')
    },
    SLOW,
  ),
  scenario(
    'cron job: Allow runs two, and history is limited',
    async (testbed) => {
      await testbed.create(cronJob('tick', EVERY_MINUTE, { successfulJobsHistoryLimit: 1 }))
      await fired(testbed, 2)
      await testbed.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      const pods = await podsIn(testbed, 2, 'Running')
      await testbed.noteAll('two', CRON_JOBS, JOBS)
      for (const one of pods) await testbed.finish(one, 0)
      await testbed.until('one is kept', async () => (await testbed.list(JOBS)).length === 1)
      await testbed.noteAll('kept', CRON_JOBS, JOBS)
      await testbed.noteEvents('kept')
    },
    SLOW,
  ),
  scenario(
    'cron job: too late by startingDeadlineSeconds',
    async (testbed) => {
      await testbed.create(cronJob('tick', EVERY_MINUTE, { suspend: true, startingDeadlineSeconds: 1 }))
      await testbed.pass(65)
      await testbed.noteAll('late', CRON_JOBS, JOBS)
    },
    SLOW,
  ),
  scenario(
    'cron job: deleted with its jobs',
    async (testbed) => {
      await testbed.create(cronJob('tick', EVERY_MINUTE))
      await fired(testbed)
      await testbed.delete(CRON_JOBS, 'tick')
      await testbed.until('no jobs', async () => (await testbed.list(JOBS)).length === 0 && (await testbed.list(PODS)).length === 0)
      await testbed.noteAll('gone', CRON_JOBS, JOBS, PODS)
    },
    SLOW,
  ),
  scenario('cron job: a job made from it by hand is not counted', async (testbed) => {
    const tick = await testbed.create(cronJob('tick', '0 0 1 1 *', { suspend: true }))
    const manual = job('manual')
    manual.metadata = {
      ...manual.metadata,
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: tick.metadata.uid ?? '', controller: true }],
    }
    await testbed.create(manual)
    const [first] = await podsIn(testbed, 1, 'Running')
    await testbed.noteAll('running', CRON_JOBS, JOBS)
    await testbed.finish(first ?? pod(''), 0)
    await testbed.until('done', async () => (await testbed.get(JOBS, 'manual'))?.status?.succeeded === 1)
    await testbed.noteAll('done', CRON_JOBS, JOBS)
    await testbed.noteEvents('done')
  }),
  scenario('cron job: schedules and time zones that are refused', async (testbed) => {
    const refusal = async (schedule: string, spec: Record<string, unknown>): Promise<string> => {
      try {
        await testbed.create(cronJob('tick', schedule, spec))
        return 'created'
      } catch (error) {
        return messageOf(error)
      }
    }
    testbed.note('zone', await refusal(EVERY_MINUTE, { timeZone: 'Mars/Olympus' }))
    testbed.note('local', await refusal(EVERY_MINUTE, { timeZone: 'Local' }))
    testbed.note('empty', await refusal(EVERY_MINUTE, { timeZone: '' }))
    testbed.note('in the schedule', await refusal(`TZ=UTC ${EVERY_MINUTE}`, {}))
    testbed.note('too few', await refusal('* * * *', {}))
    testbed.note('out of range', await refusal('61 * * * *', {}))
  }),
  scenario(
    'cron job: what was missed while suspended is made up for once',
    async (testbed) => {
      await testbed.create(cronJob('tick', EVERY_MINUTE, { suspend: true }))
      await testbed.pass(125)
      await testbed.patch(CRON_JOBS, 'tick', { spec: { suspend: false } })
      await testbed.until('fired', async () => (await testbed.list(JOBS)).length === 1)
      await testbed.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      await podsIn(testbed, 1, 'Running')
      await testbed.noteAll('once', CRON_JOBS, JOBS)
      await testbed.noteEvents('once')
    },
    SLOW,
  ),
]
