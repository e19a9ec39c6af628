import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ApiError } from '../../client/errors.ts'
import { aConfigMap, aNamespace } from '../../faultsim/builders/index.ts'
import { aWorld, type World } from '../../faultsim/world/index.ts'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'
import type { Resource } from '../../kube/resource.ts'
import { CONFIG_MAPS, NAMESPACES } from '../kubernetes/resources.ts'
import * as resources from './resources.ts'
import {
  DELETION_PROTECTED_LABEL,
  PROPAGATION_POLICY_FINALIZER,
  PROPAGATION_POLICY_ID,
  RESOURCE_BINDING_ID,
  WORK_ID,
} from './well-known.ts'

const { CLUSTERS, PROPAGATION_POLICIES, RESOURCE_BINDINGS, WORKS } = resources

const object = (resource: Resource, metadata: ObjectMeta, content: Record<string, unknown>): KubeObject => ({
  apiVersion: `${resource.group}/${resource.version}`,
  kind: resource.kind,
  metadata: { ...(resource.namespaced ? { namespace: 'default' } : {}), ...metadata },
  ...content,
})
const selector = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody' }
const aPolicy = (name: string, spec: Record<string, unknown> = {}): KubeObject =>
  object(PROPAGATION_POLICIES, { name }, { spec: { resourceSelectors: [selector], ...spec } })

const refusal = (code: number, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ApiError)
  assert.equal(error.code, code)
  assert.match(error.message, message)
  return true
}

