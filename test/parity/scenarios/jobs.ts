/** Jobs: their modes, ends and failures. */
import { JOBS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Job, Pod } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, type Stage, scenario } from '../scenario.ts'
import { job, NOWHERE, pod } from './objects.ts'
import { gone, jobIs, podsIn } from './waits.ts'

const INDEX = 'batch.kubernetes.io/job-completion-index'

const jobHas = (stage: Stage, what: string, check: (status: NonNullable<Job['status']>) => boolean) =>
  stage.until(`the job ${what}`, async () => check((await stage.get(JOBS, 'work'))?.status ?? {}))

/** Ends every running pod with this code, and waits until the job has counted them. */
async function finishAll(stage: Stage, running: number, exitCode: number): Promise<void> {
  const before = (await stage.get(JOBS, 'work'))?.status ?? {}
  for (const one of await podsIn(stage, running, 'Running')) await stage.finish(one, exitCode)
  const [field, was] = exitCode === 0 ? (['succeeded', before.succeeded] as const) : (['failed', before.failed] as const)
  await jobHas(stage, `counted ${running} ${field}`, (status) => (status[field] ?? 0) >= (was ?? 0) + running)
}

const indexed = (pods: readonly Pod[], index: number): Pod =>
  pods.find(({ metadata }) => metadata.labels?.[INDEX] === String(index)) ?? pod('')

async function ended(stage: Stage, how: 'Complete' | 'Failed'): Promise<void> {
  await jobIs(stage, 'work', how)
  await stage.noteAll('ended', JOBS, PODS)
  await stage.noteEvents('ended')
}

