/** Jobs: their modes, ends and failures. */
import { JOBS, PODS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Job, Pod } from '../../../src/kinds/kubernetes/types.ts'
import { type Scenario, scenario, type Testbed } from '../scenario.ts'
import { job, NOWHERE, pod } from './objects.ts'
import { gone, jobIs, podsIn } from './waits.ts'

const INDEX = 'batch.kubernetes.io/job-completion-index'

const jobHas = (testbed: Testbed, what: string, check: (status: NonNullable<Job['status']>) => boolean) =>
  testbed.until(`the job ${what}`, async () => check((await testbed.get(JOBS, 'work'))?.status ?? {}))

/** Ends every running pod with this code, and waits until the job has counted them. */
async function finishAll(testbed: Testbed, running: number, exitCode: number): Promise<void> {
  const before = (await testbed.get(JOBS, 'work'))?.status ?? {}
  for (const one of await podsIn(testbed, running, 'Running')) await testbed.finish(one, exitCode)
  const [field, was] = exitCode === 0 ? (['succeeded', before.succeeded] as const) : (['failed', before.failed] as const)
  await jobHas(testbed, `counted ${running} ${field}`, (status) => (status[field] ?? 0) >= (was ?? 0) + running)
}

const indexed = (pods: readonly Pod[], index: number): Pod =>
  pods.find(({ metadata }) => metadata.labels?.[INDEX] === String(index)) ?? pod('')

async function ended(testbed: Testbed, how: 'Complete' | 'Failed'): Promise<void> {
  await jobIs(testbed, 'work', how)
  await testbed.noteAll('ended', JOBS, PODS)
  await testbed.noteEvents('ended')
}

