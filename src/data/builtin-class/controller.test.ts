import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { survives } from '../../faultsim/survives.ts'
import { CACHE_RUNTIME_CLASSES } from '../../kinds/fluid/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { builtinClassController } from './controller.ts'

const OPTIONS = { version: '1.2.3', allowsPrivateAddresses: true }
const member = { hub: false, members: 1 }

describe('the class builtin', () => {
  story(
    'is there from the start, and again when somebody deletes or changes it',
    async (world) => {
      const { member: cluster } = world
      const made = await expectThere(cluster, CACHE_RUNTIME_CLASSES, 'builtin')
      assert.deepEqual(Object.keys((made as unknown as { topology: object }).topology).sort(), ['client', 'master', 'worker'])
      await cluster.delete(CACHE_RUNTIME_CLASSES, 'builtin')
      await world.settle()
      assert.notEqual((await expectThere(cluster, CACHE_RUNTIME_CLASSES, 'builtin')).metadata.uid, made.metadata.uid)
    },
    member,
  )

  story(
    'leaves other classes alone',
    async (world) => {
      const { member: cluster } = world
      await cluster.create({
        apiVersion: 'data.fluid.io/v1alpha1',
        kind: 'CacheRuntimeClass',
        metadata: { name: 'other' },
        fileSystemType: 'other',
      } as KubeObject)
      await world.settle()
      assert.deepEqual(
        cluster.takeControllerWrites().filter((write) => write.endsWith('/other')),
        [],
      )
    },
    member,
  )
})

survives(builtinClassController(OPTIONS), {
  nodes: 0,
  steps: [(cluster) => cluster.delete(CACHE_RUNTIME_CLASSES, 'builtin')],
  atRest: async (cluster) => assert.equal((await cluster.list(CACHE_RUNTIME_CLASSES)).length, 1),
})
