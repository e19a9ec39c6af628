/** What a member's object says is passed through the interpreter's own rules first, so that both sides agree on the fields. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../base/json.ts'
import { nativeLayer } from '../../fleet/interpreter/native/index.ts'
import { layer as bundled } from '../../fleet/interpreter/third-party/asking.ts'
import { bundledSamples, PYTORCH_JOB, RAY_CLUSTER, RAY_JOB, VOLCANO_JOB } from '../../fleet/interpreter/third-party/testing.ts'
import { withField } from '../../kube/fields.ts'
import type { KubeObject } from '../../kube/meta.ts'
import type { Needs } from '../../runtime/needs.ts'
import { type MemberState, WORKLOAD_KINDS, type WorkloadKind, workloadKindOf } from './index.ts'

const native = nativeLayer()
const rulesOf = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>) => ({
  ...native.rulesOf(apiVersion, kind),
  ...bundled.rulesOf(apiVersion, kind),
})

function known({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): WorkloadKind {
  const found = workloadKindOf(apiVersion, kind)
  assert.ok(found, `${apiVersion} ${kind} is known`)
  return found
}

const podTemplate = (pod: object = {}, metadata: object = {}) => ({
  metadata,
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '500m', memory: '1Gi' } } }], ...pod },
})

const object = (apiVersion: string, kind: string, spec: object): KubeObject =>
  deepFreeze({ apiVersion, kind, metadata: { name: 'x', namespace: 'shop', uid: 'u', generation: 1 }, spec })

const JOB = object('batch/v1', 'Job', { parallelism: 3, completions: 2, template: podTemplate() })
const CRON_JOB = object('batch/v1', 'CronJob', { jobTemplate: { spec: { parallelism: 2, template: podTemplate() } } })
const DEPLOYMENT = object('apps/v1', 'Deployment', { replicas: 4, template: podTemplate() })
const STATEFUL_SET = object('apps/v1', 'StatefulSet', { replicas: 2, template: podTemplate() })
const TEMPLATES = [JOB, CRON_JOB, DEPLOYMENT, STATEFUL_SET, PYTORCH_JOB, RAY_JOB, RAY_CLUSTER, VOLCANO_JOB]

/** What the hub's binding gets of a member's object with this status. */
function reported(of: KubeObject, status: unknown): unknown {
  const { reflect } = rulesOf(of)
  assert.ok(reflect)
  return reflect(deepFreeze(status === undefined ? of : { ...of, status }))
}

const START = '2026-03-01T10:00:00Z'
const END = '2026-03-01T10:05:00Z'
const condition = (type: string, status = 'True') => ({ type, status, lastProbeTime: END, lastTransitionTime: END, reason: type })
const conditions = (...types: string[]) => ({ conditions: types.map((type) => condition(type)) })