describe('a hub', () => {
  let world: World
  before(async () => {
    world = await aWorld().settle()
    // This is about the server alone: no controller reacts to what is written.
    await world.hub.stopControllers()
  })
  after(() => world.stop())

  it('serves every kind of the fleet under its name', async () => {
    for (const resource of Object.values(resources)) assert.deepEqual(await world.hub.list(resource), [], resource.plural)
  })

  it('keeps the id of a policy through every way of writing it', async () => {
    const { client } = world.hub
    const made = await world.hub.create(aPolicy('written'))
    const id = made.metadata.labels?.[PROPAGATION_POLICY_ID]
    assert.match(id ?? '', /^[0-9a-f-]{36}$/)
    assert.deepEqual(made.metadata.finalizers, [PROPAGATION_POLICY_FINALIZER])
    const applied = await world.hub.inside(() =>
      client.apply(PROPAGATION_POLICIES, aPolicy('written', { priority: 2 }), { fieldManager: 'me', force: true }),
    )
    assert.equal(applied.metadata.labels?.[PROPAGATION_POLICY_ID], id)
    const without = {
      ...aPolicy('written'),
      metadata: { ...aPolicy('written').metadata, resourceVersion: applied.metadata.resourceVersion },
    }
    await assert.rejects(
      world.hub.inside(() => client.update(PROPAGATION_POLICIES, without)),
      refusal(422, /label propagationpolicy\.karmada\.io\/permanent-id is immutable, it can only be set by the system during creation/),
    )
    await assert.rejects(
      world.hub.patch(PROPAGATION_POLICIES, 'default/written', { spec: { schedulerName: 'mine' } }),
      refusal(422, /the schedulerName should not be updated/),
    )
  })

  it('keeps the id of a policy that was first applied', async () => {
    const apply = (priority: number): Promise<KubeObject> =>
      world.hub.inside(() => world.hub.client.apply(PROPAGATION_POLICIES, aPolicy('applied', { priority }), { fieldManager: 'me' }))
    const id = (await apply(1)).metadata.labels?.[PROPAGATION_POLICY_ID]
    assert.match(id ?? '', /^[0-9a-f-]{36}$/)
    assert.equal((await apply(2)).metadata.labels?.[PROPAGATION_POLICY_ID], id)
  })

  it('takes the old names of purge modes and stores those of today', async () => {
    const made = await world.hub.create(aPolicy('purging', { failover: { cluster: { purgeMode: 'Immediately' } } }))
    assert.deepEqual((made.spec as { failover?: unknown }).failover, { cluster: { purgeMode: 'Directly' } })
    await assert.rejects(
      world.hub.create(aPolicy('guessing', { failover: { cluster: { purgeMode: 'Never' } } })),
      refusal(422, /spec\.failover\.cluster\.purgeMode: Unsupported value: "Never"/),
    )
  })

  it('gives ids to bindings and Works, no two the same', async () => {
    const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'nobody' }
    const binding = await world.hub.create(object(RESOURCE_BINDINGS, { name: 'b' }, { spec: { resource } }))
    const work = await world.hub.create(object(WORKS, { name: 'w' }, { spec: {} }))
    const ids = [binding.metadata.labels?.[RESOURCE_BINDING_ID], work.metadata.labels?.[WORK_ID]]
    for (const id of ids) assert.match(id ?? '', /^[0-9a-f-]{36}$/)
    assert.notEqual(ids[0], ids[1])
  })

  it('deletes nothing that is protected, whatever its kind', async () => {
    const labels = { [DELETION_PROTECTED_LABEL]: 'Always' }
    const guarded: [Resource, string, KubeObject][] = [
      [CONFIG_MAPS, 'default/guarded', aConfigMap('default/guarded', { metadata: { labels } })],
      [NAMESPACES, 'guarded', aNamespace('guarded', { metadata: { labels } })],
      [WORKS, 'default/guarded', object(WORKS, { name: 'guarded', labels }, { spec: {} })],
    ]
    for (const [resource, where, one] of guarded) {
      await world.hub.create(one)
      await assert.rejects(
        world.hub.delete(resource, where),
        refusal(403, /This resource is protected, please make sure to remove the label: resourcetemplate\.karmada\.io\/deletion-protected/),
      )
      assert.notEqual(await world.hub.get(resource, where), undefined)
      await world.hub.patch(resource, where, { metadata: { labels: { [DELETION_PROTECTED_LABEL]: 'Sometimes' } } })
      await world.hub.delete(resource, where)
    }
    await world.settle()
    assert.equal(await world.hub.get(CONFIG_MAPS, 'default/guarded'), undefined)
  })

  it('counts the generations of a cluster, keeps its status apart, and shows it as Karmada does', async () => {
    const spec = { syncMode: 'Pull', zone: 'a', taints: [{ key: 'k', effect: 'NoExecute' }] }
    const made = await world.hub.create(object(CLUSTERS, { name: 'far' }, { spec, status: { kubernetesVersion: 'mine' } }))
    assert.equal(made.status, undefined)
    assert.equal(made.metadata.generation, 1)
    assert.deepEqual((made.spec as { zones?: string[] }).zones, ['a'])
    const row = async (): Promise<unknown[]> => {
      const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
      const path = '/apis/cluster.karmada.io/v1alpha1/clusters/far'
      return world.hub.inside(async () => {
        const { body } = await world.hub.client.raw({ method: 'GET', path, headers })
        const parts: Uint8Array[] = []
        for await (const part of body) parts.push(part)
        const table = JSON.parse(Buffer.concat(parts).toString()) as { rows: { cells: unknown[] }[] }
        return table.rows[0]?.cells ?? []
      })
    }
    assert.deepEqual(
      (await row()).filter((_, i) => i !== 4),
      ['far', '', 'Pull', 'Unknown', 'a', '<none>', '<none>', '', '<none>'],
    )
    const lastTransitionTime = '2025-01-01T00:00:00Z'
    const conditions = [{ type: 'Ready', status: 'False', reason: 'Asleep', message: '', lastTransitionTime }]
    const reported = await world.hub.patch(
      CLUSTERS,
      'far',
      { spec: { region: 'x' }, status: { kubernetesVersion: 'v1', conditions } },
      'status',
    )
    assert.equal(reported.metadata.generation, 1)
    assert.deepEqual((await row()).slice(0, 4), ['far', 'v1', 'Pull', 'False'])
    const moved = await world.hub.patch(CLUSTERS, 'far', { spec: { region: 'east' }, status: null })
    assert.equal(moved.metadata.generation, 2)
    assert.deepEqual((moved.status as { kubernetesVersion?: string }).kubernetesVersion, 'v1')
    await world.hub.delete(CLUSTERS, 'far')
  })
})

describe('a member', () => {
  it('knows nothing of the fleet', async () => {
    const world = await aWorld({ members: 1, hub: false }).settle()
    const [member] = world.members
    assert.ok(member !== undefined)
    await assert.rejects(member.list(WORKS), refusal(404, /page not found/))
    await world.stop()
  })
})
