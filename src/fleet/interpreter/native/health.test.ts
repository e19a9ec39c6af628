import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { anObject, ruleOf } from './testing.ts'

const address = (entry: object) => ({ loadBalancer: { ingress: [entry] } })
const rolledOut = { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 }
const scheduled = { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 }
const ready = (status: string) => [
  { type: 'Initialized', status: 'True' },
  { type: 'Ready', status },
]

describe('health', () => {
  const cases: [string, string, object, boolean][] = []
  for (const kind of ['Deployment', 'StatefulSet']) {
    cases.push(
      [kind, 'rolled out', { spec: { replicas: 3 }, status: rolledOut }, true],
      [kind, 'old generation', { spec: { replicas: 3 }, status: { ...rolledOut, observedGeneration: 1 } }, false],
      [kind, 'not all updated', { spec: { replicas: 3 }, status: { ...rolledOut, updatedReplicas: 2 } }, false],
      [kind, 'not all available', { spec: { replicas: 3 }, status: { ...rolledOut, availableReplicas: 2 } }, false],
      [kind, 'any number without spec.replicas', { spec: {}, status: { observedGeneration: 2 } }, true],
      [kind, 'no status', { spec: { replicas: 3 } }, false],
    )
  }
  cases.push(
    ['ReplicaSet', 'enough available', { spec: { replicas: 2 }, status: { observedGeneration: 2, availableReplicas: 2 } }, true],
    ['ReplicaSet', 'too few', { spec: { replicas: 2 }, status: { observedGeneration: 2, availableReplicas: 1 } }, false],
    ['ReplicaSet', 'old generation', { spec: { replicas: 0 }, status: { observedGeneration: 1 } }, false],
    ['DaemonSet', 'everywhere', { status: scheduled }, true],
    ['DaemonSet', 'old generation', { status: { ...scheduled, observedGeneration: 1 } }, false],
    ['DaemonSet', 'not updated everywhere', { status: { ...scheduled, updatedNumberScheduled: 1 } }, false],
    ['DaemonSet', 'not available everywhere', { status: { ...scheduled, numberAvailable: 1 } }, false],
    ['Service', 'no load balancer', { spec: { type: 'ClusterIP' } }, true],
    ['Service', 'without address', { spec: { type: 'LoadBalancer' }, status: { loadBalancer: {} } }, false],
    ['Service', 'with an address', { spec: { type: 'LoadBalancer' }, status: address({ ip: '1.2.3.4' }) }, true],
    ['Service', 'with a name', { spec: { type: 'LoadBalancer' }, status: address({ hostname: 'lb' }) }, true],
    ['Service', 'with an empty entry', { spec: { type: 'LoadBalancer' }, status: address({ ip: '' }) }, false],
    ['Ingress', 'without address', {}, false],
    ['Ingress', 'with an address', { status: address({ ip: '1.2.3.4' }) }, true],
    ['PersistentVolumeClaim', 'bound', { status: { phase: 'Bound' } }, true],
    ['PersistentVolumeClaim', 'pending', { status: { phase: 'Pending' } }, false],
    ['Pod', 'succeeded', { status: { phase: 'Succeeded' } }, true],
    ['Pod', 'running and ready', { status: { phase: 'Running', conditions: ready('True') } }, true],
    ['Pod', 'running and not ready', { status: { phase: 'Running', conditions: ready('False') } }, false],
    ['Pod', 'running, not told', { status: { phase: 'Running' } }, false],
    ['Pod', 'failed', { status: { phase: 'Failed', conditions: ready('True') } }, false],
    ['PodDisruptionBudget', 'enough', { status: { currentHealthy: 2, desiredHealthy: 2 } }, true],
    ['PodDisruptionBudget', 'too few', { status: { currentHealthy: 1, desiredHealthy: 2 } }, false],
  )
  for (const [kind, name, fields, wanted] of cases) {
    it(`${kind}: ${name}`, () => assert.equal(ruleOf(kind, 'health')(anObject(kind, fields, { generation: 2 })), wanted))
  }
})