describe('how a copy is doing, from what its member reports', () => {
  const table: [KubeObject, string, object | undefined, MemberState][] = [
    [JOB, 'has no status yet', undefined, 'unknown'],
    [JOB, 'has not started', {}, 'running'],
    [JOB, 'runs', { startTime: START, active: 1, ready: 1, uncountedTerminatedPods: {} }, 'running'],
    [JOB, 'has all its pods, but is not decided', { startTime: START, succeeded: 2 }, 'running'],
    [JOB, 'is suspended', { ...conditions('Suspended') }, 'running'],
    [JOB, 'is about to complete', { startTime: START, active: 1, ...conditions('SuccessCriteriaMet') }, 'running'],
    [JOB, 'is about to fail', { startTime: START, active: 1, ...conditions('FailureTarget') }, 'running'],
    [
      JOB,
      'has completed',
      { startTime: START, completionTime: END, succeeded: 2, ...conditions('SuccessCriteriaMet', 'Complete') },
      'succeeded',
    ],
    [JOB, 'has completed, of an old server', { completionTime: END, succeeded: 2, ...conditions('Complete') }, 'succeeded'],
    [JOB, 'has met its criteria and an end', { completionTime: END, ...conditions('SuccessCriteriaMet') }, 'succeeded'],
    [JOB, 'has a condition that is not so', { conditions: [condition('Complete', 'False'), condition('Failed', 'Unknown')] }, 'running'],
    [JOB, 'has failed', { startTime: START, failed: 7, ...conditions('FailureTarget', 'Failed') }, 'failed'],
    [JOB, 'says both', { completionTime: END, ...conditions('Complete', 'Failed') }, 'failed'],

    [CRON_JOB, 'has no status yet', undefined, 'unknown'],
    [CRON_JOB, 'waits for its first time', {}, 'running'],
    [CRON_JOB, 'runs for the first time', { active: [{ kind: 'Job', name: 'x-1' }], lastScheduleTime: START }, 'running'],
    [CRON_JOB, 'has succeeded once, and runs again', { active: [{}], lastScheduleTime: END, lastSuccessfulTime: END }, 'succeeded'],
    [CRON_JOB, 'has no time that can be read', { lastSuccessfulTime: 'yesterday' }, 'running'],
    [CRON_JOB, "has Go's zero time", { lastSuccessfulTime: '0001-01-01T00:00:00Z' }, 'running'],

    [DEPLOYMENT, 'has no status yet', undefined, 'unknown'],
    [DEPLOYMENT, 'is rolled out', { replicas: 4, readyReplicas: 4, availableReplicas: 4, observedGeneration: 1 }, 'running'],
    [DEPLOYMENT, 'makes no progress', { replicas: 4, unavailableReplicas: 4, ...conditions('ReplicaFailure') }, 'running'],
    [STATEFUL_SET, 'has no status yet', undefined, 'unknown'],
    [STATEFUL_SET, 'is rolled out', { replicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 }, 'running'],

    [PYTORCH_JOB, 'has no status yet', undefined, 'unknown'],
    [PYTORCH_JOB, 'runs', { ...conditions('Created', 'Running'), replicaStatuses: { Master: { active: 1 } } }, 'running'],
    [PYTORCH_JOB, 'restarts', { conditions: [condition('Running', 'False'), condition('Restarting')] }, 'running'],
    [
      PYTORCH_JOB,
      'has succeeded',
      { conditions: [condition('Created'), condition('Running', 'False'), condition('Succeeded')], completionTime: END },
      'succeeded',
    ],
    [PYTORCH_JOB, 'has failed', { conditions: [condition('Running', 'False'), condition('Failed')], completionTime: END }, 'failed'],

    [RAY_JOB, 'has no status yet', undefined, 'unknown'],
    [RAY_JOB, 'gets its cluster', { jobDeploymentStatus: 'Initializing', rayClusterName: 'tune-x' }, 'running'],
    [RAY_JOB, 'runs', { jobStatus: 'RUNNING', jobDeploymentStatus: 'Running' }, 'running'],
    [RAY_JOB, 'is done, but not decided', { jobStatus: 'SUCCEEDED', jobDeploymentStatus: 'Running' }, 'running'],
    [RAY_JOB, 'failed and tries again', { jobStatus: 'FAILED', jobDeploymentStatus: 'Retrying', failed: 1 }, 'running'],
    [RAY_JOB, 'has succeeded', { jobStatus: 'SUCCEEDED', jobDeploymentStatus: 'Complete', endTime: END }, 'succeeded'],
    [RAY_JOB, 'has failed', { jobStatus: 'FAILED', jobDeploymentStatus: 'Failed', reason: 'AppFailed' }, 'failed'],
    [RAY_JOB, 'has failed, of an old operator', { jobStatus: 'FAILED', jobDeploymentStatus: 'Complete' }, 'failed'],
    [RAY_JOB, 'was stopped', { jobStatus: 'STOPPED', jobDeploymentStatus: 'Complete' }, 'failed'],
    [RAY_JOB, 'took too long', { jobStatus: 'SUCCEEDED', jobDeploymentStatus: 'Failed', reason: 'DeadlineExceeded' }, 'failed'],
    [RAY_JOB, 'is invalid', { jobDeploymentStatus: 'ValidationFailed', reason: 'ValidationFailed' }, 'failed'],

    [RAY_CLUSTER, 'has no status yet', undefined, 'unknown'],
    [RAY_CLUSTER, 'is ready', { state: 'ready', ...conditions('HeadPodReady', 'RayClusterProvisioned') }, 'running'],
    [RAY_CLUSTER, 'is suspended', { state: 'suspended', ...conditions('RayClusterSuspended') }, 'running'],
    [RAY_CLUSTER, 'lost a pod', { state: 'ready', ...conditions('RayClusterReplicaFailure') }, 'running'],
    [RAY_CLUSTER, 'has failed', { state: 'failed', reason: 'no quota' }, 'failed'],

    ...(['Pending', 'Running', 'Restarting', 'Completing', 'Aborting', 'Terminating'] as const).map(
      (phase): [KubeObject, string, object, MemberState] => [VOLCANO_JOB, `is ${phase}`, { state: { phase }, minAvailable: 5 }, 'running'],
    ),
    [VOLCANO_JOB, 'is Completed', { state: { phase: 'Completed', lastTransitionTime: END }, succeeded: 5 }, 'succeeded'],
    ...(['Failed', 'Aborted', 'Terminated'] as const).map((phase): [KubeObject, string, object, MemberState] => [
      VOLCANO_JOB,
      `is ${phase}`,
      { state: { phase, reason: 'x' }, failed: 1 },
      'failed',
    ]),
  ]
  for (const [of, name, status, expected] of table)
    it(`${of.apiVersion} ${of.kind} ${name}: ${expected}`, () => assert.equal(known(of).stateOf(reported(of, status)), expected))

  it('a volcano Job without a status is not decided', () => {
    assert.ok(['unknown', 'running'].includes(known(VOLCANO_JOB).stateOf(reported(VOLCANO_JOB, undefined))))
  })

  it('what the bundled rules expect of members is a workload that runs', () => {
    const samples = bundledSamples().filter(({ object: of }) => workloadKindOf(of.apiVersion, of.kind) !== undefined)
    assert.equal(samples.length, 4)
    for (const { object: of, statuses } of samples)
      for (const status of statuses) assert.equal(known(of).stateOf(reported(of, status)), 'running', of.kind)
  })

  it('counts what really reaches the hub: reflecting a Job keeps conditions and completionTime', () => {
    const status = reported(JOB, { active: 0, ready: 0, completionTime: END, ...conditions('Complete') })
    assert.deepEqual(status, { completionTime: END, ...conditions('Complete') })
  })

  it('is told for any JSON, without an exception', () => {
    const words = ['conditions', 'state', 'phase', 'status', 'type', 'completionTime', 'lastSuccessfulTime', 'jobStatus', '__proto__']
    const anything = fc.anything({ key: fc.oneof(fc.constantFrom(...words), fc.string()), withNullPrototype: true, maxDepth: 4 })
    const likely = fc.record(
      {
        conditions: fc.oneof(anything, fc.array(fc.record({ type: fc.oneof(fc.constant('Complete'), anything), status: anything }))),
        state: fc.oneof(anything, fc.record({ phase: anything })),
        jobDeploymentStatus: anything,
        completionTime: anything,
        lastSuccessfulTime: fc.oneof(anything, fc.string()),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(anything, likely, fc.jsonValue()), (status) => {
        for (const kind of WORKLOAD_KINDS) {
          assert.ok(['unknown', 'running', 'succeeded', 'failed'].includes(kind.stateOf(status)))
          assert.ok(['string', 'undefined'].includes(typeof kind.runOf?.(status)))
          if (kind.isEndless) assert.notEqual(kind.stateOf(status), 'succeeded')
        }
      }),
    )
  })
})

