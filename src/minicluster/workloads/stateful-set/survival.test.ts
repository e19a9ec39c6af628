import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { survives } from '../../../faultsim/survives.ts'
import type { PodStatus } from '../../../kinds/kubernetes/types.ts'
import { statefulSet } from './controller.ts'
import { aStatefulSet, change, revisionsIn, statusIn, summary, templateAt, withClaims } from './testing.ts'

describe('minicluster.workloads.stateful-set', () => {
  survives(statefulSet, {
    steps: [
      (cluster) => cluster.create(aStatefulSet({ ...withClaims, replicas: 1, podManagementPolicy: 'Parallel' })),
      (cluster) => change(cluster, { replicas: 2 }),
      (cluster) => change(cluster, { template: templateAt('two') }),
      (cluster) => change(cluster, { replicas: 1 }),
    ],
    invariants: [
      {
        says: 'a pod has its claim',
        broken: (view) => {
          const claims = new Set(view.list('persistentvolumeclaims').map(({ metadata }) => metadata.name))
          return view.list('pods').find(({ metadata }) => !claims.has(`www-${metadata.name}`))?.metadata.name
        },
      },
      {
        says: 'a pod is of a revision that exists',
        broken: (view) => {
          const revisions = new Set(view.list('controllerrevisions').map(({ metadata }) => metadata.name))
          return view.list('pods').find(({ metadata }) => !revisions.has(metadata.labels?.['controller-revision-hash'] ?? ''))?.metadata
            .name
        },
      },
    ],
    async atRest(cluster) {
      assert.equal(await summary(cluster), 'web-0:two')
      const { replicas, updatedReplicas, observedGeneration } = await statusIn(cluster)
      assert.deepEqual([replicas, updatedReplicas, observedGeneration], [1, 1, 4])
      assert.deepEqual(await revisionsIn(cluster), ['1:one', '2:two'])
    },
  })

  survives(statefulSet, {
    nodes: 1,
    steps: [
      (cluster) => cluster.create(aStatefulSet({ replicas: 2 })),
      (cluster) => change(cluster, { template: templateAt('two') }),
      (cluster) => change(cluster, { replicas: 1 }),
    ],
    invariants: [
      {
        says: 'at most one pod is in transition',
        broken: (view) => {
          const moving = view.list('pods').filter(({ metadata, status }) => {
            const { conditions = [] } = (status ?? {}) as PodStatus
            return metadata.deletionTimestamp !== undefined || !conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True')
          })
          return moving.length > 1 ? moving.map(({ metadata }) => metadata.name).join() : undefined
        },
      },
    ],
    async atRest(cluster) {
      assert.equal(await summary(cluster), 'web-0:two+')
      const { readyReplicas, currentRevision, updateRevision } = await statusIn(cluster)
      assert.deepEqual([readyReplicas, currentRevision], [1, updateRevision])
    },
  })
})