export const JOB_SCENARIOS: readonly Scenario[] = [
  scenario('job: runs once', async (testbed) => {
    await testbed.create(job('work'))
    await podsIn(testbed, 1, 'Running')
    await jobHas(testbed, 'is ready', ({ ready }) => ready === 1)
    await testbed.noteAll('running', JOBS, PODS)
    await finishAll(testbed, 1, 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: some completions at a time', async (testbed) => {
    await testbed.create(job('work', { completions: 3, parallelism: 2 }))
    await podsIn(testbed, 2, 'Running')
    await jobHas(testbed, 'is ready', ({ ready }) => ready === 2)
    await testbed.noteAll('two', JOBS, PODS)
    await finishAll(testbed, 2, 0)
    await podsIn(testbed, 1, 'Running')
    await jobHas(testbed, 'is ready', ({ ready }) => ready === 1)
    await testbed.noteAll('last', JOBS, PODS)
    await finishAll(testbed, 1, 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: a work queue ends when one has ended well and the others follow', async (testbed) => {
    await testbed.create(job('work', { parallelism: 3 }))
    const [first, ...others] = await podsIn(testbed, 3, 'Running')
    await testbed.finish(first ?? pod(''), 0)
    await jobHas(testbed, 'counted', ({ succeeded }) => succeeded === 1)
    await testbed.noteAll('one', JOBS, PODS)
    for (const one of others) await testbed.finish(one, 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: Indexed, with gaps', async (testbed) => {
    await testbed.create(job('work', { completionMode: 'Indexed', completions: 5, parallelism: 5 }))
    const pods = await podsIn(testbed, 5, 'Running')
    for (const i of [0, 2, 3]) await testbed.finish(indexed(pods, i), 0)
    await jobHas(testbed, 'counted', ({ completedIndexes }) => completedIndexes === '0,2,3')
    await testbed.noteAll('gaps', JOBS, PODS)
    for (const i of [1, 4]) await testbed.finish(indexed(pods, i), 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: Indexed goes on with the lowest index', async (testbed) => {
    await testbed.create(job('work', { completionMode: 'Indexed', completions: 4, parallelism: 2 }))
    const pods = await podsIn(testbed, 2, 'Running')
    await testbed.finish(indexed(pods, 1), 0)
    await jobHas(testbed, 'counted', ({ completedIndexes }) => completedIndexes === '1')
    await podsIn(testbed, 2, 'Running')
    await testbed.noteAll('next', JOBS, PODS)
  }),
  scenario('job: Indexed, grown and shrunk', async (testbed) => {
    await testbed.create(job('work', { completionMode: 'Indexed', completions: 4, parallelism: 4 }))
    await podsIn(testbed, 4, 'Running')
    await testbed.patch(JOBS, 'work', { spec: { completions: 2, parallelism: 2 } })
    await podsIn(testbed, 2, 'Running')
    await jobHas(testbed, 'has two', ({ active, ready }) => active === 2 && ready === 2)
    await testbed.noteAll('shrunk', JOBS, PODS)
    await finishAll(testbed, 2, 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: backoffLimit 0 fails at once', async (testbed) => {
    await testbed.create(job('work', { backoffLimit: 0 }))
    await finishAll(testbed, 1, 1)
    await ended(testbed, 'Failed')
  }),
  scenario(
    'job: fails after backoffLimit retries',
    async (testbed) => {
      await testbed.create(job('work', { backoffLimit: 1 }))
      await finishAll(testbed, 1, 1)
      await finishAll(testbed, 1, 1)
      await ended(testbed, 'Failed')
    },
    { slow: true },
  ),
  scenario(
    'job: a retry succeeds',
    async (testbed) => {
      await testbed.create(job('work', { backoffLimit: 3 }))
      await finishAll(testbed, 1, 1)
      await testbed.noteAll('failed once', JOBS, PODS)
      await finishAll(testbed, 1, 0)
      await ended(testbed, 'Complete')
    },
    { slow: true },
  ),
  scenario('job: the other pods end when it fails', async (testbed) => {
    await testbed.create(job('work', { backoffLimit: 0, completions: 3, parallelism: 3 }))
    const [first] = await podsIn(testbed, 3, 'Running')
    await testbed.finish(first ?? pod(''), 2)
    await ended(testbed, 'Failed')
  }),
  scenario('job: backoffLimitPerIndex 0 goes on with other indexes', async (testbed) => {
    await testbed.create(job('work', { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 0 }))
    const pods = await podsIn(testbed, 3, 'Running')
    await testbed.finish(indexed(pods, 1), 1)
    await jobHas(testbed, 'knows the failed index', ({ failedIndexes }) => failedIndexes === '1')
    await testbed.noteAll('one failed', JOBS, PODS)
    for (const i of [0, 2]) await testbed.finish(indexed(pods, i), 0)
    await ended(testbed, 'Failed')
  }),
  scenario('job: maxFailedIndexes', async (testbed) => {
    await testbed.create(
      job('work', { completionMode: 'Indexed', completions: 4, parallelism: 4, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
    )
    const pods = await podsIn(testbed, 4, 'Running')
    for (const i of [0, 2]) await testbed.finish(indexed(pods, i), 1)
    await ended(testbed, 'Failed')
  }),
  scenario('job: a pod failure policy fails the job', async (testbed) => {
    const podFailurePolicy = { rules: [{ action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [42] } }] }
    await testbed.create(job('work', { backoffLimit: 6, podFailurePolicy }))
    await podsIn(testbed, 1, 'Running')
    for (const one of await podsIn(testbed, 1, 'Running')) await testbed.finish(one, 42)
    await ended(testbed, 'Failed')
  }),
  scenario('job: a pod failure policy ignores a failure', async (testbed) => {
    const podFailurePolicy = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [42] } }] }
    await testbed.create(job('work', { backoffLimit: 0, podFailurePolicy }))
    const [first] = await podsIn(testbed, 1, 'Running')
    await testbed.finish(first ?? pod(''), 42)
    await testbed.until('another', async () => (await podsIn(testbed, 1, 'Running'))[0]?.metadata.uid !== first?.metadata.uid)
    await jobHas(testbed, 'is ready', ({ ready }) => ready === 1)
    await testbed.noteAll('ignored', JOBS, PODS)
    await finishAll(testbed, 1, 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: a pod failure policy fails an index', async (testbed) => {
    const podFailurePolicy = { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [42] } }] }
    await testbed.create(
      job('work', { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 3, podFailurePolicy }),
    )
    const pods = await podsIn(testbed, 2, 'Running')
    await testbed.finish(indexed(pods, 0), 42)
    await jobHas(testbed, 'knows the failed index', ({ failedIndexes }) => failedIndexes === '0')
    await testbed.finish(indexed(pods, 1), 0)
    await ended(testbed, 'Failed')
  }),
  scenario('job: a success policy by indexes', async (testbed) => {
    const successPolicy = { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] }
    await testbed.create(job('work', { completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy }))
    const pods = await podsIn(testbed, 3, 'Running')
    await testbed.finish(indexed(pods, 1), 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: a success policy by count', async (testbed) => {
    await testbed.create(
      job('work', { completionMode: 'Indexed', completions: 4, parallelism: 4, successPolicy: { rules: [{ succeededCount: 2 }] } }),
    )
    const pods = await podsIn(testbed, 4, 'Running')
    await testbed.finish(indexed(pods, 3), 0)
    await jobHas(testbed, 'counted', ({ succeeded }) => succeeded === 1)
    await testbed.noteAll('one', JOBS, PODS)
    await testbed.finish(indexed(pods, 0), 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: activeDeadlineSeconds', async (testbed) => {
    await testbed.create(job('work', { activeDeadlineSeconds: 2, parallelism: 2 }))
    await podsIn(testbed, 2, 'Running')
    await ended(testbed, 'Failed')
  }),
  scenario('job: ttlSecondsAfterFinished', async (testbed) => {
    await testbed.create(job('work', { ttlSecondsAfterFinished: 3 }))
    await finishAll(testbed, 1, 0)
    await gone(testbed, JOBS, 'work')
    await testbed.until('its pod is gone', async () => (await testbed.list(PODS)).length === 0)
    await testbed.noteAll('gone', JOBS, PODS)
    await testbed.noteEvents('gone')
  }),
  scenario('job: created suspended, resumed, suspended again', async (testbed) => {
    await testbed.create(job('work', { suspend: true, parallelism: 2, completions: 2 }))
    await jobIs(testbed, 'work', 'Suspended')
    await testbed.noteAll('suspended', JOBS, PODS)
    await testbed.patch(JOBS, 'work', { spec: { suspend: false } })
    await podsIn(testbed, 2, 'Running')
    await jobHas(testbed, 'is ready', ({ ready }) => ready === 2)
    await testbed.noteAll('resumed', JOBS, PODS)
    await testbed.patch(JOBS, 'work', { spec: { suspend: true } })
    await jobIs(testbed, 'work', 'Suspended')
    await testbed.until('no pods', async () => (await testbed.list(PODS)).length === 0)
    await testbed.noteAll('suspended again', JOBS, PODS)
    await testbed.noteEvents('suspended again')
  }),
  scenario('job: a pod deleted by hand counts as failed', async (testbed) => {
    await testbed.create(job('work', { backoffLimit: 0 }))
    const [first] = await podsIn(testbed, 1, 'Running')
    await testbed.delete(PODS, first?.metadata.name ?? '')
    await ended(testbed, 'Failed')
  }),
  scenario('job: podReplacementPolicy Failed', async (testbed) => {
    await testbed.create(job('work', { podReplacementPolicy: 'Failed' }))
    await podsIn(testbed, 1, 'Running')
    await jobHas(testbed, 'is ready', ({ ready }) => ready === 1)
    await testbed.noteAll('running', JOBS, PODS)
    await finishAll(testbed, 1, 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: fewer at a time', async (testbed) => {
    await testbed.create(job('work', { completions: 6, parallelism: 3 }))
    await podsIn(testbed, 3, 'Running')
    await testbed.patch(JOBS, 'work', { spec: { parallelism: 1 } })
    await podsIn(testbed, 1, 'Running')
    await jobHas(testbed, 'has one', ({ active, ready }) => active === 1 && ready === 1)
    await testbed.noteAll('one', JOBS, PODS)
    await testbed.patch(JOBS, 'work', { spec: { parallelism: 0 } })
    await testbed.until('none', async () => (await testbed.list(PODS)).length === 0)
    await testbed.noteAll('none', JOBS, PODS)
  }),
  scenario('job: deleted, its pod orphaned', async (testbed) => {
    await testbed.create(job('work'))
    await podsIn(testbed, 1, 'Running')
    await testbed.delete(JOBS, 'work', { propagationPolicy: 'Orphan' })
    await gone(testbed, JOBS, 'work')
    await testbed.until('free', async () => (await testbed.list(PODS)).every(({ metadata }) => metadata.finalizers === undefined))
    await testbed.noteAll('orphan', JOBS, PODS)
  }),
  scenario('job: deleted with its pods', async (testbed) => {
    await testbed.create(job('work', { parallelism: 2 }))
    await podsIn(testbed, 2, 'Running')
    await testbed.delete(JOBS, 'work', { propagationPolicy: 'Foreground' })
    await gone(testbed, JOBS, 'work')
    await testbed.noteAll('gone', JOBS, PODS)
  }),
  scenario('job: managed by somebody else', async (testbed) => {
    await testbed.create(job('work', { managedBy: 'parity.test/other' }))
    await testbed.noteAll('untouched', JOBS, PODS)
  }),
  scenario('job: ttlSecondsAfterFinished 0 of a failed job', async (testbed) => {
    await testbed.create(job('work', { ttlSecondsAfterFinished: 0, backoffLimit: 0 }))
    for (const one of await podsIn(testbed, 1, 'Running')) await testbed.finish(one, 1)
    await gone(testbed, JOBS, 'work')
    await testbed.until('its pod is gone', async () => (await testbed.list(PODS)).length === 0)
    await testbed.noteAll('gone', JOBS, PODS)
    await testbed.noteEvents('gone')
  }),
  scenario('job: its own selector', async (testbed) => {
    const one = job('work', { manualSelector: true, selector: { matchLabels: { app: 'work' } } })
    const template = { ...one.spec?.template, metadata: { labels: { app: 'work' } } }
    await testbed.create({ ...one, spec: { ...one.spec, template } })
    await podsIn(testbed, 1, 'Running')
    await jobHas(testbed, 'is ready', ({ ready }) => ready === 1)
    await testbed.noteAll('running', JOBS, PODS)
    await finishAll(testbed, 1, 0)
    await ended(testbed, 'Complete')
  }),
  scenario('job: no completions at all', async (testbed) => {
    await testbed.create(job('work', { completions: 0 }))
    await ended(testbed, 'Complete')
  }),
  scenario('job: pods that cannot be scheduled are active and not ready', async (testbed) => {
    await testbed.create(job('work', { parallelism: 2 }, NOWHERE))
    await podsIn(testbed, 2, 'Pending')
    await jobHas(testbed, 'has two', ({ active }) => active === 2)
    await testbed.noteAll('pending', JOBS, PODS)
  }),
  scenario(
    'job: backoffLimitPerIndex 1 tries an index again',
    async (testbed) => {
      await testbed.create(job('work', { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1 }))
      const pods = await podsIn(testbed, 2, 'Running')
      await testbed.finish(indexed(pods, 0), 1)
      await testbed.until('another', async () => (await podsIn(testbed, 2, 'Running')).length === 2)
      await jobHas(testbed, 'is ready', ({ ready }) => ready === 2)
      await testbed.noteAll('again', JOBS, PODS)
      for (const one of await podsIn(testbed, 2, 'Running')) await testbed.finish(one, 0)
      await ended(testbed, 'Complete')
    },
    { slow: true },
  ),
]
