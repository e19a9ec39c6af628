/** Assertions for stories about a world. */
import assert from 'node:assert/strict'
import type { KubeObject } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import type { World, WorldCluster } from '../world/index.ts'

export async function expectThere(cluster: WorldCluster, resource: Resource, where: string): Promise<KubeObject> {
  const found = await cluster.get(resource, where)
  assert.ok(found !== undefined, `${resource.kind} ${where} is not there`)
  return found
}

export async function expectGone(cluster: WorldCluster, resource: Resource, where: string): Promise<void> {
  const found = await cluster.get(resource, where)
  assert.equal(found, undefined, `${resource.kind} ${where} is still there`)
}

export interface Condition {
  type: string
  status: string
  reason: string
  message: string
  lastTransitionTime?: string
}

export function conditionsOf(object: KubeObject): Map<string, Condition> {
  const { conditions = [] } = (object.status ?? {}) as { conditions?: Condition[] }
  return new Map(conditions.map((condition) => [condition.type, condition]))
}

/** No complaints, and a settled world does not change: neither after a resync of everything nor after a restart. */
export async function expectQuiet(world: World): Promise<void> {
  const check = async (when: string): Promise<void> => {
    await world.settle()
    for (const cluster of world.clusters) {
      assert.deepEqual(cluster.takeControllerWrites(), [], `${cluster.name}: controllers write ${when}`)
      assert.deepEqual(cluster.complaints, [], `${cluster.name}: complaints ${when}`)
    }
    assert.deepEqual(
      world.clusters.map((cluster) => cluster.store.revision),
      revisions,
      `something is stored ${when}`,
    )
  }
  for (const cluster of world.clusters) cluster.takeControllerWrites()
  const revisions = world.clusters.map((cluster) => cluster.store.revision)
  for (const cluster of world.clusters) await cluster.inside(() => cluster.resync())
  await check('when everything is looked at again')
  await world.restartControllers()
  await check('after a restart')
}
