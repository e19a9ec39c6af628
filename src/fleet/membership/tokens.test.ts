import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import { hasRight } from '../../client/has-right.ts'
import type { World, WorldCluster } from '../../faultsim/world/index.ts'
import { CLUSTERS } from '../../kinds/karmada/resources.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { aCluster, fleetWorld } from '../testing.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** May write Clusters, and read one of the Secrets of the fleet. */
async function registrar(hub: WorldCluster): Promise<Client> {
  const grant = async (kind: 'Role' | 'ClusterRole', rules: object[], metadata: object): Promise<void> => {
    await hub.create({ apiVersion: `${RBAC}/v1`, kind, metadata, rules } as KubeObject)
    const roleRef = { apiGroup: RBAC, kind, name: 'registrar' }
    const subjects = [{ apiGroup: RBAC, kind: 'User', name: 'ann' }]
    await hub.create({ apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata, roleRef, subjects } as KubeObject)
  }
  const name = 'registrar'
  await grant('ClusterRole', [{ apiGroups: [CLUSTERS.group], resources: ['clusters'], verbs: ['*'] }], { name })
  const own = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['own'], verbs: ['get'] }]
  await grant('Role', own, { name, namespace: 'karmada-cluster' })
  return hub.clientAs({ name: 'ann', groups: ['system:authenticated'] })
}

const withSecret = (name: string, secret: string, more: object = {}): KubeObject =>
  aCluster(name, { apiEndpoint: 'https://attacker.example', secretRef: { namespace: 'karmada-cluster', name: secret }, ...more })

const IS_REFUSED = /only who may read Secret karmada-cluster\/member1 may decide where its token is sent/

function story(name: string, body: (world: World, ann: Client) => Promise<void>): void {
  it(name, async () => {
    const world = await fleetWorld({ cast: () => [], members: 1 })
    const ann = await registrar(world.hub)
    await world.hub.inside(() => body(world, ann))
    await world.stop()
  })
}

describe('the token of a member', () => {
  story('is not had by making a Cluster that names its Secret', async (_world, ann) => {
    await assert.rejects(ann.create(CLUSTERS, withSecret('mine', 'member1')), IS_REFUSED)
    const impersonatorSecretRef = { namespace: 'karmada-cluster', name: 'member1' }
    await assert.rejects(ann.create(CLUSTERS, withSecret('mine', 'own', { impersonatorSecretRef })), IS_REFUSED)
    assert.equal((await ann.create(CLUSTERS, withSecret('mine', 'own'))).metadata.name, 'mine')
  })

  story('is not had by writing to a Cluster, in any way there is', async ({ hub }, ann) => {
    const at = { name: 'member1' }
    const live = await hub.client.get(CLUSTERS, at)
    const spec = { ...(live.spec as object), apiEndpoint: 'https://attacker.example' }
    const { resourceVersion: _version, managedFields: _fields, ...metadata } = live.metadata
    const writes: [string, () => Promise<unknown>][] = [
      ['update', () => ann.update(CLUSTERS, { ...live, spec } as never)],
      ['merge', () => ann.patch(CLUSTERS, at, { type: 'merge', body: { spec: { apiEndpoint: 'https://attacker.example' } } })],
      [
        'json',
        () =>
          ann.patch(CLUSTERS, at, {
            type: 'json',
            body: [{ op: 'replace', path: '/spec/apiEndpoint', value: 'https://attacker.example' }],
          }),
      ],
      [
        'apply',
        () => ann.apply(CLUSTERS, { ...live, metadata: { name: metadata.name }, spec } as never, { fieldManager: 'ann', force: true }),
      ],
      ['proxy', () => ann.patch(CLUSTERS, at, { type: 'merge', body: { spec: { proxyURL: 'http://attacker.example' } } })],
      ['tls', () => ann.patch(CLUSTERS, at, { type: 'merge', body: { spec: { insecureSkipTLSVerification: true } } })],
    ]
    for (const [how, write] of writes) await assert.rejects(write(), IS_REFUSED, how)
    assert.deepEqual((await hub.client.get(CLUSTERS, at)).spec, live.spec)
  })

  story('is not had by deleting its Cluster and making it again', async (_world, ann) => {
    await ann.delete(CLUSTERS, { name: 'member1' })
    await assert.rejects(ann.create(CLUSTERS, withSecret('member1', 'member1')), IS_REFUSED)
  })

  story('is for those to send somewhere of whom the server says that they may read it', async ({ hub }) => {
    const right = { verb: 'get', group: '', resource: 'secrets', namespace: 'karmada-cluster' }
    const ann = { name: 'ann', groups: ['system:authenticated'] }
    assert.equal(await hasRight(hub.client, ann, { ...right, name: 'own' }), true)
    assert.equal(await hasRight(hub.client, ann, { ...right, name: 'member1' }), false)
    assert.equal(await hasRight(hub.client, { name: 'bob', groups: ['system:masters'] }, { ...right, name: 'member1' }), true)
    const denied = {
      ...hub.client,
      create: async (_: unknown, review: KubeObject) => ({ ...review, status: { allowed: true, denied: true } }),
    }
    assert.equal(await hasRight(denied as never, ann, { ...right, name: 'own' }), false)
  })

  story('matters for nothing else: the rest of a Cluster is for those who may write Clusters', async (_world, ann) => {
    const body = { metadata: { labels: { tier: 'gold' } }, spec: { region: 'north', taints: [{ key: 'a', effect: 'NoSchedule' }] } }
    const written = await ann.patch(CLUSTERS, { name: 'member1' }, { type: 'merge', body })
    assert.equal(written.metadata.labels?.tier, 'gold')
  })
})
