import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BindingSpec } from '../../kinds/karmada/index.ts'
import { isWorkload, keptClusters, purgedFirst, replicasFor, targetsOf } from './targets.ts'
import { targets } from './testing.ts'

const resource = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }
const spec = (more: Partial<BindingSpec>): BindingSpec => ({ resource, conflictResolution: 'Abort', ...more })
const task = (fromCluster: string, purgeMode?: 'Directly' | 'Gracefully' | 'Never') => ({
  fromCluster,
  reason: 'TaintUntolerated',
  producer: 'TaintManager',
  ...(purgeMode === undefined ? {} : { purgeMode }),
})

describe('where a binding goes', () => {
  const table: [string, BindingSpec, { targets: string[]; kept: string[]; purged: string[] }][] = [
    ['nowhere before it is scheduled', spec({}), { targets: [], kept: [], purged: [] }],
    ['where the scheduler says', spec({ clusters: targets('b', 'a') }), { targets: ['b', 'a'], kept: ['b', 'a'], purged: [] }],
    [
      'then where those are that need it, each once',
      spec({
        clusters: targets('b'),
        requiredBy: [
          { name: 'x', clusters: targets('a', 'b') },
          { name: 'y', clusters: targets('c', 'a') },
        ],
      }),
      { targets: ['b', 'a', 'c'], kept: ['b', 'a', 'c'], purged: [] },
    ],
    [
      'a cluster that is left by and by keeps its Work and gets no new one',
      spec({ clusters: targets('b'), gracefulEvictionTasks: [task('a', 'Gracefully'), task('c', 'Never'), task('d')] }),
      { targets: ['b'], kept: ['b', 'a', 'c', 'd'], purged: [] },
    ],
    [
      'one that is left directly keeps nothing, and the others wait for that',
      spec({ clusters: targets('b'), gracefulEvictionTasks: [task('a', 'Directly'), task('a', 'Directly')] }),
      { targets: ['b'], kept: ['b'], purged: ['a'] },
    ],
    [
      'nobody waits for a cluster that is a target again',
      spec({ requiredBy: [{ name: 'x', clusters: targets('a') }], gracefulEvictionTasks: [task('a', 'Directly')] }),
      { targets: ['a'], kept: ['a'], purged: [] },
    ],
  ]
  for (const [name, of, expected] of table)
    it(name, () => {
      assert.deepEqual({ targets: targetsOf(of).map((one) => one.name), kept: [...keptClusters(of)], purged: purgedFirst(of) }, expected)
    })
})

describe('replicas of a target', () => {
  const component = { name: 'worker', replicas: 2 }
  const table: [string, Partial<BindingSpec>, number | undefined, { isWorkload: boolean; replicas: number | undefined }][] = [
    ['none for what is no workload', {}, 3, { isWorkload: false, replicas: undefined }],
    ['its own for what has replicas', { replicas: 5 }, 3, { isWorkload: true, replicas: 3 }],
    ['zero where none are given', { replicas: 5 }, undefined, { isWorkload: true, replicas: 0 }],
    ['zero for what is scaled to zero', { replicas: 0, replicaRequirements: {} }, undefined, { isWorkload: true, replicas: 0 }],
    ['as they are for what has components', { components: [component] }, undefined, { isWorkload: true, replicas: undefined }],
    ['its own where components and replicas are given', { components: [component] }, 4, { isWorkload: true, replicas: 4 }],
  ]
  for (const [name, of, replicas, expected] of table)
    it(name, () => {
      assert.deepEqual({ isWorkload: isWorkload(spec(of)), replicas: replicasFor(spec(of), { name: 'a', replicas }) }, expected)
    })
})
