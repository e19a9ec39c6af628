import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod, Volume } from '../../../kinds/kubernetes/types.ts'
import { usedByNobodyElse } from './node-directories.ts'

const podWith = (uid: string, ...volumes: Omit<Volume, 'name'>[]): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, uid } },
  spec: { containers: [], volumes: volumes.map((volume, i) => ({ name: `v${i}`, ...volume })) },
})
const at = (path: string, type = 'DirectoryOrCreate') => ({ hostPath: { path, type } })
const TOP = '/runtime-mnt/cache/ns/demo/top'

describe('what a node made for a pod that goes', () => {
  const table: [string, Pod, Pod[], string[]][] = [
    ['and nobody else has', podWith('a', at(TOP), at('/runtime-mnt/x/y')), [podWith('b', at('/srv'))], [TOP, '/runtime-mnt/x/y']],
    ['and another pod has', podWith('a', at(TOP)), [podWith('b', at(TOP))], []],
    ['and another pod has a part of', podWith('a', at(TOP)), [podWith('b', at(`${TOP}/inside`))], []],
    ['in what another pod has', podWith('a', at(TOP)), [podWith('b', at('/runtime-mnt/cache'))], []],
    ['beside what another pod has', podWith('a', at(TOP)), [podWith('b', at(`${TOP}-2`))], [TOP]],
    ['or would have had to be there', podWith('a', at(TOP, 'Directory'), at('/runtime-mnt/a', '')), [], []],
    ['to store things', podWith('a', at('/var/lib/sluice/cache/a')), [], []],
    ['or the machine has', podWith('a', at('/srv/a'), at('/runtime-mnt'), at('/runtime-mnt/../etc')), [], []],
    ['that has none', podWith('a', { emptyDir: {} }), [], []],
  ]
  for (const [name, pod, others, expected] of table)
    it(name, () =>
      assert.deepEqual(
        usedByNobodyElse(pod, () => [pod, ...others]),
        expected,
      ),
    )
})
