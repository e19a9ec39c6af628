import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aConfigMap } from '../../../faultsim/builders/index.ts'
import { aProcessPod, machineOf, processNodes } from '../../../faultsim/builders/process-nodes.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { CONFIG_MAPS, PODS } from '../../../kinds/kubernetes/resources.ts'
import { MODULES } from '../../../modules.ts'
import { NodeVolumes } from '../csi/node-volumes.ts'
import { FakeMachine } from '../fake-machine.ts'
import { createSharedDirectories } from '../volumes/shared-directories.ts'
import { kubeletNodeData } from './controller.ts'
import { KeptRecords } from './records.ts'
import { STORE, storeData, storeModule, storing } from './testing.ts'

const clock = { now: () => 0, after: () => () => undefined }
const machine = new FakeMachine({ clock, programs: {} })
const controller = kubeletNodeData({
  nodeData: [storeData],
  records: new KeptRecords(machine, []),
  shared: createSharedDirectories(),
  machine,
  csi: new NodeVolumes({ machine, clock, nodes: () => [], drivers: [] }),
  isOurs: () => true,
})

function create(cluster: WorldCluster, name: string, owner: string) {
  const { metadata, spec, container } = storing(owner)
  const pod = aProcessPod(`default/${name}`, 'serve', spec, container)
  return cluster.create({ ...pod, metadata: { ...pod.metadata, ...metadata } })
}

const block = (owner: string): string => `/data/nodes/member1-process-1${STORE}/default/${owner}/block`

describe('what pods keep on a node, under faults', () => {
  survives(controller, {
    controllers: processNodes({ serve: {} }),
    modules: [...MODULES, storeModule()],
    steps: [
      (cluster) => cluster.create(aConfigMap('default/cache')),
      (cluster) => cluster.create(aConfigMap('default/other')),
      (cluster) => create(cluster, 'p', 'cache'),
      (cluster) => create(cluster, 'q', 'other'),
      async (cluster) => {
        for (const owner of ['cache', 'other']) machineOf(cluster).files.set(block(owner), 'bytes')
      },
      (cluster) => cluster.delete(PODS, 'default/p'),
      (cluster) => cluster.delete(CONFIG_MAPS, 'default/cache'),
      (cluster) => cluster.delete(CONFIG_MAPS, 'default/other'),
    ],
    async atRest(cluster) {
      const { files } = machineOf(cluster)
      assert.equal(files.has(block('cache')), false)
      // Its pod is still there.
      assert.equal(files.get(block('other')), 'bytes')
    },
  })
})
