/** What `sluice why` says on the hub about datasets that a policy carries: the chain, each member in its own words, and what to do. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { whyFrom } from '../../../src/cli/commands/why.ts'
import type { WorldCluster } from '../../../src/faultsim/world/index.ts'
import { CACHE_RUNTIMES, DATASETS } from '../../../src/kinds/fluid/resources.ts'
import { CLUSTER_PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { MODULES } from '../../../src/modules.ts'
import { aDataset, aGrant, aReader, aReference, aRuntime, askedAgain, carrying, carryingDatasets, create, story } from './scene.ts'

const explainers = MODULES.flatMap((module) => module.explainers)

/** As the command prints it; a member is asked with `--context`. */
async function why(cluster: WorldCluster, what: string, context?: string): Promise<string> {
  const [kind = '', namespace = '', name = ''] = what.split('/')
  const said: string[] = []
  const machine = { isTerminal: false, out: (text: string) => void said.push(text) }
  const from = { client: cluster.client, where: cluster.name, namespace, explainers }
  await cluster.inside(() => whyFrom(machine, from, { kind, name }, context === undefined ? {} : { context }))
  return said.join('')
}

const API_VERSION = 'data.fluid.io/v1alpha1'
const runtimesTo = (...clusters: string[]) => carrying('runtimes', [{ apiVersion: API_VERSION, kind: 'CacheRuntime' }], clusters)

describe('sluice why on the hub', () => {
  story('tells of a dataset that is well where it is, how much is cached, and where to ask further', async (scene) => {
    const { hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime(), aReference())
    await askedAgain(scene)
    const text = await why(hub, 'dataset/data/images')
    for (const part of [
      /✓ policy {4}ClusterPropagationPolicy datasets selects it/,
      /✓ binding {3}ResourceBinding data\/images-dataset/,
      /✓ schedule {2}scheduled: 2 of 2 clusters/,
      /✓ data {6}Bound in member1: 1\.00GiB cached, 1 reference\n/,
      /sluice why dataset\/images -n data --context member2/,
      /Work karmada-es-member2\/\S+: applied → Healthy, Bound/,
      /✓ it is applied and healthy in member1, member2\n$/,
    ])
      assert.match(text, part)
    assert.match(await why(hub, 'dataset/web/images'), /✓ original {2}Dataset data\/images of each cluster/)
    assert.match(await why(hub, 'cacheruntime/data/images'), /✓ data {6}in member2: 1 of 1 workers ready/)
    // The command that it names says more.
    const there = await why(members[1], 'dataset/data/images', 'member2')
    assert.match(there, /✓ references 1 dataset refers to it\n {6}web\/images/)
  })

  story('names the runtime that does not go where the dataset goes', async (scene) => {
    const { world, hub } = scene
    await create(scene, carrying('only-datasets', [{ apiVersion: API_VERSION, kind: 'Dataset' }]), runtimesTo('member1'), aDataset())
    await askedAgain(scene)
    const missing = await why(hub, 'dataset/data/images')
    assert.match(missing, /… runtime {3}a runtime images is not on the hub/)
    assert.match(missing, /To do: create it on the hub, with a policy that carries it to member1, member2/)
    await create(scene, aRuntime())
    await askedAgain(scene)
    const text = await why(hub, 'dataset/data/images')
    assert.match(text, /… runtime {3}CacheRuntime images goes to member1, and not to member2/)
    assert.match(text, /… data {6}NotBound in member2: no runtime is named images/)
    assert.match(text, /To do: let a policy carry it to member2 as well, or set propagateDeps: true in the policy of the dataset/)
    await hub.delete(CLUSTER_PROPAGATION_POLICIES, 'runtimes')
    await create(scene, aRuntime('data/other'), aDataset('data/other'))
    await world.settle()
    assert.match(await why(hub, 'dataset/data/other'), /… runtime {3}CacheRuntime other is on the hub, and no policy carries it/)
  })

  story('names the original that does not go where its reference goes, and the consent that is missing', async (scene) => {
    const { hub } = scene
    const toMember1 = carrying('originals', [{ apiVersion: API_VERSION, kind: 'Dataset', namespace: 'data' }], ['member1'])
    const toAll = carrying('references', [{ apiVersion: API_VERSION, kind: 'Dataset', namespace: 'web' }])
    const grants = carrying('grants', [{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'ReferenceGrant' }])
    await create(scene, runtimesTo('member1'), toMember1, toAll, grants, aDataset(), aRuntime(), aReference())
    await askedAgain(scene)
    const text = await why(hub, 'dataset/web/images')
    assert.match(text, /… original {2}Dataset data\/images goes to member1, and not to member2/)
    assert.match(text, /To do: let a policy carry it to member2 as well\n$/)
    await create(scene, aGrant('lab'))
    await askedAgain(scene)
    const refused = await why(hub, 'dataset/web/images')
    assert.match(refused, /… consent {3}/)
    assert.match(refused, /To do: ask whoever owns namespace data for a ReferenceGrant there, and for a policy that carries it/)
    assert.doesNotMatch(refused, /… original|goes to member1, and not/, 'nothing of an original without consent')
  })

  story('repeats what a member complains about, and leads there', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aDataset(), aRuntime())
    await askedAgain(scene)
    // Somebody deletes it in the member, where a pod reads it.
    await members[1].create(aReader('data/reader', 'images'))
    await world.settle()
    await members[1].delete(DATASETS, 'data/images')
    await askedAgain(scene)
    const text = await why(hub, 'dataset/data/images')
    assert.match(text, /… data {6}Bound in member2: Failed to delete dataset because err: .*reader/)
    assert.match(text, /… member2: Bound: Failed to delete dataset/)
    assert.match(text, /To do: see what it says there: sluice why dataset\/images -n data --context member2/)
    const there = await why(members[1], 'dataset/data/images', 'member2')
    assert.match(there, /To do: delete the pods that read it, first reader: kubectl delete pod\/reader -n data --context member2/)
  })

  story('tells of a scale-in that readers hold in one member', async (scene) => {
    const { world, hub, members } = scene
    const annotations = { 'sluice.dev/fuse-global': 'false' }
    await create(scene, carryingDatasets(), aDataset(), aRuntime('data/images', {}, { annotations }))
    await askedAgain(scene)
    await members[0].create(aReader('data/reader', 'images'))
    await world.settle()
    await hub.patch(CACHE_RUNTIMES, 'data/images', { spec: { worker: { replicas: 0 } } })
    await askedAgain(scene)
    const text = await why(hub, 'cacheruntime/data/images')
    assert.match(text, /… data {6}in member1: 1 worker that is to leave stays, because .* \(pod reader\)/)
    assert.match(text, /✓ data {6}in member2: 0 of 0 workers ready/)
    assert.match(text, /To do: see what it says there: sluice why cacheruntime\/images -n data --context member1/)
    assert.match(await why(members[0], 'cacheruntime/data/images', 'member1'), /… scale-in {2}1 worker that is to leave stays/)
  })
})
