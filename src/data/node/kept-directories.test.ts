import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod, PodSpec, VolumeMount } from '../../kinds/kubernetes/types.ts'
import { cacheNodeData } from './kept-directories.ts'

const NAME = { 'cacheruntime.fluid.io/name': 'demo' }
const podWith = (spec: Partial<PodSpec>, labels: Record<string, string> = NAME): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'demo-worker-0', namespace: 'ns', labels } },
  spec: { containers: [], ...spec },
})
const mounting = (volume: string, path: string, more: Partial<VolumeMount> = {}): Partial<PodSpec> => ({
  volumes: [{ name: volume, hostPath: { path } }],
  containers: [{ name: 'main', volumeMounts: [{ name: volume, mountPath: '/x', ...more }] }],
})
const TIER = 'tiered-store-level-0-index-0'
const SHARED = 'fluid-cache-runtime-shared-path'

describe('what pods of a cache keep on a node', () => {
  const table: [string, Pod, string[]][] = [
    ['a worker: its blocks', podWith(mounting(TIER, '/var/lib/sluice/cache/ssd/')), ['/var/lib/sluice/cache/ssd/ns/demo']],
    ['a client: its files', podWith(mounting(SHARED, '/runtime-mnt/cache/ns/demo/cache-fuse')), ['/runtime-mnt/cache/ns/demo']],
    [
      'a client that mounts: nothing',
      podWith(mounting(SHARED, '/runtime-mnt/cache/ns/demo/cache-fuse', { mountPropagation: 'Bidirectional' })),
      [],
    ],
    ['a directory of another cache: nothing', podWith(mounting(SHARED, '/runtime-mnt/cache/ns/other/cache-fuse')), []],
    ['a directory of another namespace: nothing', podWith(mounting(SHARED, '/runtime-mnt/cache/other/demo/cache-fuse')), []],
    [
      'a directory that only ends like its own: nothing, since what is around it may be the files of another',
      podWith(mounting(SHARED, '/runtime-mnt/cache/other/ns/demo/blocks')),
      [],
    ],
    ['blocks of which it sees a part: nothing', podWith(mounting(TIER, '/var/lib/sluice/cache', { subPath: 'a' })), []],
    ['what it may only read: nothing', podWith(mounting(TIER, '/var/lib/sluice/cache', { readOnly: true })), []],
    ['what no container mounts: nothing', podWith({ ...mounting(TIER, '/var/lib/sluice/cache'), containers: [] }), []],
    ['other volumes: nothing', podWith(mounting('worker-tiered-store', '/var/lib/sluice/cache')), []],
    ['memory: nothing', podWith({ ...mounting(TIER, ''), volumes: [{ name: TIER, emptyDir: { medium: 'Memory' } }] }), []],
    ['a pod of no cache: nothing', podWith(mounting(TIER, '/var/lib/sluice/cache'), {}), []],
  ]
  for (const [name, pod, expected] of table)
    it(name, () => {
      const kept = cacheNodeData.of(pod)
      assert.deepEqual(
        kept.map(({ path }) => path),
        expected,
      )
      assert.ok(kept.every(({ owner }) => owner === 'demo'))
    })
})
