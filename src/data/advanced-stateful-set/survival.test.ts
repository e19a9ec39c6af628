import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { survives } from '../../faultsim/survives.ts'
import type { PodStatus } from '../../kinds/kubernetes/types.ts'
import { summary, templateAt } from '../../minicluster/workloads/stateful-set/testing.ts'
import { advancedStatefulSet } from './controller.ts'
import { aSet, change, modules, rolling, statusIn } from './testing.ts'

describe('data.advanced-stateful-set', () => {
  survives(advancedStatefulSet, {
    modules,
    nodes: 1,
    steps: [
      (cluster) => cluster.create(aSet({ replicas: 2, ...rolling({ podUpdatePolicy: 'InPlaceIfPossible' }) })),
      (cluster) => change(cluster, { template: templateAt('two') }),
      (cluster) => change(cluster, { replicas: 1, reserveOrdinals: [0] }),
    ],
    invariants: [
      {
        says: 'every pod stays the same one from its creation on',
        about: ['pods'],
        memory: () => new Map<string, string>(),
        broken: (view, _change, memory) => {
          const first = memory as Map<string, string>
          for (const { metadata } of view.list('pods')) {
            const { name = '', uid = '' } = metadata
            if ((first.get(name) ?? uid) !== uid) return name
            first.set(name, uid)
          }
          return undefined
        },
      },
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
      assert.equal(await summary(cluster), 'web-1:two+')
      const { readyReplicas, currentRevision, updateRevision, observedGeneration } = await statusIn(cluster)
      assert.deepEqual([readyReplicas, currentRevision, observedGeneration], [1, updateRevision, 3])
    },
  })
})
