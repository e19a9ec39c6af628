import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepFreeze } from '../../../base/json.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { interpreterScriptAdmission } from '../configurable/admission.ts'
import { aggregated, isHealthy, layer, rulesFor, withStatus } from './asking.ts'
import { BUNDLED, bundledCustomization } from './bundled-layer.ts'
import { bundledSamples, PYTORCH_JOB, RAY_CLUSTER, RAY_JOB, statusItems, VOLCANO_JOB } from './testing.ts'

describe('bundled rules', () => {
  for (const [key, text] of Object.entries(BUNDLED)) {
    it(`${key}: the file is a customization of this kind whose scripts are accepted`, () => {
      const customization = bundledCustomization(text)
      assert.equal(`${customization.spec.target.apiVersion} ${customization.spec.target.kind}`, key)
      const request = { object: customization } as unknown as Parameters<NonNullable<typeof interpreterScriptAdmission.validate>>[0]
      assert.deepEqual(interpreterScriptAdmission.validate?.(request, {} as never), [])
    })

    it(`${key}: an object that says nothing is no error, and not healthy`, () => {
      const [apiVersion = '', kind = ''] = key.split(' ')
      const bare = deepFreeze({ apiVersion, kind, metadata: { name: 'bare', namespace: 'default' } }) as KubeObject
      const rules = layer.rulesOf(apiVersion, kind) ?? {}
      assert.equal(rules.health?.(bare), false)
      assert.deepEqual(rules.components?.(bare) ?? [], [])
      // A dataset is served by the runtime of its own name, which nobody has to write down.
      assert.deepEqual(rules.dependencies?.(bare).filter(({ name }) => name !== 'bare') ?? [], [])
      assert.deepEqual(rules.reflect?.(bare) ?? {}, {})
      assert.equal(rules.aggregate?.(bare, [{ clusterName: 'a' }, { clusterName: 'b' }]).metadata, bare.metadata)
    })

    it(`${key}: the status of the only cluster is the status, and is settled at the second look`, () => {
      const [apiVersion = '', kind = ''] = key.split(' ')
      const template = deepFreeze({
        apiVersion,
        kind,
        metadata: { name: 'x', namespace: 'default' },
        spec: { keep: {}, list: [] },
      }) as KubeObject
      const status = {
        phase: 'Bound',
        conditions: [{ type: 'Created', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' }],
        state: { phase: 'Running' },
        jobStatus: 'RUNNING',
      }
      const once = layer.rulesOf(apiVersion, kind)?.aggregate?.(template, statusItems(status)) as KubeObject
      assert.equal(once.spec, template.spec)
      assert.equal(layer.rulesOf(apiVersion, kind)?.aggregate?.(once, statusItems(status)), once)
    })
  }

  it('every bundled kind has a sample, and every rule an answer for it', () => {
    const samples = bundledSamples()
    assert.deepEqual(samples.map(({ object }) => `${object.apiVersion} ${object.kind}`).sort(), Object.keys(BUNDLED).sort())
    for (const { object, statuses } of samples) {
      const rules = layer.rulesOf(object.apiVersion, object.kind) ?? {}
      const live = withStatus(object, statuses[0])
      assert.equal(rules.health?.(live), true, object.kind)
      assert.ok(rules.aggregate?.(object, statusItems(...statuses)).status !== undefined, object.kind)
      if (rules.components !== undefined) assert.ok(rules.components(object).length > 0, object.kind)
      if (rules.reflect !== undefined) assert.ok(Object.keys(rules.reflect(live) as object).length > 0, object.kind)
      if (rules.dependencies !== undefined) assert.ok(rules.dependencies(object).length > 0, object.kind)
    }
  })

  it('kinds that are not bundled have no rules', () => {
    assert.equal(layer.rulesOf('apps/v1', 'Deployment'), undefined)
    assert.equal(layer.rulesOf('batch.volcano.sh/v1beta1', 'Job'), undefined)
    assert.equal(layer.rulesOf('__proto__', 'constructor'), undefined)
  })
})

describe('volcano Job', () => {
  const rules = rulesFor(VOLCANO_JOB)

  it('has a component per task', () => {
    assert.deepEqual(rules.components(VOLCANO_JOB), [
      { name: 'driver', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1', memory: '2Gi' } } },
      {
        name: 'task-1',
        replicas: 1,
        replicaRequirements: { nodeClaim: { nodeSelector: { gpu: 'a100' } }, resourceRequest: { 'nvidia.com/gpu': '1' } },
      },
    ])
  })

  it('reflects what Volcano reports, and nothing else', () => {
    assert.deepEqual(
      rules.reflect(withStatus(VOLCANO_JOB, { state: { phase: 'Running' }, running: 3, pending: 0, other: 1, conditions: [] })),
      {
        state: { phase: 'Running' },
        running: 3,
        pending: 0,
      },
    )
  })

  it('adds clusters up', () => {
    const status = aggregated(
      VOLCANO_JOB,
      statusItems(
        {
          state: { phase: 'Running' },
          running: 2,
          pending: 0,
          minAvailable: 2,
          version: 1,
          runningDuration: '1m40s',
          taskStatusCount: { a: { phase: { Running: 2 } } },
          controlledResources: { p: '1' },
          conditions: [{ status: 'Running' }],
        },
        {
          state: { phase: 'Pending' },
          running: 1,
          pending: 3,
          minAvailable: 3,
          version: 2,
          runningDuration: '90.5s',
          taskStatusCount: { a: { phase: { Running: 1 } }, b: { phase: { Pending: 3 } } },
          controlledResources: { q: '2' },
          conditions: [{ status: 'Pending' }],
        },
      ),
    )
    assert.deepEqual(status, {
      running: 3,
      pending: 3,
      minAvailable: 5,
      version: 2,
      runningDuration: '1m40s',
      taskStatusCount: { a: { phase: { Running: 3 } }, b: { phase: { Pending: 3 } } },
      controlledResources: { p: '1', q: '2' },
      conditions: [{ status: 'Running' }, { status: 'Pending' }],
    })
  })

  it('is reported as failed or completed when that is final, and keeps the time', () => {
    const at = (...phases: string[]) => statusItems(...phases.map((phase) => ({ state: { phase } })))
    const failed = { phase: 'Failed', reason: 'VolcanoJobFailed', message: 'Job failed in clusters: member2,member3' }
    const now = '1970-01-01T00:00:00Z'
    assert.deepEqual(aggregated(VOLCANO_JOB, at('Completed', 'Failed', 'Aborted', 'Running')).state, { ...failed, lastTransitionTime: now })
    const completed = { phase: 'Completed', reason: 'Completed', message: 'Job completed successfully' }
    assert.deepEqual(aggregated(VOLCANO_JOB, at('Completed', 'Completed')).state, { ...completed, lastTransitionTime: now })
    assert.equal(aggregated(VOLCANO_JOB, [...at('Completed', 'Completed'), { clusterName: 'silent' }]).state, undefined)
    const reported = withStatus(VOLCANO_JOB, { state: { ...completed, lastTransitionTime: '2024-01-01T00:00:00Z' } })
    assert.equal(rules.aggregate(reported, at('Completed', 'Completed')), reported)
  })

  it('shows of each condition the newest, or all of the first cluster that ended before its time', () => {
    const since = (status: string, lastTransitionTime: string) => ({ status, lastTransitionTime })
    const conditionsOf = (...clusters: object[][]) =>
      aggregated(VOLCANO_JOB, statusItems(...clusters.map((conditions) => ({ conditions })))).conditions
    const [early, late] = [since('Running', '2024-01-01T00:00:00Z'), since('Running', '2024-01-02T00:00:00Z')]
    const pending = since('Pending', '2024-01-01T00:00:00Z')
    assert.deepEqual(conditionsOf([pending, late], [early]), [pending, late])
    assert.deepEqual(conditionsOf([early], [pending, late]), [late, pending])
    const aborted = since('Aborted', '2024-01-01T00:00:00Z')
    assert.deepEqual(conditionsOf([pending, late], [early, aborted], [aborted]), [early, aborted])
  })

  it('is healthy unless it failed', () => {
    for (const phase of ['Pending', 'Running', 'Completed', 'Aborted', 'Restarting', 'Terminated'])
      assert.equal(isHealthy(VOLCANO_JOB, { state: { phase } }), true, phase)
    for (const phase of ['Failed', 'SomethingNew', '']) assert.equal(isHealthy(VOLCANO_JOB, { state: { phase } }), false, phase)
    assert.equal(isHealthy(VOLCANO_JOB, { state: {} }), false)
  })
})

describe('RayCluster and RayJob', () => {
  const head = { name: 'ray-head', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '2', memory: '4Gi' } } }

  it('have a head and worker groups', () => {
    const workers = [
      { name: 'gpu', replicas: 3, replicaRequirements: { resourceRequest: { cpu: '8' } } },
      { name: 'worker-2', replicas: 0 },
    ]
    assert.deepEqual(rulesFor(RAY_CLUSTER).components(RAY_CLUSTER), [head, ...workers])
    assert.deepEqual(rulesFor(RAY_JOB).components(RAY_JOB), [head, ...workers])
    const headless = deepFreeze({ ...RAY_CLUSTER, spec: { headGroupSpec: { rayStartParams: {} } } })
    assert.deepEqual(rulesFor(RAY_CLUSTER).components(headless), [])
  })

  it('a cluster adds up what clusters have', () => {
    const status = aggregated(
      RAY_CLUSTER,
      statusItems(
        {
          readyWorkerReplicas: 1,
          availableWorkerReplicas: 1,
          desiredWorkerReplicas: 2,
          desiredCPU: '1500m',
          desiredMemory: '3Gi',
          state: 'ready',
          head: { podName: 'h' },
          lastUpdateTime: '2024-01-02T00:00:00Z',
          conditions: [{ type: 'HeadPodReady', status: 'True' }],
        },
        {
          readyWorkerReplicas: 2,
          desiredWorkerReplicas: 2,
          desiredCPU: '500m',
          desiredMemory: '1Gi',
          desiredGPU: '2',
          state: 'suspended',
          lastUpdateTime: '2024-01-01T00:00:00Z',
        },
      ),
    )
    assert.deepEqual(status, {
      readyWorkerReplicas: 3,
      availableWorkerReplicas: 1,
      desiredWorkerReplicas: 4,
      minWorkerReplicas: 0,
      maxWorkerReplicas: 0,
      desiredCPU: '2',
      desiredMemory: '4Gi',
      desiredGPU: '2',
      desiredTPU: '0',
      state: 'ready',
      head: { podName: 'h' },
      lastUpdateTime: '2024-01-02T00:00:00Z',
      conditions: [{ type: 'HeadPodReady', status: 'True' }],
    })
  })

  it('a cluster is healthy when provisioned without failures', () => {
    const conditions = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) })
    assert.equal(isHealthy(RAY_CLUSTER, conditions('HeadPodReady', 'RayClusterProvisioned')), true)
    assert.equal(isHealthy(RAY_CLUSTER, conditions('HeadPodReady')), false)
    assert.equal(isHealthy(RAY_CLUSTER, conditions('HeadPodReady', 'RayClusterProvisioned', 'RayClusterReplicaFailure')), false)
  })

  it('a cluster whose others are silent counts as one of several', () => {
    const status = aggregated(RAY_CLUSTER, [...statusItems({ readyWorkerReplicas: 1 }), { clusterName: 'silent' }])
    assert.deepEqual([status.readyWorkerReplicas, status.maxWorkerReplicas, status.desiredCPU], [1, 0, '0'])
  })

  it('a job shows the farthest of its clusters, with its reason', () => {
    const status = aggregated(
      RAY_JOB,
      statusItems(
        { jobStatus: 'RUNNING', jobDeploymentStatus: 'Running', jobId: 'a' },
        { jobStatus: 'FAILED', jobDeploymentStatus: 'Failed', reason: 'AppFailed', message: 'exit 1' },
        { jobStatus: 'SUCCEEDED', jobDeploymentStatus: 'Complete' },
      ),
    )
    assert.deepEqual(status, { jobStatus: 'FAILED', jobDeploymentStatus: 'Failed', reason: 'AppFailed', message: 'exit 1' })
    const most = (...deployments: string[]) =>
      aggregated(RAY_JOB, statusItems(...deployments.map((jobDeploymentStatus) => ({ jobDeploymentStatus })))).jobDeploymentStatus
    assert.equal(most('Initializing', 'Running', 'Retrying'), 'Running')
    assert.equal(most('Complete', 'Running'), 'Complete')
    assert.equal(most('ValidationFailed', 'Failed'), 'Failed')
    assert.equal(most('Suspended', 'Suspending'), 'Suspended')
  })

  it('a job is healthy while it runs and when it is done', () => {
    assert.equal(isHealthy(RAY_JOB, { jobStatus: 'RUNNING', jobDeploymentStatus: 'Running' }), true)
    assert.equal(isHealthy(RAY_JOB, { jobStatus: 'SUCCEEDED', jobDeploymentStatus: 'Complete' }), true)
    assert.equal(isHealthy(RAY_JOB, { jobStatus: 'FAILED', jobDeploymentStatus: 'Complete' }), false)
    assert.equal(isHealthy(RAY_JOB, { jobStatus: 'STOPPED', jobDeploymentStatus: 'Running' }), true)
    assert.equal(isHealthy(RAY_JOB, { jobDeploymentStatus: 'Complete' }), false)
    assert.equal(isHealthy(RAY_JOB, { jobDeploymentStatus: 'Initializing' }), false)
  })

  it('a job depends on what its pods mention, each once', () => {
    assert.deepEqual(rulesFor(RAY_JOB).dependencies(RAY_JOB), [
      { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ml', name: 'code' },
      { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'ml', name: 'ray' },
    ])
  })
})

