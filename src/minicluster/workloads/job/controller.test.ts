/** The plan in tables, and the controller under every fault. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatTime } from '../../../base/clock.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { JOBS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Job, JobSpec, JobStatus, Pod } from '../../../kinds/kubernetes/types.ts'
import { jobController } from './controller.ts'
import { plan } from './plan.ts'
import { aJob, podsOf, statusOf } from './testing.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const NOW = formatTime(NOW_MS)

function aStored(spec: JobSpec, status: JobStatus = {}, metadata: Job['metadata'] = {}): Job {
  const job = aJob('j', { parallelism: 1, completions: 1, backoffLimit: 6, ...spec }, { uid: 'u', resourceVersion: '1', ...metadata })
  return { ...job, status }
}

function aPod(name: string, phase: string, metadata: Pod['metadata'] = {}): Pod {
  const finalizers = ['batch.kubernetes.io/job-tracking']
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, finalizers, ownerReferences, ...metadata },
    status: { phase },
  }
}

/** A short summary of each action. */
function decide(job: Job | undefined, pods: Pod[], more: { hasFailed?: boolean; strays?: Pod[] } = {}): string[] {
  const { actions } = plan({
    job,
    claim: { claimed: pods, adopt: [], release: [] },
    strays: more.strays ?? [],
    hasFailed: more.hasFailed ?? false,
    nowMs: NOW_MS,
    isTaken: () => false,
  })
  return actions
    .flatMap((action) => (action.do === 'batch' ? action.actions : [action]))
    .map((action) => {
      if (action.do === 'create') return 'create pod'
      if (action.do === 'delete') return `delete ${action.of.metadata.name}`
      if (action.do !== 'patch') return action.do
      return action.of.kind === 'Pod' ? `release ${action.of.metadata.name}` : `status ${Object.keys(action.patch.status as object).sort()}`
    })
}

const STARTED = { startTime: NOW, ready: 0, terminating: 0, uncountedTerminatedPods: {} }
const failing = { type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: '' }

const CASES: [title: string, actual: () => string[], expected: string[]][] = [
  ['nothing for a job that is gone', () => decide(undefined, []), []],
  [
    'a pod first, then the status',
    () => decide(aStored({}), []),
    ['create pod', 'status active,ready,startTime,terminating,uncountedTerminatedPods'],
  ],
  [
    'the status first where pods could not be made',
    () => decide(aStored({}), [], { hasFailed: true }),
    ['status ready,startTime,terminating,uncountedTerminatedPods', 'create pod'],
  ],
  ['nothing while it runs', () => decide(aStored({}, { ...STARTED, active: 1 }), [aPod('a', 'Running')]), []],
  [
    'the end of a pod goes on record before it is let go',
    () => decide(aStored({}, { ...STARTED, active: 1 }), [aPod('a', 'Succeeded')]),
    ['status active,conditions,uncountedTerminatedPods', 'release a'],
  ],
  [
    'what is on record is let go',
    () =>
      decide(
        aStored(
          {},
          { ...STARTED, conditions: [{ ...failing, type: 'SuccessCriteriaMet' }], uncountedTerminatedPods: { succeeded: ['a'] } },
        ),
        [aPod('a', 'Succeeded')],
      ),
    ['release a'],
  ],
  [
    'what is let go is counted',
    () =>
      decide(aStored({ completions: 2 }, { ...STARTED, active: 1, uncountedTerminatedPods: { succeeded: ['a'] } }), [
        aPod('a', 'Succeeded', { finalizers: [] }),
        aPod('b', 'Running'),
      ]),
    ['status succeeded,uncountedTerminatedPods'],
  ],
  [
    'pods of a job that fails go on record, and are deleted then',
    () => decide(aStored({}, { ...STARTED, active: 1, conditions: [failing] }), [aPod('a', 'Running')]),
    ['status active,terminating,uncountedTerminatedPods', 'release a', 'delete a'],
  ],
  [
    'a job that fails ends when nothing is left',
    () => decide(aStored({}, { ...STARTED, conditions: [failing] }), []),
    ['status conditions'],
  ],
  [
    'pods that are too many go uncounted',
    () => decide(aStored({ parallelism: 0 }, { ...STARTED, active: 1 }), [aPod('a', 'Running')]),
    ['release a', 'delete a', 'status active,terminating'],
  ],
  ['strays are let go', () => decide(undefined, [], { strays: [aPod('a', 'Running')] }), ['release a']],
  [
    'a job that is being deleted lets its pods go',
    () => decide(aStored({}, { ...STARTED, active: 1 }, { deletionTimestamp: NOW }), [aPod('a', 'Running')]),
    ['release a'],
  ],
  [
    'nothing for a job that is over',
    () => decide(aStored({}, { conditions: [{ ...failing, type: 'Failed' }] }), [aPod('a', 'Running')]),
    [],
  ],
]