export const JOB_SCENARIOS: readonly Scenario[] = [
  scenario('job: runs once', async (stage) => {
    await stage.create(job('work'))
    await podsIn(stage, 1, 'Running')
    await jobHas(stage, 'is ready', ({ ready }) => ready === 1)
    await stage.noteAll('running', JOBS, PODS)
    await finishAll(stage, 1, 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: some completions at a time', async (stage) => {
    await stage.create(job('work', { completions: 3, parallelism: 2 }))
    await podsIn(stage, 2, 'Running')
    await jobHas(stage, 'is ready', ({ ready }) => ready === 2)
    await stage.noteAll('two', JOBS, PODS)
    await finishAll(stage, 2, 0)
    await podsIn(stage, 1, 'Running')
    await jobHas(stage, 'is ready', ({ ready }) => ready === 1)
    await stage.noteAll('last', JOBS, PODS)
    await finishAll(stage, 1, 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: a work queue ends when one has ended well and the others follow', async (stage) => {
    await stage.create(job('work', { parallelism: 3 }))
    const [first, ...others] = await podsIn(stage, 3, 'Running')
    await stage.finish(first ?? pod(''), 0)
    await jobHas(stage, 'counted', ({ succeeded }) => succeeded === 1)
    await stage.noteAll('one', JOBS, PODS)
    for (const one of others) await stage.finish(one, 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: Indexed, with gaps', async (stage) => {
    await stage.create(job('work', { completionMode: 'Indexed', completions: 5, parallelism: 5 }))
    const pods = await podsIn(stage, 5, 'Running')
    for (const i of [0, 2, 3]) await stage.finish(indexed(pods, i), 0)
    await jobHas(stage, 'counted', ({ completedIndexes }) => completedIndexes === '0,2,3')
    await stage.noteAll('gaps', JOBS, PODS)
    for (const i of [1, 4]) await stage.finish(indexed(pods, i), 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: Indexed goes on with the lowest index', async (stage) => {
    await stage.create(job('work', { completionMode: 'Indexed', completions: 4, parallelism: 2 }))
    const pods = await podsIn(stage, 2, 'Running')
    await stage.finish(indexed(pods, 1), 0)
    await jobHas(stage, 'counted', ({ completedIndexes }) => completedIndexes === '1')
    await podsIn(stage, 2, 'Running')
    await stage.noteAll('next', JOBS, PODS)
  }),
  scenario('job: Indexed, grown and shrunk', async (stage) => {
    await stage.create(job('work', { completionMode: 'Indexed', completions: 4, parallelism: 4 }))
    await podsIn(stage, 4, 'Running')
    await stage.patch(JOBS, 'work', { spec: { completions: 2, parallelism: 2 } })
    await podsIn(stage, 2, 'Running')
    await jobHas(stage, 'has two', ({ active, ready }) => active === 2 && ready === 2)
    await stage.noteAll('shrunk', JOBS, PODS)
    await finishAll(stage, 2, 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: backoffLimit 0 fails at once', async (stage) => {
    await stage.create(job('work', { backoffLimit: 0 }))
    await finishAll(stage, 1, 1)
    await ended(stage, 'Failed')
  }),
  scenario(
    'job: fails after backoffLimit retries',
    async (stage) => {
      await stage.create(job('work', { backoffLimit: 1 }))
      await finishAll(stage, 1, 1)
      await finishAll(stage, 1, 1)
      await ended(stage, 'Failed')
    },
    { slow: true },
  ),
  scenario(
    'job: a retry succeeds',
    async (stage) => {
      await stage.create(job('work', { backoffLimit: 3 }))
      await finishAll(stage, 1, 1)
      await stage.noteAll('failed once', JOBS, PODS)
      await finishAll(stage, 1, 0)
      await ended(stage, 'Complete')
    },
    { slow: true },
  ),
  scenario('job: the other pods end when it fails', async (stage) => {
    await stage.create(job('work', { backoffLimit: 0, completions: 3, parallelism: 3 }))
    const [first] = await podsIn(stage, 3, 'Running')
    await stage.finish(first ?? pod(''), 2)
    await ended(stage, 'Failed')
  }),
  scenario('job: backoffLimitPerIndex 0 goes on with other indexes', async (stage) => {
    await stage.create(job('work', { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 0 }))
    const pods = await podsIn(stage, 3, 'Running')
    await stage.finish(indexed(pods, 1), 1)
    await jobHas(stage, 'knows the failed index', ({ failedIndexes }) => failedIndexes === '1')
    await stage.noteAll('one failed', JOBS, PODS)
    for (const i of [0, 2]) await stage.finish(indexed(pods, i), 0)
    await ended(stage, 'Failed')
  }),
  scenario('job: maxFailedIndexes', async (stage) => {
    await stage.create(
      job('work', { completionMode: 'Indexed', completions: 4, parallelism: 4, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
    )
    const pods = await podsIn(stage, 4, 'Running')
    for (const i of [0, 2]) await stage.finish(indexed(pods, i), 1)
    await ended(stage, 'Failed')
  }),
  scenario('job: a pod failure policy fails the job', async (stage) => {
    const podFailurePolicy = { rules: [{ action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [42] } }] }
    await stage.create(job('work', { backoffLimit: 6, podFailurePolicy }))
    await podsIn(stage, 1, 'Running')
    for (const one of await podsIn(stage, 1, 'Running')) await stage.finish(one, 42)
    await ended(stage, 'Failed')
  }),
  scenario('job: a pod failure policy ignores a failure', async (stage) => {
    const podFailurePolicy = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [42] } }] }
    await stage.create(job('work', { backoffLimit: 0, podFailurePolicy }))
    const [first] = await podsIn(stage, 1, 'Running')
    await stage.finish(first ?? pod(''), 42)
    await stage.until('another', async () => (await podsIn(stage, 1, 'Running'))[0]?.metadata.uid !== first?.metadata.uid)
    await jobHas(stage, 'is ready', ({ ready }) => ready === 1)
    await stage.noteAll('ignored', JOBS, PODS)
    await finishAll(stage, 1, 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: a pod failure policy fails an index', async (stage) => {
    const podFailurePolicy = { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [42] } }] }
    await stage.create(
      job('work', { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 3, podFailurePolicy }),
    )
    const pods = await podsIn(stage, 2, 'Running')
    await stage.finish(indexed(pods, 0), 42)
    await jobHas(stage, 'knows the failed index', ({ failedIndexes }) => failedIndexes === '0')
    await stage.finish(indexed(pods, 1), 0)
    await ended(stage, 'Failed')
  }),
  scenario('job: a success policy by indexes', async (stage) => {
    const successPolicy = { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] }
    await stage.create(job('work', { completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy }))
    const pods = await podsIn(stage, 3, 'Running')
    await stage.finish(indexed(pods, 1), 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: a success policy by count', async (stage) => {
    await stage.create(
      job('work', { completionMode: 'Indexed', completions: 4, parallelism: 4, successPolicy: { rules: [{ succeededCount: 2 }] } }),
    )
    const pods = await podsIn(stage, 4, 'Running')
    await stage.finish(indexed(pods, 3), 0)
    await jobHas(stage, 'counted', ({ succeeded }) => succeeded === 1)
    await stage.noteAll('one', JOBS, PODS)
    await stage.finish(indexed(pods, 0), 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: activeDeadlineSeconds', async (stage) => {
    await stage.create(job('work', { activeDeadlineSeconds: 2, parallelism: 2 }))
    await podsIn(stage, 2, 'Running')
    await ended(stage, 'Failed')
  }),
  scenario('job: ttlSecondsAfterFinished', async (stage) => {
    await stage.create(job('work', { ttlSecondsAfterFinished: 3 }))
    await finishAll(stage, 1, 0)
    await gone(stage, JOBS, 'work')
    await stage.until('its pod is gone', async () => (await stage.list(PODS)).length === 0)
    await stage.noteAll('gone', JOBS, PODS)
    await stage.noteEvents('gone')
  }),
  scenario('job: created suspended, resumed, suspended again', async (stage) => {
    await stage.create(job('work', { suspend: true, parallelism: 2, completions: 2 }))
    await jobIs(stage, 'work', 'Suspended')
    await stage.noteAll('suspended', JOBS, PODS)
    await stage.patch(JOBS, 'work', { spec: { suspend: false } })
    await podsIn(stage, 2, 'Running')
    await jobHas(stage, 'is ready', ({ ready }) => ready === 2)
    await stage.noteAll('resumed', JOBS, PODS)
    await stage.patch(JOBS, 'work', { spec: { suspend: true } })
    await jobIs(stage, 'work', 'Suspended')
    await stage.until('no pods', async () => (await stage.list(PODS)).length === 0)
    await stage.noteAll('suspended again', JOBS, PODS)
    await stage.noteEvents('suspended again')
  }),
  scenario('job: a pod deleted by hand counts as failed', async (stage) => {
    await stage.create(job('work', { backoffLimit: 0 }))
    const [first] = await podsIn(stage, 1, 'Running')
    await stage.delete(PODS, first?.metadata.name ?? '')
    await ended(stage, 'Failed')
  }),
  scenario('job: podReplacementPolicy Failed', async (stage) => {
    await stage.create(job('work', { podReplacementPolicy: 'Failed' }))
    await podsIn(stage, 1, 'Running')
    await jobHas(stage, 'is ready', ({ ready }) => ready === 1)
    await stage.noteAll('running', JOBS, PODS)
    await finishAll(stage, 1, 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: fewer at a time', async (stage) => {
    await stage.create(job('work', { completions: 6, parallelism: 3 }))
    await podsIn(stage, 3, 'Running')
    await stage.patch(JOBS, 'work', { spec: { parallelism: 1 } })
    await podsIn(stage, 1, 'Running')
    await jobHas(stage, 'has one', ({ active, ready }) => active === 1 && ready === 1)
    await stage.noteAll('one', JOBS, PODS)
    await stage.patch(JOBS, 'work', { spec: { parallelism: 0 } })
    await stage.until('none', async () => (await stage.list(PODS)).length === 0)
    await stage.noteAll('none', JOBS, PODS)
  }),
  scenario('job: deleted, its pod orphaned', async (stage) => {
    await stage.create(job('work'))
    await podsIn(stage, 1, 'Running')
    await stage.delete(JOBS, 'work', { propagationPolicy: 'Orphan' })
    await gone(stage, JOBS, 'work')
    await stage.until('free', async () => (await stage.list(PODS)).every(({ metadata }) => metadata.finalizers === undefined))
    await stage.noteAll('orphan', JOBS, PODS)
  }),
  scenario('job: deleted with its pods', async (stage) => {
    await stage.create(job('work', { parallelism: 2 }))
    await podsIn(stage, 2, 'Running')
    await stage.delete(JOBS, 'work', { propagationPolicy: 'Foreground' })
    await gone(stage, JOBS, 'work')
    await stage.noteAll('gone', JOBS, PODS)
  }),
  scenario('job: managed by somebody else', async (stage) => {
    await stage.create(job('work', { managedBy: 'parity.test/other' }))
    await stage.noteAll('untouched', JOBS, PODS)
  }),
  scenario('job: ttlSecondsAfterFinished 0 of a failed job', async (stage) => {
    await stage.create(job('work', { ttlSecondsAfterFinished: 0, backoffLimit: 0 }))
    for (const one of await podsIn(stage, 1, 'Running')) await stage.finish(one, 1)
    await gone(stage, JOBS, 'work')
    await stage.until('its pod is gone', async () => (await stage.list(PODS)).length === 0)
    await stage.noteAll('gone', JOBS, PODS)
    await stage.noteEvents('gone')
  }),
  scenario('job: its own selector', async (stage) => {
    const one = job('work', { manualSelector: true, selector: { matchLabels: { app: 'work' } } })
    const template = { ...one.spec?.template, metadata: { labels: { app: 'work' } } }
    await stage.create({ ...one, spec: { ...one.spec, template } })
    await podsIn(stage, 1, 'Running')
    await jobHas(stage, 'is ready', ({ ready }) => ready === 1)
    await stage.noteAll('running', JOBS, PODS)
    await finishAll(stage, 1, 0)
    await ended(stage, 'Complete')
  }),
  scenario('job: no completions at all', async (stage) => {
    await stage.create(job('work', { completions: 0 }))
    await ended(stage, 'Complete')
  }),
  scenario('job: pods that cannot be scheduled are active and not ready', async (stage) => {
    await stage.create(job('work', { parallelism: 2 }, NOWHERE))
    await podsIn(stage, 2, 'Pending')
    await jobHas(stage, 'has two', ({ active }) => active === 2)
    await stage.noteAll('pending', JOBS, PODS)
  }),
  scenario(
    'job: backoffLimitPerIndex 1 tries an index again',
    async (stage) => {
      await stage.create(job('work', { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 }))
      const pods = await podsIn(stage, 2, 'Running')
      await stage.finish(indexed(pods, 0), 1)
      await stage.until('another', async () => (await podsIn(stage, 2, 'Running')).length === 2)
      await jobHas(stage, 'is ready', ({ ready }) => ready === 2)
      await stage.noteAll('again', JOBS, PODS)
      for (const one of await podsIn(stage, 2, 'Running')) await stage.finish(one, 0)
      await ended(stage, 'Complete')
    },
    { slow: true },
  ),
]