describe('PyTorchJob', () => {
  const created = { type: 'Created', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', lastUpdateTime: '2024-01-01T00:00:00Z' }
  const since = (type: string, time: string, status = 'True') => ({ type, status, lastTransitionTime: time, lastUpdateTime: time })

  it('has a master and workers', () => {
    assert.deepEqual(rulesFor(PYTORCH_JOB).components(PYTORCH_JOB), [
      { name: 'master', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      { name: 'worker', replicas: 3, replicaRequirements: { resourceRequest: { cpu: '1' } } },
    ])
    assert.deepEqual(rulesFor(PYTORCH_JOB).dependencies(PYTORCH_JOB), [
      { apiVersion: 'v1', kind: 'Secret', namespace: 'ml', name: 'registry' },
    ])
  })

  it('succeeded when all clusters did', () => {
    const status = aggregated(
      PYTORCH_JOB,
      statusItems(
        {
          conditions: [created, since('Succeeded', '2024-01-01T00:01:00Z')],
          replicaStatuses: { Master: { succeeded: 1 } },
          startTime: '2024-01-01T00:00:00Z',
          completionTime: '2024-01-01T00:01:00Z',
        },
        {
          conditions: [created, since('Succeeded', '2024-01-01T00:02:00Z')],
          replicaStatuses: { Master: { succeeded: 1 }, Worker: { succeeded: 3 } },
          startTime: '2024-01-01T00:00:30Z',
          completionTime: '2024-01-01T00:02:00Z',
        },
      ),
    )
    assert.deepEqual(status, {
      conditions: [
        { ...created, reason: 'PyTorchJobCreated', message: 'PyTorchJob is created.' },
        { ...since('Succeeded', '2024-01-01T00:02:00Z'), reason: 'PyTorchJobSucceeded', message: 'PyTorchJob is successfully completed.' },
      ],
      replicaStatuses: { Master: { succeeded: 2 }, Worker: { succeeded: 3 } },
      startTime: '2024-01-01T00:00:00Z',
      completionTime: '2024-01-01T00:02:00Z',
    })
  })

  it('names the clusters where it failed, and runs while one of them runs', () => {
    const outcome = (...types: string[]): unknown =>
      (
        aggregated(PYTORCH_JOB, statusItems(...types.map((type) => ({ conditions: [since(type, '2024-01-01T00:01:00Z')] })))).conditions as
          | { type: string; message: string }[]
          | undefined
      )?.map(({ type, message }) => `${type}: ${message}`)
    assert.deepEqual(outcome('Succeeded', 'Failed', 'Failed'), ['Failed: PyTorchJob executed failed in member clusters: member2, member3'])
    assert.deepEqual(outcome('Succeeded', 'Running'), ['Running: PyTorchJob is running.'])
    assert.deepEqual(outcome('Suspended', 'Suspended'), undefined)
  })

  it('ran, and when it failed or succeeded runs no more', () => {
    const running = since('Running', '2024-01-01T00:00:30Z')
    const at = { startTime: '2024-01-01T00:00:00Z', completionTime: '2024-01-01T00:01:00Z', lastReconcileTime: '2024-01-01T00:03:00Z' }
    const conditionsOf = (...types: string[]) =>
      aggregated(
        PYTORCH_JOB,
        statusItems(...types.map((type) => ({ ...at, conditions: [created, running, since(type, '2024-01-01T00:01:00Z')] }))),
      )
    const ran = { ...running, reason: 'PyTorchJobRunning', message: 'PyTorchJob is running.' }
    const failed = conditionsOf('Succeeded', 'Failed')
    assert.deepEqual((failed.conditions as object[])[1], { ...ran, status: 'False' })
    assert.equal(failed.completionTime, undefined)
    assert.equal(failed.lastReconcileTime, '2024-01-01T00:03:00Z')
    assert.deepEqual((conditionsOf('Succeeded', 'Created').conditions as object[])[1], ran)
    assert.equal(conditionsOf('Succeeded', 'Succeeded').completionTime, '2024-01-01T00:01:00Z')
    assert.deepEqual(aggregated(withStatus(PYTORCH_JOB, at), []), {})
  })

  it('is healthy unless it failed', () => {
    assert.equal(isHealthy(PYTORCH_JOB, { conditions: [created] }), true)
    assert.equal(isHealthy(PYTORCH_JOB, { conditions: [created, since('Failed', '', 'False')] }), true)
    assert.equal(isHealthy(PYTORCH_JOB, { conditions: [created, since('Failed', '')] }), false)
    assert.equal(isHealthy(PYTORCH_JOB, { conditions: [] }), true)
    assert.equal(isHealthy(PYTORCH_JOB, {}), false)
  })
})