describe('the latest run', () => {
  const { runOf } = known(CRON_JOB)
  const at = (lastSuccessfulTime: string) => runOf?.(reported(CRON_JOB, { lastSuccessfulTime }))

  it('of a CronJob is when it last succeeded, in one form', () => {
    assert.equal(at('2026-03-01T10:05:00Z'), '2026-03-01T10:05:00Z')
    assert.equal(at('2026-03-01T12:05:00+02:00'), '2026-03-01T10:05:00Z')
    assert.equal(at('2026-03-01T10:05:00.25Z'), '2026-03-01T10:05:00Z')
    assert.equal(at('soon'), undefined)
  })

  it('of a CronJob is the larger text when it is later', () => {
    const time = fc.date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2999-01-01T00:00:00Z'), noInvalidDate: true })
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [earlier, later] = a < b ? [a, b] : [b, a]
        assert.ok((at(earlier.toISOString()) ?? '') <= (at(later.toISOString()) ?? ''))
      }),
    )
  })

  it('is there exactly when a CronJob has succeeded', () => {
    fc.assert(
      fc.property(fc.record({ lastSuccessfulTime: fc.oneof(fc.constantFrom(END, 'x', null), fc.string()) }), (status) =>
        assert.equal(known(CRON_JOB).stateOf(status) === 'succeeded', runOf?.(status) !== undefined),
      ),
    )
  })

  it('is nothing that other kinds have: their objects run once', () => {
    assert.deepEqual(
      WORKLOAD_KINDS.filter((kind) => kind.runOf !== undefined).map(({ kind }) => kind),
      ['CronJob'],
    )
  })
})

