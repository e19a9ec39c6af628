import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { expectThere } from '../../faultsim/expect/index.ts'
import { story } from '../../faultsim/story.ts'
import { PODS } from '../../kinds/kubernetes/resources.ts'
import type { Pod } from '../../kinds/kubernetes/types.ts'
import { aReader, aReference, createNamespaces, createOriginal, member } from './testing.ts'

describe('a pod with the claim of a reference', () => {
  story(
    'goes where the cache of the original is, whose key nodes have',
    async (world) => {
      const { member: cluster } = world
      await createNamespaces(cluster)
      await createOriginal(cluster)
      await cluster.create(aReference())
      await world.settle()
      const pod = aReader()
      await cluster.create({
        ...pod,
        metadata: { ...pod.metadata, labels: { 'fuse.serverful.fluid.io/inject': 'true', 'fluid.io/dataset.images.sched': 'required' } },
      })
      await world.settle()
      const { spec, status } = (await expectThere(cluster, PODS, 'web/reader')) as Pod
      assert.match(
        JSON.stringify(spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
        /"fluid.io\/s-data-images"/,
      )
      assert.doesNotMatch(JSON.stringify(spec?.affinity), /web-images/)
      assert.equal(status?.phase, 'Running')
    },
    member(),
  )
})
