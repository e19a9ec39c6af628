import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aProcessPod, machineOf, processNodes } from '../../../faultsim/builders/process-nodes.ts'
import { survives } from '../../../faultsim/survives.ts'
import { aWorld, type WorldCluster } from '../../../faultsim/world/index.ts'
import { CSI_DRIVERS, CSI_NODES, NODES, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../../kinds/kubernetes/types.ts'
import { MODULES } from '../../../modules.ts'
import { csiNodes } from '../../nodes/csi/controller.ts'
import { csiDriverObjects } from '../../nodes/csi/drivers/controller.ts'
import { FakeMachine } from '../fake-machine.ts'
import { kubeletCsi } from './controller.ts'
import { NodeVolumes } from './node-volumes.ts'
import { createToyVolume, mounting, TOY, toyDriver, toyModule } from './testing.ts'

const clock = { now: () => 0, after: () => () => undefined }
const machine = new FakeMachine({ clock, programs: {} })
const drivers = [toyDriver()]
const volumes = new NodeVolumes({ machine, clock, nodes: () => [], drivers })
const modules = [...MODULES, toyModule()]
const NODE = 'member1-process-1'

const create = (cluster: WorldCluster, name: string, nodeName = NODE) => {
  const { spec, container } = mounting('data')
  return cluster.create(aProcessPod(`default/${name}`, 'serve', { ...spec, nodeName }, container))
}
const labelsOf = async (cluster: WorldCluster, node: string): Promise<string[]> =>
  Object.keys((await cluster.get(NODES, node))?.metadata.labels ?? {}).filter((key) => key.startsWith('toy.'))
const usedFiles = (cluster: WorldCluster): string[] => filesOf(cluster).filter((file) => file.includes('/users/'))
const filesOf = (cluster: WorldCluster): string[] =>
  [...machineOf(cluster).files].filter(([path]) => path.startsWith('/data/nodes/')).map(([path, text]) => `${path} ${text}`)

describe('CSI drivers under faults', () => {
  survives(kubeletCsi({ volumes, machine, isOurs: () => true }), {
    controllers: processNodes({ serve: {} }),
    modules,
    before: [(cluster) => createToyVolume(cluster, 'data', { attributes: { seconds: '2' } })],
    steps: [
      async (cluster) => {
        await create(cluster, 'p')
        await create(cluster, 'q')
      },
      async (cluster) => {
        await cluster.delete(PODS, 'default/p')
        await cluster.delete(PODS, 'default/q')
      },
    ],
    atRest: async (cluster) => assert.deepEqual(filesOf(cluster), []),
  })

  survives(csiNodes(drivers), {
    nodes: 1,
    modules,
    before: [(cluster) => createToyVolume(cluster, 'data')],
    steps: [
      (cluster) => create(cluster, 'p', 'member1-simulated-1'),
      async (cluster) => {
        assert.deepEqual(await labelsOf(cluster, 'member1-simulated-1'), ['toy.example.com/uses-data'])
        await cluster.delete(PODS, 'default/p')
      },
    ],
    async atRest(cluster) {
      assert.deepEqual(await labelsOf(cluster, 'member1-simulated-1'), [])
      assert.equal((await cluster.list(CSI_NODES)).length, 1)
    },
  })

  survives(csiDriverObjects(drivers), {
    modules,
    steps: [(cluster) => cluster.delete(CSI_DRIVERS, TOY)],
    atRest: async (cluster) => assert.equal((await cluster.list(CSI_DRIVERS)).filter(({ metadata }) => metadata.name === TOY).length, 1),
  })
})

describe('drivers whose answers are lost, late or never come', () => {
  for (const fault of ['fail-before', 'fail-after', 'late', 'never'] as const)
    it(`in the end have done everything: ${fault}`, async () => {
      const world = await aWorld({ members: 1, hub: false, modules, controllers: processNodes({ serve: {} }) }).settle()
      const { member } = world
      const seen = new Set<string>()
      member.effects.interfere = ({ name }) => {
        if (!/\.(stage|publish|unpublish|unstage)$/.test(name) || seen.has(name)) return undefined
        seen.add(name)
        return fault
      }
      await createToyVolume(member, 'data', { attributes: { seconds: '1' } })
      await create(member, 'p')
      await world.settle()
      assert.equal(((await member.get(PODS, 'default/p')) as Pod).status?.phase, 'Running')
      await member.delete(PODS, 'default/p')
      await create(member, 'q')
      await world.settle()
      assert.equal(((await member.get(PODS, 'default/q')) as Pod).status?.phase, 'Running')
      assert.equal(usedFiles(member).length, 1)
      await member.delete(PODS, 'default/q')
      await world.settle()
      assert.deepEqual(filesOf(member), [])
      assert.equal(seen.size, 4, [...seen].join())
      await world.stop()
    })
})
