/** Stories of Jobs that succeed: every mode, from the first pod to the last condition. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { JOBS, PODS } from '../../../kinds/kubernetes/resources.ts'
import { activePodsOf, aJob, conditionsOf, endAll, endPod, eventsOf, jobOf, podsOf, runPod, statusOf } from './testing.ts'

const MEMBER = { members: 1, hub: false }

describe('jobs', () => {
  story(
    'one pod, one completion',
    async (world) => {
      const { member } = world
      await member.create(aJob('once'))
      await world.settle()
      const [pod, ...others] = await podsOf(member, 'once')
      const job = await jobOf(member, 'once')
      assert.ok(pod !== undefined && others.length === 0)
      assert.match(pod.metadata.name ?? '', /^once-[a-z0-9]{5}$/)
      assert.equal(pod.metadata.generateName, 'once-')
      assert.deepEqual(pod.metadata.finalizers, ['batch.kubernetes.io/job-tracking'])
      assert.deepEqual(pod.metadata.ownerReferences, [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'once', uid: job.metadata.uid, controller: true, blockOwnerDeletion: true },
      ])
      assert.equal(pod.metadata.labels?.['batch.kubernetes.io/controller-uid'], job.metadata.uid)
      assert.equal(pod.metadata.labels?.['batch.kubernetes.io/job-name'], 'once')
      const startTime = job.status?.startTime
      assert.deepEqual(job.status, { active: 1, ready: 0, terminating: 0, startTime, uncountedTerminatedPods: {} })
      await runPod(world, pod)
      await world.settle()
      assert.equal((await statusOf(member, 'once')).ready, 1)
      await world.advance(30_000)
      await endPod(world, pod, 'Succeeded')
      await world.settle()
      const { conditions, completionTime, ...rest } = await statusOf(member, 'once')
      assert.deepEqual(rest, { succeeded: 1, ready: 0, terminating: 0, startTime, uncountedTerminatedPods: {} })
      assert.equal(Date.parse(completionTime ?? '') - Date.parse(startTime ?? ''), 30_000)
      const message = 'Reached expected number of succeeded pods'
      const at = { lastProbeTime: completionTime, lastTransitionTime: completionTime }
      assert.deepEqual(conditions, [
        { type: 'SuccessCriteriaMet', status: 'True', ...at, reason: 'CompletionsReached', message },
        { type: 'Complete', status: 'True', ...at, reason: 'CompletionsReached', message },
      ])
      assert.deepEqual((await podsOf(member, 'once'))[0]?.metadata.finalizers, undefined)
      assert.deepEqual(await eventsOf(member, 'once'), [
        `Normal SuccessfulCreate: Created pod: ${pod.metadata.name}`,
        'Normal Completed: Job completed',
      ])
    },
    MEMBER,
  )

  story(
    'never more pods at once than the parallelism, and as many as are still missing',
    async (world) => {
      const { member } = world
      await member.create(aJob('five', { completions: 5, parallelism: 2 }))
      await world.settle()
      for (const [active, succeeded] of [
        [2, undefined],
        [2, 2],
        [1, 4],
      ] as const) {
        assert.equal((await activePodsOf(member, 'five')).length, active)
        const status = await statusOf(member, 'five')
        assert.deepEqual([status.active, status.succeeded], [active, succeeded])
        await endAll(world, 'five', 'Succeeded')
      }
      assert.deepEqual(await conditionsOf(member, 'five'), [
        'SuccessCriteriaMet=True CompletionsReached',
        'Complete=True CompletionsReached',
      ])
      assert.equal((await statusOf(member, 'five')).succeeded, 5)
    },
    MEMBER,
  )

  story(
    'the parallelism can change, down to nothing',
    async (world) => {
      const { member } = world
      await member.create(aJob('wide', { completions: 10, parallelism: 4 }))
      await world.settle()
      const [first] = await podsOf(member, 'wide')
      assert.ok(first !== undefined)
      await runPod(world, first)
      await member.patch(JOBS, 'default/wide', { spec: { parallelism: 1 } })
      await world.settle()
      // Running pods are kept before waiting ones; deleted ones count for nothing.
      assert.deepEqual(
        (await podsOf(member, 'wide')).map(({ metadata }) => metadata.name),
        [first.metadata.name],
      )
      const status = await statusOf(member, 'wide')
      assert.deepEqual([status.active, status.ready, status.failed], [1, 1, undefined])
      assert.equal(
        (await eventsOf(member, 'wide')).filter((line) => line.startsWith('Normal SuccessfulDelete: Deleted pod: wide-')).length,
        3,
      )
      await member.patch(JOBS, 'default/wide', { spec: { parallelism: 0 } })
      await world.settle()
      assert.deepEqual(await podsOf(member, 'wide'), [])
      const { active, terminating } = await statusOf(member, 'wide')
      assert.deepEqual([active, terminating], [undefined, 0])
    },
    MEMBER,
  )

  story(
    'a work queue ends when a pod ends well and the others have ended',
    async (world) => {
      const { member } = world
      await member.create(aJob('queue', { parallelism: 3 }))
      await world.settle()
      const [first, second, third] = await podsOf(member, 'queue')
      assert.ok(first !== undefined && second !== undefined && third !== undefined)
      await endPod(world, first, 'Succeeded')
      await world.settle()
      assert.equal((await podsOf(member, 'queue')).length, 3, 'nothing new begins')
      assert.deepEqual(await conditionsOf(member, 'queue'), [])
      await endPod(world, second, 'Failed')
      await endPod(world, third, 'Succeeded')
      await world.settle()
      const { succeeded, failed } = await statusOf(member, 'queue')
      assert.deepEqual([succeeded, failed], [2, 1])
      assert.deepEqual(await conditionsOf(member, 'queue'), [
        'SuccessCriteriaMet=True CompletionsReached',
        'Complete=True CompletionsReached',
      ])
    },
    MEMBER,
  )

  story(
    'an indexed job gives each pod its index',
    async (world) => {
      const { member } = world
      const template = {
        spec: {
          restartPolicy: 'Never',
          initContainers: [{ name: 'init', image: 'work' }],
          containers: [{ name: 'main', image: 'work', env: [{ name: 'A', value: 'b' }] }],
        },
      }
      await member.create(aJob('rows', { completions: 5, parallelism: 3, completionMode: 'Indexed', template }))
      await world.settle()
      const pods = (await podsOf(member, 'rows')).sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      assert.deepEqual(
        pods.map(({ spec }) => spec?.hostname),
        ['rows-0', 'rows-1', 'rows-2'],
      )
      for (const [i, pod] of pods.entries()) {
        assert.match(pod.metadata.name ?? '', new RegExp(`^rows-${i}-[a-z0-9]{5}$`))
        assert.equal(pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index'], String(i))
        assert.equal(pod.metadata.labels?.['batch.kubernetes.io/job-completion-index'], String(i))
        const variable = {
          name: 'JOB_COMPLETION_INDEX',
          valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
        }
        assert.deepEqual(pod.spec?.containers?.[0]?.env, [{ name: 'A', value: 'b' }, variable])
        assert.deepEqual(pod.spec?.initContainers?.[0]?.env, [variable])
      }
      const [zero, one, two] = pods
      assert.ok(zero !== undefined && one !== undefined && two !== undefined)
      await endPod(world, two, 'Succeeded')
      await world.settle()
      await endPod(world, zero, 'Succeeded')
      await world.settle()
      const status = await statusOf(member, 'rows')
      assert.deepEqual([status.completedIndexes, status.succeeded, status.active], ['0,2', 2, 3])
      assert.deepEqual((await activePodsOf(member, 'rows')).map(({ spec }) => spec?.hostname).sort(), ['rows-1', 'rows-3', 'rows-4'])
      await endAll(world, 'rows', 'Succeeded')
      assert.equal((await statusOf(member, 'rows')).completedIndexes, '0-4')
      assert.deepEqual(await conditionsOf(member, 'rows'), [
        'SuccessCriteriaMet=True CompletionsReached',
        'Complete=True CompletionsReached',
      ])
    },
    MEMBER,
  )

  story(
    'an indexed job can shrink and grow with its parallelism',
    async (world) => {
      const { member } = world
      await member.create(aJob('elastic', { completions: 3, parallelism: 3, completionMode: 'Indexed' }))
      await world.settle()
      const last = (await podsOf(member, 'elastic')).find(({ spec }) => spec?.hostname === 'elastic-2')
      assert.ok(last !== undefined)
      await endPod(world, last, 'Succeeded')
      await world.settle()
      assert.equal((await statusOf(member, 'elastic')).completedIndexes, '2')
      await member.patch(JOBS, 'default/elastic', { spec: { completions: 2, parallelism: 2 } })
      await world.settle()
      const { completedIndexes, succeeded, active } = await statusOf(member, 'elastic')
      assert.deepEqual([completedIndexes, succeeded, active], [undefined, undefined, 2])
      await endAll(world, 'elastic', 'Succeeded')
      assert.equal((await statusOf(member, 'elastic')).completedIndexes, '0,1')
    },
    MEMBER,
  )

  story(
    'a success policy ends a job early',
    async (world) => {
      const { member } = world
      const successPolicy = { rules: [{ succeededIndexes: '0', succeededCount: 1 }] }
      await member.create(aJob('leader', { completions: 3, parallelism: 3, completionMode: 'Indexed', successPolicy }))
      await world.settle()
      const leader = (await podsOf(member, 'leader')).find(({ spec }) => spec?.hostname === 'leader-0')
      assert.ok(leader !== undefined)
      await endPod(world, leader, 'Succeeded')
      await world.settle()
      const status = await statusOf(member, 'leader')
      assert.deepEqual([status.succeeded, status.failed, status.active, status.completedIndexes], [1, undefined, undefined, '0'])
      assert.deepEqual(await conditionsOf(member, 'leader'), ['SuccessCriteriaMet=True SuccessPolicy', 'Complete=True SuccessPolicy'])
      assert.equal(status.conditions?.[0]?.message, 'Matched rules at index 0')
      assert.equal((await podsOf(member, 'leader')).length, 1, 'the others are gone')
    },
    MEMBER,
  )

  story(
    'a job without completions is complete at once',
    async (world) => {
      await world.member.create(aJob('none', { completions: 0 }))
      await world.settle()
      assert.deepEqual(await podsOf(world.member, 'none'), [])
      assert.deepEqual(await conditionsOf(world.member, 'none'), [
        'SuccessCriteriaMet=True CompletionsReached',
        'Complete=True CompletionsReached',
      ])
    },
    MEMBER,
  )

  story(
    'a job managed by somebody else is left alone',
    async (world) => {
      await world.member.create(aJob('theirs', { managedBy: 'example.com/queue' }))
      await world.member.create(aJob('ours', { managedBy: 'kubernetes.io/job-controller' }))
      await world.settle()
      assert.deepEqual(await podsOf(world.member, 'theirs'), [])
      assert.deepEqual(await statusOf(world.member, 'theirs'), {})
      assert.equal((await podsOf(world.member, 'ours')).length, 1)
    },
    MEMBER,
  )

  story(
    'suspending takes the pods away, resuming starts the clock anew',
    async (world) => {
      const { member } = world
      await member.create(aJob('pause', { parallelism: 2, completions: 2, suspend: true, activeDeadlineSeconds: 60 }))
      await world.settle()
      assert.deepEqual(await podsOf(member, 'pause'), [])
      assert.deepEqual(await conditionsOf(member, 'pause'), ['Suspended=True JobSuspended'])
      assert.equal((await statusOf(member, 'pause')).startTime, undefined)
      await world.advance(1_800_000)
      await member.patch(JOBS, 'default/pause', { spec: { suspend: false } })
      await world.settle()
      assert.deepEqual(await conditionsOf(member, 'pause'), ['Suspended=False JobResumed'])
      const resumedAt = (await statusOf(member, 'pause')).startTime
      assert.equal(Date.parse(resumedAt ?? ''), Math.floor(world.clock.now() / 1000) * 1000)
      const [first] = await podsOf(member, 'pause')
      assert.ok(first !== undefined)
      await endPod(world, first, 'Succeeded')
      await world.settle()
      await member.patch(JOBS, 'default/pause', { spec: { suspend: true } })
      await world.settle()
      const { startTime, succeeded, failed, active } = await statusOf(member, 'pause')
      assert.deepEqual([startTime, succeeded, failed, active], [undefined, 1, undefined, undefined])
      await member.patch(JOBS, 'default/pause', { spec: { suspend: false } })
      await world.settle()
      assert.equal((await activePodsOf(member, 'pause')).length, 1)
      await endAll(world, 'pause', 'Succeeded')
      assert.deepEqual((await conditionsOf(member, 'pause')).slice(1), [
        'SuccessCriteriaMet=True CompletionsReached',
        'Complete=True CompletionsReached',
      ])
      assert.deepEqual(
        (await eventsOf(member, 'pause')).filter((line) => !line.includes('pod:')),
        ['Normal Suspended: Job suspended', 'Normal Resumed: Job resumed', 'Normal Completed: Job completed'],
      )
    },
    MEMBER,
  )

  story(
    'on nodes that play their pods, a job comes to its end by itself',
    async (world) => {
      const { member } = world
      await member.create(aJob('played', { completions: 6, parallelism: 3, completionMode: 'Indexed' }))
      await world.advance(120_000)
      await world.settle()
      const { completedIndexes, succeeded, failed } = await statusOf(member, 'played')
      assert.deepEqual([completedIndexes, succeeded, failed], ['0-5', 6, undefined])
      assert.equal((await conditionsOf(member, 'played')).at(-1), 'Complete=True CompletionsReached')
    },
    { ...MEMBER, nodes: 2 },
  )

  story(
    'a job with a selector of its own adopts what it selects, and lets go what it no longer does',
    async (world) => {
      const { member } = world
      const labels = { app: 'own', 'job-name': 'own' }
      const containers = [{ name: 'main', image: 'work' }]
      await member.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'orphan', namespace: 'default', labels },
        spec: { containers },
      })
      const template = { metadata: { labels }, spec: { restartPolicy: 'Never', containers } }
      const selector = { matchLabels: { app: 'own' } }
      await member.create(aJob('own', { manualSelector: true, selector, template, parallelism: 2, completions: 2 }))
      await world.settle()
      const pods = await podsOf(member, 'own')
      assert.equal(pods.length, 2)
      for (const { metadata } of pods)
        assert.deepEqual([metadata.finalizers, metadata.ownerReferences?.[0]?.name], [['batch.kubernetes.io/job-tracking'], 'own'])
      await member.patch(PODS, 'default/orphan', { metadata: { labels: { app: 'other' } } })
      await world.settle()
      const released = await member.get(PODS, 'default/orphan')
      assert.deepEqual([released?.metadata.finalizers, released?.metadata.ownerReferences], [undefined, undefined])
      assert.equal((await activePodsOf(member, 'own')).length, 3, 'and another takes its place')
    },
    MEMBER,
  )
})
