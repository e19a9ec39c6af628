import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { story } from '../../../faultsim/story.ts'
import { survives } from '../../../faultsim/survives.ts'
import type { WorldCluster } from '../../../faultsim/world/index.ts'
import { type Dataset, fluidKinds } from '../../../kinds/fluid/index.ts'
import { DATASETS } from '../../../kinds/fluid/resources.ts'
import { CONFIG_MAPS, PODS } from '../../../kinds/kubernetes/resources.ts'
import type { ConfigMap, Pod } from '../../../kinds/kubernetes/types.ts'
import { defineModule } from '../../../runtime/module/module.ts'
import { aClaim, aDataset, aVolume } from '../../locality/testing.ts'
import { otherModules } from '../../testing.ts'
import { sidecarScripts } from './controller.ts'
import { plan } from './plan.ts'
import { APP_SCRIPT_TEXT, MOUNT_SCRIPT_TEXT } from './texts.ts'

const scriptsForTests = defineModule({
  name: 'scripts-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  defaults: {},
  services: () => ({}),
  controllers: () => [sidecarScripts],
})
const modules = [...otherModules, scriptsForTests]

async function bind(cluster: WorldCluster, name: string): Promise<void> {
  const [claim, volume] = [aClaim(name), aVolume(name, { mount_type: 'JuiceFS' })]
  const ours = { annotations: { CreatedBy: 'fluid' }, labels: { 'fluid.io/dataset-id': `default-${name}` } }
  await cluster.create(aDataset(`default/${name}`))
  await cluster.create({ ...volume, metadata: { ...volume.metadata, ...ours } })
  await cluster.create({ ...claim, metadata: { ...claim.metadata, ...ours } })
}
const injected = (name: string, dataset: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'default',
    name,
    labels: {
      'done.sidecar.fluid.io/inject': 'true',
      'dataset-name.sidecar.fluid.io/fluid-fuse-0': dataset,
      'dataset-namespace.sidecar.fluid.io/fluid-fuse-0': 'default',
    },
  },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
const mapIn = async (cluster: WorldCluster, name: string): Promise<ConfigMap | undefined> =>
  (await cluster.get(CONFIG_MAPS, `default/${name}`)) as ConfigMap | undefined
const ownersIn = async (cluster: WorldCluster, name: string): Promise<string> =>
  ((await mapIn(cluster, name))?.metadata.ownerReferences ?? [])
    .map((owner) => `${owner.kind} ${owner.name}`)
    .sort()
    .join()

describe('the scripts of sidecars', () => {
  story(
    "are in the claim's namespace, belong to the claim's dataset, and are there from the first pod with a sidecar",
    async (world) => {
      const { member } = world
      await bind(member, 'demo')
      await bind(member, 'second')
      await world.settle()
      assert.equal(await mapIn(member, 'check-fluid-mount-ready'), undefined, 'nobody needs it')
      await member.create(injected('p', 'demo'))
      await world.settle()
      assert.deepEqual((await mapIn(member, 'demo-juicefs-check-mount'))?.data, { 'check-mount.sh': MOUNT_SCRIPT_TEXT })
      assert.deepEqual((await mapIn(member, 'check-fluid-mount-ready'))?.data, { 'check-fluid-mount-ready.sh': APP_SCRIPT_TEXT })
      assert.equal(await ownersIn(member, 'demo-juicefs-check-mount'), 'Dataset demo')
      await member.create(injected('q', 'second'))
      await member.delete(PODS, 'default/p')
      await world.settle()
      assert.equal(await ownersIn(member, 'check-fluid-mount-ready'), 'Dataset demo,Dataset second')
      await member.patch(CONFIG_MAPS, 'default/demo-juicefs-check-mount', { data: { 'check-mount.sh': 'exit 0', more: 'x' } })
      await member.delete(CONFIG_MAPS, 'default/check-fluid-mount-ready')
      await world.settle()
      assert.deepEqual((await mapIn(member, 'demo-juicefs-check-mount'))?.data, { 'check-mount.sh': MOUNT_SCRIPT_TEXT }, 'kept as it is')
      assert.equal(await ownersIn(member, 'check-fluid-mount-ready'), 'Dataset demo,Dataset second', 'made again for both')
      await member.delete(DATASETS, 'default/demo')
      await world.settle()
      assert.equal(await mapIn(member, 'demo-juicefs-check-mount'), undefined)
      assert.equal(await ownersIn(member, 'check-fluid-mount-ready'), 'Dataset second')
    },
    { hub: false, members: 1, modules },
  )

  it('are never written over those of a user, who is told', () => {
    const user: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'check-fluid-mount-ready' },
      data: {},
    }
    const dataset: Dataset = { ...aDataset('default/demo') }
    const { actions, events } = plan({ dataset, isUsed: true, name: 'demo-juicefs-check-mount', mount: undefined, app: user })
    assert.deepEqual([actions.map((action) => action.do), events?.map(({ reason }) => reason)], [['create'], ['ConfigMapNotOurs']])
    assert.match(events?.[0]?.message ?? '', /check-fluid-mount-ready exists that was not made for sidecars.*: delete it/)
  })

  survives(sidecarScripts, {
    modules,
    steps: [
      (cluster) => bind(cluster, 'demo'),
      (cluster) => cluster.create(injected('p', 'demo')),
      async (cluster) => {
        await bind(cluster, 'second')
        await cluster.create(injected('q', 'second'))
      },
      (cluster) => cluster.delete(CONFIG_MAPS, 'default/check-fluid-mount-ready'),
      (cluster) => cluster.delete(DATASETS, 'default/demo'),
    ],
    atRest: async (cluster) => {
      assert.equal(await ownersIn(cluster, 'check-fluid-mount-ready'), 'Dataset second')
    },
  })
})
