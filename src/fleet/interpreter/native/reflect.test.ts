import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { anObject, ruleOf } from './testing.ts'

const made = { generation: 4, annotations: { 'resourcetemplate.karmada.io/generation': '7' } }
const reported = { generation: 4, resourceTemplateGeneration: 7 }
const extra = { conditions: [{ type: 'Available', status: 'True' }], collisionCount: 1, observedGeneration: 4 }
const scheduled = { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 2, numberReady: 1 }
const conditions = [{ type: 'Complete', status: 'True' }]
const times = { startTime: '2024-01-01T00:00:00Z', completionTime: '2024-01-01T00:01:00Z' }
const budget = { disruptionsAllowed: 1, expectedPods: 3, desiredHealthy: 2, currentHealthy: 3 }

describe('what is reflected of a status', () => {
  const cases: [string, string, object, object | undefined][] = [
    [
      'Deployment',
      'counters and generations',
      { replicas: 3, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 2, ...extra },
      {
        ...reported,
        observedGeneration: 4,
        replicas: 3,
        updatedReplicas: 2,
        readyReplicas: 1,
        availableReplicas: 1,
        unavailableReplicas: 2,
      },
    ],
    ['Deployment', 'no zeros', { replicas: 0, observedGeneration: 0 }, reported],
    [
      'ReplicaSet',
      'counters and generations',
      { replicas: 0, readyReplicas: 1, availableReplicas: 1, fullyLabeledReplicas: 1, ...extra },
      { ...reported, observedGeneration: 4, replicas: 0, readyReplicas: 1, availableReplicas: 1 },
    ],
    [
      'DaemonSet',
      'counters and generations',
      { ...scheduled, updatedNumberScheduled: 1, numberAvailable: 0, numberUnavailable: 1, ...extra },
      { ...reported, observedGeneration: 4, ...scheduled, updatedNumberScheduled: 1, numberUnavailable: 1 },
    ],
    [
      'StatefulSet',
      'no observedGeneration when it is the newest',
      { replicas: 3, readyReplicas: 2, currentReplicas: 1, updatedReplicas: 2, availableReplicas: 2, updateRevision: 'x-1', ...extra },
      { ...reported, replicas: 3, readyReplicas: 2, currentReplicas: 1, updatedReplicas: 2, availableReplicas: 2 },
    ],
    [
      'StatefulSet',
      'one that lags is told',
      { replicas: 3, observedGeneration: 3 },
      { ...reported, observedGeneration: 3, replicas: 3, availableReplicas: 0 },
    ],
    ['StatefulSet', 'none yet', { replicas: 0 }, { ...reported, replicas: 0, availableReplicas: 0 }],
    [
      'Job',
      'counters, conditions, times',
      { active: 0, succeeded: 2, failed: 1, ready: 1, uncountedTerminatedPods: {}, conditions, ...times },
      { succeeded: 2, failed: 1, conditions, ...times },
    ],
    ['PodDisruptionBudget', 'counters', { ...budget, observedGeneration: 1, conditions: [], disruptedPods: {} }, budget],
    ['PodDisruptionBudget', 'disrupted pods', { ...budget, disruptedPods: { p: 't' } }, { ...budget, disruptedPods: { p: 't' } }],
    ['PodDisruptionBudget', 'zeros', {}, { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }],
    [
      'HorizontalPodAutoscaler',
      'replicas',
      { currentReplicas: 1, desiredReplicas: 2, currentMetrics: [], lastScaleTime: 't' },
      { currentReplicas: 1, desiredReplicas: 2 },
    ],
    ['HorizontalPodAutoscaler', 'zeros', { currentReplicas: 0, desiredReplicas: 0 }, { desiredReplicas: 0 }],
    ['Ingress', 'all', { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }, { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }],
    ['CronJob', 'all', { active: [], lastScheduleTime: 't' }, { active: [], lastScheduleTime: 't' }],
    ['Pod', 'all', { phase: 'Running', hostIP: '1.2.3.4' }, { phase: 'Running', hostIP: '1.2.3.4' }],
  ]
  for (const [kind, name, status, wanted] of cases) {
    it(`${kind}: ${name}`, () => assert.deepEqual(ruleOf(kind, 'reflect')(anObject(kind, { status }, made)), wanted))
  }

  for (const kind of [
    'Deployment',
    'ReplicaSet',
    'DaemonSet',
    'StatefulSet',
    'Job',
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
    'Ingress',
    'ConfigMap',
  ]) {
    it(`${kind}: nothing without a status`, () => assert.equal(ruleOf(kind, 'reflect')(anObject(kind, {}, made)), undefined))
  }

  it('Deployment: nothing when there is nothing but zeros', () => {
    assert.equal(ruleOf('Deployment', 'reflect')(anObject('Deployment', { status: { replicas: 0 } })), undefined)
  })

  it('Service: the load balancer, and nothing of other types', () => {
    const reflect = ruleOf('Service', 'reflect')
    const service = (type: string, status?: object) => anObject('Service', { spec: { type }, ...(status === undefined ? {} : { status }) })
    const loadBalancer = { ingress: [{ ip: '1.2.3.4' }] }
    assert.deepEqual(reflect(service('LoadBalancer', { loadBalancer, conditions: [{}] })), { loadBalancer })
    assert.deepEqual(reflect(service('LoadBalancer', {})), { loadBalancer: {} })
    assert.equal(reflect(service('LoadBalancer')), undefined)
    assert.equal(reflect(service('ClusterIP', { loadBalancer })), undefined)
  })

  it('a generation of the template that is no number is an error that names the object', () => {
    const annotations = { 'resourcetemplate.karmada.io/generation': 'many' }
    assert.throws(
      () => ruleOf('Deployment', 'reflect')(anObject('Deployment', { status: {} }, { annotations })),
      /resourcetemplate\.karmada\.io\/generation of Deployment shop\/x is not an integer: "many"/,
    )
    const empty = anObject('ReplicaSet', { status: {} }, { annotations: { 'resourcetemplate.karmada.io/generation': '' } })
    assert.deepEqual(ruleOf('ReplicaSet', 'reflect')(empty), { replicas: 0 })
  })
})
