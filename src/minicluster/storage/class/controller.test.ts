import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import { NAMESPACES, STORAGE_CLASSES } from '../../../kinds/kubernetes/resources.ts'
import { aClass } from '../testing.ts'
import { localClass } from './controller.ts'

const MEMBER = { members: 1 }

describe('the class local', () => {
  story(
    'is there from the beginning, and is the default',
    async ({ member }) => {
      const found = await member.get(STORAGE_CLASSES, 'local')
      assert.equal(found?.provisioner, 'sluice.dev/local')
      assert.equal(found?.volumeBindingMode, 'WaitForFirstConsumer')
      assert.equal(found?.reclaimPolicy, 'Delete')
      assert.equal(found?.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'], 'true')
    },
    MEMBER,
  )

  story(
    'stays as people change it, and away when they delete it',
    async (world) => {
      const { member } = world
      await member.patch(STORAGE_CLASSES, 'local', {
        metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'false' } },
      })
      await world.restartControllers()
      await world.settle()
      const changed = await member.get(STORAGE_CLASSES, 'local')
      assert.equal(changed?.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'], 'false')
      await member.delete(STORAGE_CLASSES, 'local')
      await world.restartControllers()
      await world.settle()
      assert.equal(await member.get(STORAGE_CLASSES, 'local'), undefined)
      await member.create(aClass('local'))
      await world.settle()
      assert.equal((await member.get(STORAGE_CLASSES, 'local'))?.provisioner, 'example.com/disks')
    },
    MEMBER,
  )
})

survives(localClass(), {
  // A cluster without the annotation is as good as a new one.
  steps: [
    (cluster) => cluster.delete(STORAGE_CLASSES, 'local'),
    (cluster) => cluster.patch(NAMESPACES, 'kube-system', { metadata: { annotations: { 'sluice.dev/local-storage-class': null } } }),
  ],
  async atRest(cluster) {
    assert.equal((await cluster.get(STORAGE_CLASSES, 'local'))?.provisioner, 'sluice.dev/local')
  },
})