describe('the table of kinds', () => {
  it('knows every version of a kind, and no kind of another group', () => {
    assert.equal(workloadKindOf('batch/v1beta1', 'CronJob'), workloadKindOf('batch/v1', 'CronJob'))
    assert.notEqual(workloadKindOf('batch/v1', 'Job'), workloadKindOf('batch.volcano.sh/v1alpha1', 'Job'))
    assert.equal(workloadKindOf('example.com/v1', 'Job'), undefined)
    assert.equal(workloadKindOf('v1', 'Job'), undefined)
    assert.equal(workloadKindOf('batch/v1', 'job'), undefined)
    assert.equal(workloadKindOf('', '__proto__'), undefined)
  })

  it('has each kind once, and those of the tests are all', () => {
    const names = WORKLOAD_KINDS.map(({ group, kind }) => `${group}/${kind}`)
    assert.equal(new Set(names).size, names.length)
    assert.deepEqual(new Set(WORKLOAD_KINDS), new Set(TEMPLATES.map(known)))
  })

  it('says which have no end', () => {
    assert.deepEqual(
      WORKLOAD_KINDS.filter(({ isEndless }) => isEndless).map(({ kind }) => kind),
      ['Deployment', 'StatefulSet', 'RayCluster'],
    )
  })
})

/** Where each kind has its first pod template. */
const POD_TEMPLATES: [KubeObject, string[]][] = [
  [JOB, ['spec', 'template']],
  [CRON_JOB, ['spec', 'jobTemplate', 'spec', 'template']],
  [DEPLOYMENT, ['spec', 'template']],
  [STATEFUL_SET, ['spec', 'template']],
  [PYTORCH_JOB, ['spec', 'pytorchReplicaSpecs', 'Worker', 'template']],
  [RAY_JOB, ['spec', 'rayClusterSpec', 'headGroupSpec', 'template']],
  [RAY_CLUSTER, ['spec', 'headGroupSpec', 'template']],
]

describe('the queue that a workload names', () => {
  const queueOf = (template: KubeObject) => known(template).queueOf(template)

  for (const [template, path] of POD_TEMPLATES) {
    it(`${template.kind}: none, then by Volcano's marks on object and pods, then by our annotation`, () => {
      let named = template
      assert.equal(queueOf(named), undefined)
      for (const [at, key, queue] of [
        [['metadata', 'annotations'], 'scheduling.volcano.sh/queue-name', 'a'],
        [['metadata', 'labels'], 'volcano.sh/queue-name', 'b'],
        [[...path, 'metadata', 'annotations'], 'scheduling.volcano.sh/queue-name', 'c'],
        [[...path, 'metadata', 'annotations'], 'volcano.sh/queue-name', 'd'],
        [[...path, 'metadata', 'labels'], 'volcano.sh/queue-name', 'e'],
        [['metadata', 'annotations'], 'sluice.dev/queue', 'f'],
      ] as const) {
        named = withField(named, [...at, key], queue)
        assert.equal(queueOf(named), queue)
      }
    })
  }

  it('is a field of kinds that have one, which counts before marks on pods', () => {
    assert.equal(queueOf(VOLCANO_JOB), 'default')
    const marked = withField(VOLCANO_JOB, ['metadata', 'labels', 'volcano.sh/queue-name'], 'label')
    assert.equal(queueOf(marked), 'default')
    assert.equal(queueOf(withField(marked, ['spec', 'queue'], '')), 'label')
    assert.equal(queueOf(withField(marked, ['metadata', 'annotations', 'sluice.dev/queue'], 'ours')), 'ours')
    assert.equal(queueOf(withField(PYTORCH_JOB, ['spec', 'runPolicy', 'schedulingPolicy', 'queue'], 'research')), 'research')
  })

  it('is none if it is empty or no text', () => {
    for (const queue of ['', 7, null, {}]) {
      assert.equal(queueOf(withField(DEPLOYMENT, ['metadata', 'annotations', 'sluice.dev/queue'], queue)), undefined)
    }
  })
})

describe('the priority class that a workload names', () => {
  const classOf = (template: KubeObject) => known(template).priorityClassOf(template)

  for (const [template, path] of POD_TEMPLATES) {
    it(`${template.kind}: that of its pods`, () => {
      assert.equal(classOf(template), undefined)
      assert.equal(classOf(withField(template, [...path, 'spec', 'priorityClassName'], 'high')), 'high')
    })
  }

  for (const [template, path] of [
    [VOLCANO_JOB, ['spec', 'priorityClassName']],
    [PYTORCH_JOB, ['spec', 'runPolicy', 'schedulingPolicy', 'priorityClass']],
    [RAY_JOB, ['metadata', 'labels', 'ray.io/priority-class-name']],
    [RAY_CLUSTER, ['metadata', 'labels', 'ray.io/priority-class-name']],
  ] as const) {
    it(`${template.kind}: before that, its own`, () => {
      const at = POD_TEMPLATES.find(([of]) => of === template)?.[1]
      const below = at === undefined ? template : withField(template, [...at, 'spec', 'priorityClassName'], 'of pods')
      assert.equal(classOf(withField(below, path, 'own')), 'own')
    })
  }

  it('batch.volcano.sh Job: that of its first task with one', () => {
    const tasks = [{ template: podTemplate() }, { template: podTemplate({ priorityClassName: 'low' }) }]
    assert.equal(classOf(withField(VOLCANO_JOB, ['spec', 'tasks'], tasks)), 'low')
  })
})