describe('the plan of a job', () => {
  for (const [title, actual, expected] of CASES) it(title, () => assert.deepEqual(actual(), expected))

  it('throws at nothing an object may say', () => {
    const odd: Job[] = [
      { apiVersion: 'batch/v1', kind: 'Job', metadata: {} },
      aStored({ completionMode: 'Indexed', completions: undefined }),
      aStored({ completionMode: 'Indexed' }, { completedIndexes: 'x,-1,5-2,99999999999999999999', failedIndexes: ',,' }),
      aStored({ backoffLimitPerIndex: 0, completionMode: 'Indexed', podFailurePolicy: {}, successPolicy: { rules: [{}] } }),
      aStored({ podFailurePolicy: { rules: [{}, { onExitCodes: {} }, { onPodConditions: [{}] }] } }),
      aStored({ template: undefined }, { conditions: [{}], startTime: 'never', uncountedTerminatedPods: { failed: ['', 'x', 'x'] } }),
    ]
    const pods = [
      aPod('a', 'Failed', { annotations: { 'batch.kubernetes.io/job-completion-index': '__proto__' } }),
      { apiVersion: 'v1', kind: 'Pod', metadata: {} },
      aPod('b', '', { deletionTimestamp: 'x' }),
    ]
    for (const job of odd) assert.ok(Array.isArray(decide(job, pods)))
  })
})

async function end(cluster: WorldCluster, phase: 'Succeeded' | 'Failed'): Promise<void> {
  for (const pod of await podsOf(cluster, 'job')) {
    if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) continue
    await cluster.patch(PODS, `default/${pod.metadata.name}`, { status: { phase } }, 'status')
  }
}

describe('the job controller', () => {
  survives(jobController, {
    steps: [
      (cluster) => cluster.create(aJob('job', { completions: 3, parallelism: 2, backoffLimit: 1 })),
      (cluster) => end(cluster, 'Succeeded'),
      (cluster) => cluster.patch(JOBS, 'default/job', { spec: { suspend: true } }),
      (cluster) => cluster.patch(JOBS, 'default/job', { spec: { suspend: false } }),
      (cluster) => end(cluster, 'Succeeded'),
    ],
    invariants: [
      {
        says: 'never more pods at once than the parallelism',
        broken(objects) {
          const active = (objects.list('pods') as Pod[]).filter(
            ({ status, metadata }) => !['Succeeded', 'Failed'].includes(status?.phase ?? '') && metadata.deletionTimestamp === undefined,
          )
          return active.length <= 2 ? undefined : `${active.length} pods are active`
        },
      },
      {
        says: 'no pod is counted twice',
        broken(objects) {
          const [job] = objects.list('jobs') as Job[]
          const { succeeded = 0, failed = 0, uncountedTerminatedPods } = job?.status ?? {}
          const ended = (objects.list('pods') as Pod[]).filter(({ status }) => status?.phase === 'Succeeded').length
          const counted = succeeded + failed + (uncountedTerminatedPods?.succeeded?.length ?? 0)
          return counted <= ended ? undefined : `${counted} counted, ${ended} ended`
        },
      },
    ],
    async atRest(cluster) {
      const { succeeded, failed, active, conditions } = await statusOf(cluster, 'job')
      assert.deepEqual([succeeded, failed, active], [3, undefined, undefined])
      assert.equal(conditions?.at(-1)?.type, 'Complete')
    },
  })
})
