import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { aConfigMap } from '../../../faultsim/builders/index.ts'
import { aProcessPod, machineOf, processNodes } from '../../../faultsim/builders/process-nodes.ts'
import { story } from '../../../faultsim/story.ts'
import type { World } from '../../../faultsim/world/index.ts'
import { CONFIG_MAPS, PODS } from '../../../kinds/kubernetes/resources.ts'
import { MODULES } from '../../../modules.ts'
import { STORE, storeModule, storing } from './testing.ts'

const NODES = ['member1-process-1', 'member1-process-2'] as const
const world = {
  members: 1,
  hub: false,
  nodes: 1,
  modules: [...MODULES, storeModule()],
  controllers: processNodes({ serve: {} }, { nodes: 2 }),
}

const create = (w: World, name: string, { nodeName = NODES[0] as string, owner = 'cache' } = {}) => {
  const { metadata, spec, container } = storing(owner)
  const pod = aProcessPod(`default/${name}`, 'serve', { ...spec, nodeName }, container)
  return w.member.create({ ...pod, metadata: { ...pod.metadata, ...metadata } })
}

/** As the program of a pod would. */
const write = (w: World, node: string, file: string): void => {
  machineOf(w.member).files.set(`/data/nodes/${node}${STORE}/${file}`, 'bytes')
}
/** What pods have stored, and what the nodes have written down about it. */
const keptOf = (w: World): string[] => {
  const paths = [...machineOf(w.member).files.keys()].filter((path) => path.endsWith('/block') || path.includes('/kept/'))
  return paths.map((path) => path.replace('/data/nodes/', '').replace(/[0-9a-f]{32}/, 'record')).sort()
}
const storedOf = (w: World): string[] => keptOf(w).filter((path) => path.endsWith('/block'))

describe('what pods keep on a node', () => {
  story(
    'outlives them, and goes with its owner, also where its pods have left',
    async (w) => {
      await w.member.create(aConfigMap('default/cache'))
      await w.member.create(aConfigMap('default/other'))
      await create(w, 'p')
      await create(w, 'q', { owner: 'other' })
      await w.settle()
      write(w, NODES[0], 'default/cache/block')
      write(w, NODES[0], 'default/other/block')
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      await create(w, 'p', { nodeName: NODES[1] })
      await w.settle()
      write(w, NODES[1], 'default/cache/block')
      assert.deepEqual(storedOf(w), [
        `${NODES[0]}${STORE}/default/cache/block`,
        `${NODES[0]}${STORE}/default/other/block`,
        `${NODES[1]}${STORE}/default/cache/block`,
      ])

      await w.member.delete(CONFIG_MAPS, 'default/cache')
      await w.settle()
      // A pod still has it.
      assert.deepEqual(storedOf(w), [`${NODES[0]}${STORE}/default/other/block`, `${NODES[1]}${STORE}/default/cache/block`])
      await w.member.delete(PODS, 'default/p')
      await w.settle()
      assert.deepEqual(storedOf(w), [`${NODES[0]}${STORE}/default/other/block`])
      await w.member.delete(PODS, 'default/q')
      await w.member.delete(CONFIG_MAPS, 'default/other')
      await w.settle()
      assert.deepEqual(keptOf(w), [])
    },
    world,
  )

  story(
    'is removed at the next start when its owner went while Sluice was down, and stays for one that came back',
    async (w) => {
      for (const owner of ['cache', 'other']) await w.member.create(aConfigMap(`default/${owner}`))
      await create(w, 'p')
      await create(w, 'q', { owner: 'other' })
      await w.settle()
      for (const owner of ['cache', 'other']) write(w, NODES[0], `default/${owner}/block`)
      for (const pod of ['p', 'q']) await w.member.delete(PODS, `default/${pod}`)
      await w.settle()
      await w.member.stopControllers()
      for (const owner of ['cache', 'other']) await w.member.delete(CONFIG_MAPS, `default/${owner}`)
      await w.member.create(aConfigMap('default/other'))
      await w.restartControllers()
      await w.settle()
      assert.deepEqual(storedOf(w), [`${NODES[0]}${STORE}/default/other/block`])
    },
    world,
  )

  story(
    'is not taken from a pod that was deleted by force as long as it runs',
    async (w) => {
      await w.member.create(aConfigMap('default/cache'))
      await create(w, 'p')
      await w.settle()
      write(w, NODES[0], 'default/cache/block')
      await w.member.delete(PODS, 'default/p', { gracePeriodSeconds: 0 })
      await w.member.delete(CONFIG_MAPS, 'default/cache')
      await w.settle()
      assert.deepEqual(machineOf(w.member).pods(), [])
      assert.deepEqual(keptOf(w), [])
    },
    world,
  )

  story(
    'is nothing that is not the node’s own',
    async (w) => {
      await w.member.create(aConfigMap('default/cache'))
      const { metadata, spec, container } = storing('cache', '/srv/store')
      const pod = aProcessPod('default/p', 'serve', spec, container)
      await w.member.create({ ...pod, metadata: { ...pod.metadata, ...metadata } })
      await w.settle()
      assert.deepEqual(keptOf(w), [])
      await w.member.delete(PODS, 'default/p')
      await w.member.delete(CONFIG_MAPS, 'default/cache')
      await w.settle()
    },
    world,
  )
})
