import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { JOBS } from '../../../kinds/kubernetes/resources.ts'
import type { Job } from '../../../kinds/kubernetes/types.ts'
import { aJob, endAll, podsOf } from '../job/testing.ts'
import { plan, ttlAfterFinished } from './controller.ts'

const MEMBER = { members: 1, hub: false }

function finished(ttlSecondsAfterFinished: number | undefined, lastTransitionTime?: string): Job {
  const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime }]
  return { ...aJob('j', { ttlSecondsAfterFinished }), status: { conditions } }
}

describe('time to live of finished jobs', () => {
  const nowMs = Date.parse('2026-01-01T00:00:30Z')
  const over = '2026-01-01T00:00:00Z'
  const cases: [title: string, job: Job | undefined, actions: string[], requeueAfterMs: number | undefined][] = [
    ['a job that is gone', undefined, [], undefined],
    ['a job that runs', aJob('j', { ttlSecondsAfterFinished: 0 }), [], undefined],
    ['a job without a time', finished(undefined, over), [], undefined],
    ['a job that does not say when it was over', finished(0), [], undefined],
    ['a job whose time has not come', finished(40, over), [], 10_000],
    ['a job whose time has come', finished(30, over), ['delete'], undefined],
    ['a job that goes at once', finished(0, over), ['delete'], undefined],
    ['a job that is being deleted', { ...finished(0, over), metadata: { name: 'j', deletionTimestamp: over } }, [], undefined],
  ]
  for (const [title, job, actions, requeueAfterMs] of cases)
    it(title, () => {
      const decided = plan({ job, nowMs })
      assert.deepEqual([decided.actions.map((action) => action.do), decided.requeueAfterMs], [actions, requeueAfterMs])
    })

  story(
    'goes with its pods when its time is over, and not before',
    async (world) => {
      const { member } = world
      await member.create(aJob('brief', { ttlSecondsAfterFinished: 60 }))
      await member.create(aJob('kept'))
      await world.settle()
      for (const name of ['brief', 'kept']) await endAll(world, name, 'Succeeded')
      await world.advance(58_000)
      assert.ok((await member.get(JOBS, 'default/brief')) !== undefined)
      // A longer TTL, set in time, counts from the same end.
      await member.patch(JOBS, 'default/brief', { spec: { ttlSecondsAfterFinished: 120 } })
      await world.advance(58_000)
      assert.ok((await member.get(JOBS, 'default/brief')) !== undefined)
      await world.advance(5_000)
      await world.settle()
      assert.equal(await member.get(JOBS, 'default/brief'), undefined)
      assert.deepEqual(await podsOf(member, 'brief'), [])
      assert.ok((await member.get(JOBS, 'default/kept')) !== undefined)
    },
    MEMBER,
  )

  survives(ttlAfterFinished, {
    steps: [
      (cluster) => cluster.create(aJob('brief', { completions: 0, ttlSecondsAfterFinished: 0 })),
      (cluster) => cluster.create(aJob('kept', { completions: 0 })),
      (cluster) => cluster.patch(JOBS, 'default/kept', { spec: { ttlSecondsAfterFinished: 1 } }),
    ],
    async atRest(cluster) {
      assert.deepEqual(await cluster.list(JOBS), [])
    },
  })
})