describe('what a workload demands', () => {
  function needsOf(template: KubeObject): Needs {
    const { replicas, components } = rulesOf(template)
    if (components !== undefined) return { components: components(template) }
    if (replicas === undefined) return {}
    const { requirements, ...answer } = replicas(template)
    return requirements === undefined ? answer : { ...answer, replicaRequirements: requirements }
  }
  const demandOf = (template: KubeObject, needs = needsOf(template)) => Object.fromEntries(known(template).demandOf(template, needs))
  const GI = 2 ** 30

  const table: [KubeObject, Record<string, number>][] = [
    [JOB, { cpu: 1000, memory: 2 * GI }],
    [CRON_JOB, { cpu: 1000, memory: 2 * GI }],
    [DEPLOYMENT, { cpu: 2000, memory: 4 * GI }],
    [STATEFUL_SET, { cpu: 1000, memory: 2 * GI }],
    [PYTORCH_JOB, { cpu: 4000 }],
    [RAY_JOB, { cpu: 26_000, memory: 4 * GI }],
    [RAY_CLUSTER, { cpu: 26_000, memory: 4 * GI }],
    [VOLCANO_JOB, { cpu: 1000, memory: 2 * GI, 'nvidia.com/gpu': 1 }],
  ]
  for (const [template, expected] of table)
    it(`${template.apiVersion} ${template.kind}, by what the interpreter found`, () => assert.deepEqual(demandOf(template), expected))

  it('is nothing where nothing was found', () => {
    for (const template of TEMPLATES.filter((of) => of !== CRON_JOB)) assert.deepEqual(demandOf(template, {}), {}, template.kind)
    assert.deepEqual(demandOf(DEPLOYMENT, { replicas: 3 }), {})
    assert.deepEqual(demandOf(DEPLOYMENT, { replicas: 0, replicaRequirements: { resourceRequest: { cpu: '1' } } }), {})
  })

  it('counts components only, where there are any, and none below zero', () => {
    const request = (cpu: string) => ({ replicaRequirements: { resourceRequest: { cpu } } })
    const components = [
      { name: 'a', replicas: 2, ...request('250m') },
      { name: 'b', replicas: -1, ...request('-1') },
      { name: 'c', replicas: 1 },
    ]
    assert.deepEqual(demandOf(PYTORCH_JOB, { replicas: 9, ...request('9'), components }), { cpu: 500 })
    assert.deepEqual(demandOf(PYTORCH_JOB, { replicas: 2, ...request('1'), components: [] }), { cpu: 2000 })
  })

  it('of a CronJob is that of one Job: limits count as requests, sidecars with the containers', () => {
    const pod = {
      containers: [{ name: 'a', resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } }],
      initContainers: [
        { name: 'b', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
        { name: 'c', resources: { requests: { cpu: '300m', memory: 'much' } } },
      ],
    }
    const cronJob = (spec: object) => object('batch/v1', 'CronJob', { jobTemplate: { spec: { ...spec, template: { spec: pod } } } })
    assert.deepEqual(demandOf(cronJob({})), { cpu: 600, memory: GI })
    assert.deepEqual(demandOf(cronJob({ parallelism: 4, completions: 2 })), { cpu: 1200, memory: 2 * GI })
    assert.deepEqual(demandOf(cronJob({ parallelism: 0 })), {})
    assert.deepEqual(demandOf(cronJob({}), { replicas: 2, replicaRequirements: { resourceRequest: { cpu: '1' } } }), { cpu: 2000 })
  })

  it('is told for any template, without an exception', () => {
    const anything = fc.anything({ key: fc.oneof(fc.constantFrom('template', 'tasks', 'metadata', 'labels'), fc.string()) })
    fc.assert(
      fc.property(anything, anything, (metadata, spec) => {
        const template = { apiVersion: 'v1', kind: 'X', metadata, spec } as KubeObject
        for (const kind of WORKLOAD_KINDS) {
          assert.ok(['string', 'undefined'].includes(typeof kind.queueOf(template)))
          assert.ok(['string', 'undefined'].includes(typeof kind.priorityClassOf(template)))
          for (const amount of kind.demandOf(template, {}).values()) assert.ok(amount > 0)
        }
      }),
    )
  })
})
