/** Stories of Jobs that fail, each in its own way. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { JOBS, PODS, RESOURCE_QUOTAS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { activePodsOf, aJob, bindPod, conditionsOf, endAll, endPod, eventsOf, jobOf, podsOf, runPod, statusOf } from './testing.ts'

const MEMBER = { members: 1, hub: false }
const indexOf = ({ metadata }: Pod): number => Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index'])

describe('failing jobs', () => {
  story(
    'failed pods are replaced with growing patience, until the backoff limit',
    async (world) => {
      const { member } = world
      await member.create(aJob('flaky', { backoffLimit: 3 }))
      await world.settle()
      for (const waitMs of [10_000, 20_000, 40_000]) {
        await endAll(world, 'flaky', 'Failed')
        const before = (await podsOf(member, 'flaky')).length
        await world.advance(waitMs - 1001)
        assert.equal((await podsOf(member, 'flaky')).length, before, `too early, before ${waitMs} ms`)
        await world.advance(1001)
        await world.settle()
        assert.equal((await activePodsOf(member, 'flaky')).length, 1, `after ${waitMs} ms`)
      }
      assert.equal((await statusOf(member, 'flaky')).failed, 3)
      await endAll(world, 'flaky', 'Failed')
      const status = await statusOf(member, 'flaky')
      assert.deepEqual([status.failed, status.active, status.completionTime], [4, undefined, undefined])
      assert.deepEqual(await conditionsOf(member, 'flaky'), ['FailureTarget=True BackoffLimitExceeded', 'Failed=True BackoffLimitExceeded'])
      const events = await eventsOf(member, 'flaky')
      assert.equal(events[events.length - 1], 'Warning BackoffLimitExceeded: Job has reached the specified backoff limit')
    },
    MEMBER,
  )

  story(
    'what still runs when a job fails is deleted, and counts as failed',
    async (world) => {
      const { member } = world
      await member.create(aJob('team', { backoffLimit: 0, parallelism: 3, completions: 3 }))
      await world.settle()
      const [first, second] = await podsOf(member, 'team')
      assert.ok(first !== undefined && second !== undefined)
      await bindPod(world, second)
      await runPod(world, second)
      await endPod(world, first, 'Failed')
      await world.settle()
      // The pod on a node takes its time to end; until then the Job is only about to fail.
      assert.deepEqual(await conditionsOf(member, 'team'), ['FailureTarget=True BackoffLimitExceeded'])
      const failing = await statusOf(member, 'team')
      assert.deepEqual([failing.active, failing.failed, failing.terminating, failing.ready], [undefined, 3, 1, 0])
      await member.delete(PODS, `default/${second.metadata.name}`, { gracePeriodSeconds: 0 })
      await world.settle()
      assert.deepEqual(await conditionsOf(member, 'team'), ['FailureTarget=True BackoffLimitExceeded', 'Failed=True BackoffLimitExceeded'])
      assert.equal((await statusOf(member, 'team')).terminating, 0)
      assert.equal((await eventsOf(member, 'team')).filter((line) => line.startsWith('Normal SuccessfulDelete')).length, 2)
    },
    MEMBER,
  )

  story(
    'restarts within a pod count towards the limit',
    async (world) => {
      const { member } = world
      const template = { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'main', image: 'work' }] } }
      await member.create(aJob('restarts', { backoffLimit: 2, template }))
      await world.settle()
      const [pod] = await podsOf(member, 'restarts')
      assert.ok(pod !== undefined)
      await runPod(world, pod, 1)
      await world.settle()
      assert.deepEqual(await conditionsOf(member, 'restarts'), [])
      await runPod(world, pod, 2)
      await world.settle()
      assert.deepEqual(await conditionsOf(member, 'restarts'), [
        'FailureTarget=True BackoffLimitExceeded',
        'Failed=True BackoffLimitExceeded',
      ])
    },
    MEMBER,
  )

  story(
    'a deadline ends what is active too long',
    async (world) => {
      const { member } = world
      await member.create(aJob('late', { activeDeadlineSeconds: 100, parallelism: 2, completions: 2 }))
      await world.settle()
      await world.advance(98_000)
      assert.deepEqual(await conditionsOf(member, 'late'), [])
      await world.advance(2_000)
      await world.settle()
      assert.deepEqual(await conditionsOf(member, 'late'), ['FailureTarget=True DeadlineExceeded', 'Failed=True DeadlineExceeded'])
      assert.deepEqual(await podsOf(member, 'late'), [])
      assert.equal((await statusOf(member, 'late')).failed, 2)
      const events = await eventsOf(member, 'late')
      assert.equal(events[events.length - 1], 'Warning DeadlineExceeded: Job was active longer than specified deadline')
    },
    MEMBER,
  )

  story(
    'each index has its own limit',
    async (world) => {
      const { member } = world
      const spec = { completions: 3, parallelism: 3, completionMode: 'Indexed', backoffLimitPerIndex: 1 }
      await member.create(aJob('rows', spec))
      await world.settle()
      const find = async (index: number): Promise<Pod> => {
        const found = (await activePodsOf(member, 'rows')).find((pod) => indexOf(pod) === index)
        assert.ok(found !== undefined, `no pod of index ${index}`)
        return found
      }
      assert.equal((await find(1)).metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '0')
      await endPod(world, await find(1), 'Failed')
      await world.settle()
      // Its finalizer stays until the replacement exists, which continues the count.
      assert.equal((await statusOf(member, 'rows')).failed, undefined)
      await world.advance(10_000)
      await world.settle()
      assert.equal((await statusOf(member, 'rows')).failed, 1)
      assert.equal((await find(1)).metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '1')
      await endPod(world, await find(1), 'Failed')
      await endPod(world, await find(0), 'Succeeded')
      await world.settle()
      const status = await statusOf(member, 'rows')
      assert.deepEqual([status.completedIndexes, status.failedIndexes, status.failed], ['0', '1', 2])
      assert.deepEqual(await conditionsOf(member, 'rows'), [], 'index 2 still works')
      await endPod(world, await find(2), 'Succeeded')
      await world.settle()
      assert.deepEqual(await conditionsOf(member, 'rows'), ['FailureTarget=True FailedIndexes', 'Failed=True FailedIndexes'])
      assert.equal((await statusOf(member, 'rows')).conditions?.[1]?.message, 'Job has failed indexes')
    },
    MEMBER,
  )

  story(
    'too many failed indexes end the whole job',
    async (world) => {
      const { member } = world
      const spec = { completions: 4, parallelism: 4, completionMode: 'Indexed', backoffLimitPerIndex: 0, maxFailedIndexes: 1 }
      await member.create(aJob('many', spec))
      await world.settle()
      const pods = await podsOf(member, 'many')
      for (const index of [1, 3]) {
        const pod = pods.find((one) => indexOf(one) === index)
        assert.ok(pod !== undefined)
        await endPod(world, pod, 'Failed')
        await world.settle()
      }
      const status = await statusOf(member, 'many')
      assert.deepEqual([status.failedIndexes, status.failed], ['1,3', 4])
      assert.deepEqual(await conditionsOf(member, 'many'), [
        'FailureTarget=True MaxFailedIndexesExceeded',
        'Failed=True MaxFailedIndexesExceeded',
      ])
    },
    MEMBER,
  )

  story(
    'a failure policy ignores, counts and ends',
    async (world) => {
      const { member } = world
      const podFailurePolicy = {
        rules: [
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          { action: 'Ignore', onExitCodes: { operator: 'In', values: [7] } },
          { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [42] } },
        ],
      }
      await member.create(aJob('policy', { backoffLimit: 1, podFailurePolicy }))
      await world.settle()
      assert.equal((await jobOf(member, 'policy')).spec?.podReplacementPolicy, 'Failed')
      await endAll(world, 'policy', 'Failed', 7)
      assert.equal((await statusOf(member, 'policy')).failed, undefined)
      await world.advance(10_000)
      await world.settle()
      await endAll(world, 'policy', 'Failed', 1)
      assert.equal((await statusOf(member, 'policy')).failed, 1)
      await world.advance(20_000)
      await world.settle()
      const [pod] = await activePodsOf(member, 'policy')
      await endAll(world, 'policy', 'Failed', 42)
      assert.deepEqual(await conditionsOf(member, 'policy'), ['FailureTarget=True PodFailurePolicy', 'Failed=True PodFailurePolicy'])
      const message = `Container main for pod default/${pod?.metadata.name} failed with exit code 42 matching FailJob rule at index 2`
      assert.equal((await statusOf(member, 'policy')).conditions?.[1]?.message, message)
      assert.equal((await statusOf(member, 'policy')).failed, 2)
    },
    MEMBER,
  )

  story(
    'a failure policy can end one index',
    async (world) => {
      const { member } = world
      const podFailurePolicy = { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [9] } }] }
      const spec = { completions: 2, parallelism: 2, completionMode: 'Indexed', backoffLimitPerIndex: 5, podFailurePolicy }
      await member.create(aJob('index', spec))
      await world.settle()
      for (const pod of await podsOf(member, 'index'))
        await endPod(world, pod, indexOf(pod) === 0 ? 'Failed' : 'Succeeded', indexOf(pod) === 0 ? 9 : 0)
      await world.settle()
      const { failedIndexes, completedIndexes } = await statusOf(member, 'index')
      assert.deepEqual([failedIndexes, completedIndexes], ['0', '1'])
      assert.deepEqual(await conditionsOf(member, 'index'), ['FailureTarget=True FailedIndexes', 'Failed=True FailedIndexes'])
    },
    MEMBER,
  )

  story(
    'with the replacement policy Failed a pod is replaced only when it has ended',
    async (world) => {
      const { member } = world
      await member.create(aJob('slow', { podReplacementPolicy: 'Failed', backoffLimit: 5 }))
      await member.create(aJob('quick', { podReplacementPolicy: 'TerminatingOrFailed', backoffLimit: 5 }))
      await world.settle()
      for (const name of ['slow', 'quick']) {
        const [pod] = await podsOf(member, name)
        assert.ok(pod !== undefined)
        await bindPod(world, pod)
        await runPod(world, pod)
        await member.delete(PODS, `default/${pod.metadata.name}`)
      }
      await world.advance(15_000)
      await world.settle()
      const [slow, quick] = [await statusOf(member, 'slow'), await statusOf(member, 'quick')]
      assert.deepEqual([slow.active, slow.terminating, slow.failed], [undefined, 1, undefined])
      assert.deepEqual([quick.active, quick.failed], [1, 1])
      const [leaving] = await podsOf(member, 'slow')
      assert.ok(leaving !== undefined)
      await endPod(world, leaving, 'Failed')
      await member.delete(PODS, `default/${leaving.metadata.name}`, { gracePeriodSeconds: 0 })
      await world.advance(15_000)
      await world.settle()
      const after = await statusOf(member, 'slow')
      assert.deepEqual([after.active, after.terminating, after.failed], [1, 0, 1])
    },
    MEMBER,
  )

  story(
    'pods that may not be made are told of, and do not hold the status back',
    async (world) => {
      const { member } = world
      const status = { hard: { pods: '1' }, used: { pods: '0' } }
      await member.create({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'small', namespace: 'default' },
        spec: { hard: { pods: '1' } },
      })
      await member.patch(RESOURCE_QUOTAS, 'default/small', { status }, 'status')
      await member.create(aJob('big', { parallelism: 2, completions: 2 }))
      await world.advance(10_000)
      assert.equal((await statusOf(member, 'big')).active, 1)
      const events = await eventsOf(member, 'big')
      assert.ok(
        events.some((line) =>
          /^Warning FailedCreate: Error creating: pods "big-[a-z0-9]{5}" is forbidden: exceeded quota: small/.test(line),
        ),
        events.join('\n'),
      )
      await member.delete(RESOURCE_QUOTAS, 'default/small')
      await world.settle()
      assert.equal((await statusOf(member, 'big')).active, 2)
      member.complaints.length = 0
    },
    MEMBER,
  )

  story(
    'pods of a job that is gone lose its finalizer, and go',
    async (world) => {
      const { member } = world
      for (const [name, propagationPolicy] of [
        ['a', 'Background'],
        ['b', 'Foreground'],
        ['c', 'Orphan'],
      ] as const) {
        await member.create(aJob(name, { parallelism: 2, completions: 2 }))
        await world.settle()
        await member.delete(JOBS, `default/${name}`, { propagationPolicy })
        await world.settle()
        assert.equal(await member.get(JOBS, `default/${name}`), undefined)
        const pods = await podsOf(member, name)
        assert.equal(pods.length, propagationPolicy === 'Orphan' ? 2 : 0, propagationPolicy)
        for (const { metadata } of pods) assert.deepEqual([metadata.finalizers, metadata.ownerReferences], [undefined, undefined])
      }
    },
    MEMBER,
  )
})
