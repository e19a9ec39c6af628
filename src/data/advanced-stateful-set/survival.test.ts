import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { survives } from '../../faultsim/survives.ts'
import type { PodStatus } from '../../kinds/kubernetes/types.ts'
import { summary, templateAt } from '../../minicluster/workloads/stateful-set/testing.ts'
import { advancedStatefulSet } from './controller.ts'
import { aSet, change, claims, modules, rolling, statusIn } from './testing.ts'

describe('data.advanced-stateful-set', () => {
  survives(advancedStatefulSet, {
    modules,
    steps: [
      (cluster) => cluster.create(aSet({ ...claims, replicas: 2 })),
      (cluster) => change(cluster, { replicas: 1, reserveOrdinals: [0] }),
      (cluster) => change(cluster, { template: templateAt('two') }),
    ],
    invariants: [
      {
        says: 'a pod that is not chosen stays the same one until it is updated',
        about: ['pods'],
        memory: () => new Map<string, string>(),
        broken: (view, _change, memory) => {
          const seen = memory as Map<string, string>
          for (const { metadata } of view.list('pods')) {
            const key = `${metadata.name} ${metadata.labels?.['controller-revision-hash']}`
            const first = seen.get(key) ?? metadata.uid ?? ''
            if (first !== metadata.uid) return key
            seen.set(key, first)
          }
          return undefined
        },
      },
    ],
    async atRest(cluster) {
      assert.equal(await summary(cluster), 'web-1:two')
      const { replicas, updatedReplicas, observedGeneration } = await statusIn(cluster)
      assert.deepEqual([replicas, updatedReplicas, observedGeneration], [1, 1, 3])
    },
  })

  survives(advancedStatefulSet, {
    modules,
    nodes: 1,
    steps: [
      (cluster) => cluster.create(aSet({ replicas: 2, ...rolling({ podUpdatePolicy: 'InPlaceIfPossible' }) })),
      (cluster) => change(cluster, { template: templateAt('two') }),
    ],
    invariants: [
      {
        says: 'at most one pod of two waits for its new container',
        about: ['pods'],
        broken: (view) => {
          const waiting = view.list('pods').filter(({ spec, status }) => {
            const { containers = [] } = (spec ?? {}) as { containers?: { image?: string }[] }
            const { containerStatuses = [] } = (status ?? {}) as PodStatus
            return containerStatuses.some(({ image }) => image !== containers[0]?.image)
          })
          return waiting.length > 1 ? waiting.map(({ metadata }) => metadata.name).join() : undefined
        },
      },
    ],
    async atRest(cluster) {
      assert.equal(await summary(cluster), 'web-0:two+ web-1:two+')
      const { readyReplicas, currentRevision, updateRevision } = await statusIn(cluster)
      assert.deepEqual([readyReplicas, currentRevision], [2, updateRevision])
    },
  })
})
