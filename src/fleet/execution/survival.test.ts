import assert from 'node:assert/strict'
import { type Survival, survives } from '../../faultsim/survives.ts'
import type { WorldCluster } from '../../faultsim/world/index.ts'
import { WORKS } from '../../kinds/karmada/resources.ts'
import { CONFIG_MAPS } from '../../kinds/kubernetes/resources.ts'
import { nativeInterpreter } from '../interpreter/testing.ts'
import { hubCast, joined } from '../testing.ts'
import { execution } from './controller.ts'
import { executionControllers } from './index.ts'
import { aConfigMap, aDeployment, aWork, ES } from './testing.ts'

const setManifests =
  (name: string, manifests: readonly unknown[]) =>
  (hub: WorldCluster): Promise<unknown> =>
    hub.patch(WORKS, `${ES}/${name}`, { spec: { workload: { manifests } } })

const survival: Survival = {
  role: 'hub',
  members: 1,
  nodes: 1,
  controllers: hubCast(executionControllers),
  before: [joined(1)],
  steps: [
    (hub) => hub.create(aWork('map', [aConfigMap('map'), aConfigMap('second')])),
    setManifests('map', [aConfigMap('map', { b: '2' })]),
    (hub) => hub.create(aWork('web', [aDeployment('web', 1)])),
    (hub) => hub.delete(WORKS, `${ES}/map`),
    (hub) => hub.create(aWork('map', [aConfigMap('map', { c: '3' })], { preserveResourcesOnDeletion: true })),
    (hub) => hub.create(aWork('held', [aConfigMap('held')], { suspendDispatching: true })),
    (hub) => hub.patch(WORKS, `${ES}/held`, { spec: { suspendDispatching: false } }),
    (hub) => hub.delete(WORKS, `${ES}/map`),
  ],
  async atRest(hub) {
    const names = (await hub.list(WORKS)).map(({ metadata }) => metadata.name).sort()
    assert.deepEqual(names, ['held', 'web'])
  },
}

survives(execution({ interpreter: nativeInterpreter() }), survival)

survives(execution({ interpreter: nativeInterpreter() }), {
  ...survival,
  nodes: 0,
  steps: [
    (hub) => hub.create(aWork('map', [aConfigMap('map')])),
    (hub) => hub.delete(WORKS, `${ES}/map`),
    (hub) => hub.create(aWork('map', [aConfigMap('map', { b: '2' })])),
    setManifests('map', [aConfigMap('map', { c: '3' })]),
  ],
  async atRest(hub) {
    const maps = await hub.list(WORKS)
    assert.equal(maps.length, 1)
    assert.equal((await hub.get(CONFIG_MAPS, 'default/map'))?.data, undefined, 'the hub itself has no such object')
  },
})
