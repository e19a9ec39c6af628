/** CronJobs: when they fire, and why not. Most must wait for the next minute. */
import { messageOf } from '../../../src/base/error-text.ts'
import { CRON_JOBS, JOBS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { cronJob, job, pod } from './objects.ts'
import { podsIn } from './waits.ts'

const SLOW = { slow: true }
const EVERY_MINUTE = '* * * * *'

/** Waits over more than one minute: a schedule has no seconds. */
async function inTime(stage: Stage, what: string, check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 3 && !(await check()); i++) {
    try {
      await stage.until(what, check)
    } catch (error) {
      if (i === 2) throw error
    }
  }
}

const fired = (stage: Stage, count = 1) => inTime(stage, `${count} jobs`, async () => (await stage.list(JOBS)).length >= count)

export const CRON_JOB_SCENARIOS: readonly Scenario[] = [
  scenario('cron job: suspended does nothing', async (stage) => {
    await stage.create(cronJob('tick', EVERY_MINUTE, { suspend: true }))
    await stage.noteAll('suspended', CRON_JOBS, JOBS)
    await stage.noteEvents('suspended')
  }),
  scenario('cron job: not yet due', async (stage) => {
    await stage.create(cronJob('tick', '0 0 29 2 *', { timeZone: 'Asia/Kathmandu' }))
    await stage.noteAll('waiting', CRON_JOBS, JOBS)
    await stage.noteEvents('waiting')
  }),
  scenario('cron job: a schedule that never comes', async (stage) => {
    await stage.create(cronJob('tick', '0 0 31 2 *'))
    await stage.noteAll('never', CRON_JOBS, JOBS)
    await stage.noteEvents('never')
  }),
  scenario(
    'cron job: fires, is recorded, and the job ends',
    async (stage) => {
      await stage.create(cronJob('tick', EVERY_MINUTE, { timeZone: 'Asia/Kathmandu' }))
      await fired(stage)
      await stage.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      const [first] = await podsIn(stage, 1, 'Running')
      await stage.noteAll('fired', CRON_JOBS, JOBS, PODS)
      await stage.finish(first ?? pod(''), 0)
      await stage.until('finished', async () => (await stage.get(CRON_JOBS, 'tick'))?.status?.active === undefined)
      await stage.noteAll('finished', CRON_JOBS, JOBS, PODS)
      await stage.noteEvents('finished')
    },
    SLOW,
  ),
  scenario(
    'cron job: Forbid does not fire twice',
    async (stage) => {
      await stage.create(cronJob('tick', EVERY_MINUTE, { concurrencyPolicy: 'Forbid' }))
      await fired(stage)
      await stage.pass(65)
      await stage.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      await stage.noteAll('once', CRON_JOBS, JOBS)
      await stage.noteEvents('once')
    },
    SLOW,
  ),
  scenario(
    'cron job: Replace ends the one before',
    async (stage) => {
      await stage.create(cronJob('tick', EVERY_MINUTE, { concurrencyPolicy: 'Replace' }))
      await fired(stage)
      const [first] = await stage.list(JOBS)
      await inTime(stage, 'another', async () => {
        const jobs = await stage.list(JOBS)
        return jobs.length === 1 && jobs[0]?.metadata.uid !== first?.metadata.uid
      })
      await stage.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      await podsIn(stage, 1, 'Running')
      await stage.noteAll('replaced', CRON_JOBS, JOBS)
      await stage.noteEvents('replaced')
    },
    SLOW,
  ),
  scenario(
    'cron job: Allow runs two, and history is limited',
    async (stage) => {
      await stage.create(cronJob('tick', EVERY_MINUTE, { successfulJobsHistoryLimit: 1 }))
      await fired(stage, 2)
      await stage.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      const pods = await podsIn(stage, 2, 'Running')
      await stage.noteAll('two', CRON_JOBS, JOBS)
      for (const one of pods) await stage.finish(one, 0)
      await stage.until('one is kept', async () => (await stage.list(JOBS)).length === 1)
      await stage.noteAll('kept', CRON_JOBS, JOBS)
      await stage.noteEvents('kept')
    },
    SLOW,
  ),
  scenario(
    'cron job: too late by startingDeadlineSeconds',
    async (stage) => {
      await stage.create(cronJob('tick', EVERY_MINUTE, { suspend: true, startingDeadlineSeconds: 1 }))
      await stage.pass(65)
      await stage.noteAll('late', CRON_JOBS, JOBS)
    },
    SLOW,
  ),
  scenario(
    'cron job: deleted with its jobs',
    async (stage) => {
      await stage.create(cronJob('tick', EVERY_MINUTE))
      await fired(stage)
      await stage.delete(CRON_JOBS, 'tick')
      await stage.until('no jobs', async () => (await stage.list(JOBS)).length === 0 && (await stage.list(PODS)).length === 0)
      await stage.noteAll('gone', CRON_JOBS, JOBS, PODS)
    },
    SLOW,
  ),
  scenario('cron job: a job made from it by hand is not counted', async (stage) => {
    const tick = await stage.create(cronJob('tick', '0 0 1 1 *', { suspend: true }))
    const manual = job('manual')
    manual.metadata = {
      ...manual.metadata,
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: tick.metadata.uid ?? '', controller: true }],
    }
    await stage.create(manual)
    const [first] = await podsIn(stage, 1, 'Running')
    await stage.noteAll('running', CRON_JOBS, JOBS)
    await stage.finish(first ?? pod(''), 0)
    await stage.until('done', async () => (await stage.get(JOBS, 'manual'))?.status?.succeeded === 1)
    await stage.noteAll('done', CRON_JOBS, JOBS)
    await stage.noteEvents('done')
  }),
  scenario('cron job: schedules and time zones that are refused', async (stage) => {
    const refusal = async (schedule: string, spec: Record<string, unknown>): Promise<string> => {
      try {
        await stage.create(cronJob('tick', schedule, spec))
        return 'created'
      } catch (error) {
        return messageOf(error)
      }
    }
    stage.note('zone', await refusal(EVERY_MINUTE, { timeZone: 'Mars/Olympus' }))
    stage.note('local', await refusal(EVERY_MINUTE, { timeZone: 'Local' }))
    stage.note('empty', await refusal(EVERY_MINUTE, { timeZone: '' }))
    stage.note('in the schedule', await refusal(`TZ=UTC ${EVERY_MINUTE}`, {}))
    stage.note('too few', await refusal('* * * *', {}))
    stage.note('out of range', await refusal('61 * * * *', {}))
  }),
  scenario(
    'cron job: what was missed while suspended is made up for once',
    async (stage) => {
      await stage.create(cronJob('tick', EVERY_MINUTE, { suspend: true }))
      await stage.pass(125)
      await stage.patch(CRON_JOBS, 'tick', { spec: { suspend: false } })
      await stage.until('fired', async () => (await stage.list(JOBS)).length === 1)
      await stage.patch(CRON_JOBS, 'tick', { spec: { suspend: true } })
      await podsIn(stage, 1, 'Running')
      await stage.noteAll('once', CRON_JOBS, JOBS)
      await stage.noteEvents('once')
    },
    SLOW,
  ),
]
