import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { aWorld, type World } from '../../../faultsim/world/index.ts'
import { resourceOfObject } from '../../../faultsim/world/resources.ts'
import { fieldsAt } from '../../../kube/fields.ts'
import type { KubeObject } from '../../../kube/meta.ts'
import { itemsOf, ruleOf } from './testing.ts'

const T1 = '2024-01-01T01:00:00Z'
const T2 = '2024-01-01T02:00:00Z'
const selector = { matchLabels: { app: 'x' } }
const pod = { containers: [{ name: 'c', image: 'i' }] }
const template = { metadata: { labels: { app: 'x' } }, spec: pod }
const jobTemplate = { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } }
const seen = { generation: 1, observedGeneration: 1, resourceTemplateGeneration: 1 }
const lasting = { state: { running: { startedAt: T1 } }, ready: true, name: 'c', restartCount: 1, image: 'i', imageID: 'i' }
const finished = { type: 'Failed', status: 'True', lastProbeTime: T2, lastTransitionTime: T2 }
const address = (...ingress: object[]) => ({ loadBalancer: { ingress } })

/** A template of each kind that has a status to aggregate, and what two members report. */
const CASES: [string, string, object, Parameters<typeof itemsOf>[0]][] = [
  [
    'apps/v1',
    'Deployment',
    { selector, template },
    { a: { ...seen, replicas: 1, readyReplicas: 1 }, b: { ...seen, unavailableReplicas: 1 } },
  ],
  ['apps/v1', 'ReplicaSet', { selector, template }, { a: { ...seen, replicas: 1, readyReplicas: 1 }, b: seen }],
  [
    'apps/v1',
    'StatefulSet',
    { selector, template, serviceName: 'x' },
    { a: { ...seen, replicas: 1, currentReplicas: 1 }, b: { ...seen, replicas: 1 } },
  ],
  ['apps/v1', 'DaemonSet', { selector, template }, { a: { ...seen, desiredNumberScheduled: 2, numberReady: 1 }, b: seen }],
  ['batch/v1', 'Job', jobTemplate.spec, { a: { active: 1, startTime: T1 }, b: { failed: 1, startTime: T1, conditions: [finished] } }],
  [
    'batch/v1',
    'CronJob',
    { schedule: '@hourly', jobTemplate },
    { a: { active: [{ kind: 'Job', name: 'j' }], lastScheduleTime: T1 }, b: { lastScheduleTime: T2 } },
  ],
  [
    'v1',
    'Pod',
    pod,
    {
      a: { phase: 'Running', containerStatuses: [lasting] },
      b: { phase: 'Running', containerStatuses: [lasting], initContainerStatuses: [lasting] },
    },
  ],
  [
    'v1',
    'Service',
    { type: 'LoadBalancer', ports: [{ port: 80 }] },
    { a: address({ ip: '10.0.0.1' }), b: address({ hostname: 'lb.example', ports: [{ port: 80, protocol: 'TCP' }] }) },
  ],
  [
    'networking.k8s.io/v1',
    'Ingress',
    { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
    { a: address({ ip: '10.0.0.1' }), b: {} },
  ],
  [
    'v1',
    'PersistentVolume',
    { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    { a: { phase: 'Available' }, b: { phase: 'Bound' } },
  ],
  [
    'v1',
    'PersistentVolumeClaim',
    { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'] },
    { a: { phase: 'Bound' }, b: { phase: 'Bound' } },
  ],
  [
    'policy/v1',
    'PodDisruptionBudget',
    { selector, minAvailable: 1 },
    { a: { expectedPods: 2, disruptedPods: { p: T1 } }, b: { currentHealthy: 1 } },
  ],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' } },
    { a: { currentReplicas: 1, desiredReplicas: 2 }, b: {} },
  ],
]

describe('a status on a server', () => {
  let world: World
  before(async () => {
    world = await aWorld().settle()
  })
  after(() => world.stop())

  for (const [apiVersion, kind, spec, from] of CASES) {
    it(`${kind}: is accepted, and then nothing differs any more`, async () => {
      const namespaced = kind !== 'PersistentVolume'
      const metadata = { name: 'x', ...(namespaced ? { namespace: 'default' } : {}) }
      const created = await world.hub.create({ apiVersion, kind, metadata, spec } as KubeObject)
      const aggregate = ruleOf(kind, 'aggregate')
      const wanted = aggregate(created, itemsOf(from))
      assert.notEqual(wanted, created)
      const gone = Object.fromEntries(Object.keys(fieldsAt(created, 'status')).map((field) => [field, null]))
      const body = { status: { ...gone, ...fieldsAt(wanted, 'status') } }
      const stored = await world.hub.patch(resourceOfObject(created), namespaced ? 'default/x' : 'x', body, 'status')
      assert.equal(aggregate(stored, itemsOf(from)), stored)
    })
  }
})
