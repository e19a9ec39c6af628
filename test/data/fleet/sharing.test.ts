/** References that policies carry, with and without their originals, and the grants of owners: in each member as in a cluster of its own. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { DATASETS, THIN_RUNTIMES } from '../../../src/kinds/fluid/resources.ts'
import { ReferenceGrant } from '../../../src/kinds/gateway/reference-grant.ts'
import { CLUSTER_PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { PERSISTENT_VOLUME_CLAIMS } from '../../../src/kinds/kubernetes/resources.ts'
import type { KubeObject } from '../../../src/kube/meta.ts'
import type { Resource } from '../../../src/kube/resource.ts'
import {
  aDataset,
  aGrant,
  aReference,
  aRuntime,
  askedAgain,
  carrying,
  carryingDatasets,
  create,
  phasesOf,
  saidBy,
  statusIn,
  story,
} from './scene.ts'

const WEB = 'web/images'
const BOUND = ['Bound', 'Bound', 'Bound']

/** One policy for each dataset: they may go to different members. */
const carryingOne = (name: string, namespace: string, ...clusters: string[]) =>
  carrying(name, [{ apiVersion: 'data.fluid.io/v1alpha1', kind: 'Dataset', namespace }], clusters)

describe('a reference that a policy carries', () => {
  story('is bound in each member to the original there, and the hub names who refers', async (scene) => {
    const { hub, members } = scene
    await create(scene, carryingDatasets(), aReference(), aDataset(), aRuntime())
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), BOUND)
    assert.deepEqual(await phasesOf(scene, WEB), BOUND)
    assert.deepEqual((await statusIn(hub)).datasetRef, [WEB])
    const { cacheStates, datasetRef, runtimes } = await statusIn(hub, WEB)
    assert.deepEqual([cacheStates?.cached, datasetRef], ['2.00GiB', undefined], 'the sum of the references is that of the originals')
    assert.deepEqual(
      runtimes?.map(({ namespace, name, type }) => [namespace, name, type]),
      [['web', 'images', 'thin']],
    )
    for (const member of members) {
      assert.equal((await statusIn(member, WEB)).cacheStates?.cached, '1.00GiB')
      assert.ok(await member.get(PERSISTENT_VOLUME_CLAIMS, WEB), `${member.name} has its claim`)
      assert.ok(await member.get(THIN_RUNTIMES as Resource<KubeObject>, WEB), `${member.name} has its runtime`)
    }
    assert.equal(await hub.get(THIN_RUNTIMES as Resource<KubeObject>, WEB), undefined, 'the hub makes nothing')
    assert.equal(await hub.get(PERSISTENT_VOLUME_CLAIMS, WEB), undefined)
  })

  story('waits where its original is not, and is bound as soon as a policy brings it', async (scene) => {
    const { world, hub, members } = scene
    const runtimes = carrying('runtimes', [{ apiVersion: 'data.fluid.io/v1alpha1', kind: 'CacheRuntime' }])
    await create(scene, runtimes, carryingOne('references', 'web', 'member1', 'member2'), carryingOne('originals', 'data', 'member1'))
    await create(scene, aReference(), aDataset(), aRuntime())
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', ''])
    assert.deepEqual(await phasesOf(scene, WEB), ['NotBound', 'Bound', 'NotBound'])
    assert.equal(await saidBy(hub, 'Ready', WEB), 'False NotEverywhere: not ready in member2')
    assert.match(await saidBy(hub, 'NotReady', WEB), /^True \w+: member2: /)
    assert.equal(await members[1].get(PERSISTENT_VOLUME_CLAIMS, WEB), undefined)
    await hub.patch(CLUSTER_PROPAGATION_POLICIES, 'originals', { spec: carryingOne('originals', 'data', 'member1', 'member2').spec })
    await world.settle()
    assert.deepEqual(await phasesOf(scene, WEB), BOUND)
  })

  story('fails in the member that its original leaves, and nowhere else', async (scene) => {
    const { world, hub } = scene
    const runtimes = carrying('runtimes', [{ apiVersion: 'data.fluid.io/v1alpha1', kind: 'CacheRuntime' }])
    await create(
      scene,
      runtimes,
      carryingOne('references', 'web', 'member1', 'member2'),
      carryingOne('originals', 'data', 'member1', 'member2'),
    )
    await create(scene, aDataset(), aRuntime(), aReference())
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene, WEB), BOUND)
    await hub.patch(CLUSTER_PROPAGATION_POLICIES, 'originals', { spec: carryingOne('originals', 'data', 'member1').spec })
    await world.settle()
    // The original in member2 is held by its reference: it goes when that does.
    assert.deepEqual(await phasesOf(scene, WEB), BOUND)
    assert.match(await saidBy(scene.members[1], 'DeletionHeld'), /web\/images/)
    await hub.patch(CLUSTER_PROPAGATION_POLICIES, 'references', { spec: carryingOne('references', 'web', 'member1').spec })
    await world.settle()
    assert.deepEqual(await phasesOf(scene, WEB), ['Bound', 'Bound', ''])
    assert.deepEqual(await phasesOf(scene), ['Bound', 'Bound', ''])
  })

  story('asks for the consent that the owner stated on the hub, in every member', async (scene) => {
    const { world, hub, members } = scene
    await create(scene, carryingDatasets(), aGrant('lab'), aDataset(), aRuntime(), aReference())
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene, WEB), ['NotBound', 'NotBound', 'NotBound'])
    assert.match(await saidBy(hub, 'NotReady', WEB), /ReferenceGrant/)
    assert.doesNotMatch(await saidBy(hub, 'NotReady', WEB), /member/, 'all members say the same')
    await create(scene, aGrant('web'))
    assert.deepEqual(await phasesOf(scene, WEB), BOUND)
    await hub.delete(ReferenceGrant.resource as Resource, 'data/for-web')
    await world.settle()
    assert.deepEqual(await phasesOf(scene, WEB), ['NotBound', 'NotBound', 'NotBound'])
    assert.match(await saidBy(hub, 'ConsentWithdrawn', WEB), /^True /)
    for (const member of members) assert.match(await saidBy(member, 'ConsentWithdrawn'), /web\/images/, member.name)
    assert.match(await saidBy(hub, 'ConsentWithdrawn'), /^True NoConsent: .*web\/images/)
  })

  story('is refused in the one member where the owner has stated something else', async (scene) => {
    const { world, members } = scene
    const datasets = ['Dataset', 'CacheRuntime'].map((kind) => ({ apiVersion: 'data.fluid.io/v1alpha1', kind }))
    await create(scene, carrying('datasets', datasets), aDataset(), aRuntime(), aReference())
    await members[1].create(aGrant('lab'))
    await askedAgain(scene)
    assert.deepEqual(await phasesOf(scene, WEB), ['NotBound', 'Bound', 'NotBound'])
    await members[1].delete(ReferenceGrant.resource as Resource, 'data/for-lab')
    await world.settle()
    assert.deepEqual(await phasesOf(scene, WEB), BOUND)
    assert.deepEqual(
      (await Promise.all(members.map((member) => member.get(DATASETS, WEB)))).map(
        (dataset) => dataset?.metadata.annotations?.['sluice.dev/runtime'],
      ),
      [undefined, undefined],
    )
  })
})
