import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aWorld, type WorldCluster } from '../faultsim/world/index.ts'
import { DATA_SOURCE_CLAIMS, DATA_SOURCES } from '../kinds/volcano/resources.ts'
import type { Resource } from '../kube/resource.ts'

const REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
}

async function mayAlice(hub: WorldCluster, verb: string, { group, plural }: Resource, namespace?: string): Promise<boolean> {
  const review = await hub.create({
    apiVersion: 'authorization.k8s.io/v1',
    kind: REVIEWS.kind,
    metadata: {},
    spec: { user: 'alice', resourceAttributes: { verb, group, resource: plural, ...(namespace === undefined ? {} : { namespace }) } },
  })
  return (review.status as { allowed: boolean }).allowed
}

describe('who may do what with data dependencies', () => {
  it('an editor of a namespace writes claims there, and nothing elsewhere; a viewer reads them; sources are for administrators', async () => {
    const world = await aWorld().settle()
    const { hub } = world
    await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    const bind = (role: string, namespace: string) =>
      hub.create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { namespace, name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
      })
    await bind('edit', 'default')
    await bind('view', 'other')
    await world.settle()
    const asked: [string, Resource, string | undefined, boolean][] = [
      ['create', DATA_SOURCE_CLAIMS, 'default', true],
      ['patch', DATA_SOURCE_CLAIMS, 'default', true],
      ['delete', DATA_SOURCE_CLAIMS, 'default', true],
      ['list', DATA_SOURCE_CLAIMS, 'default', true],
      ['get', DATA_SOURCE_CLAIMS, 'other', true],
      ['create', DATA_SOURCE_CLAIMS, 'other', false],
      ['create', DATA_SOURCES, undefined, false],
      ['patch', DATA_SOURCES, undefined, false],
      ['list', DATA_SOURCES, undefined, false],
    ]
    for (const [verb, resource, namespace, expected] of asked)
      assert.equal(await mayAlice(hub, verb, resource, namespace), expected, `${verb} ${resource.plural} in ${namespace}`)
    await world.stop()
  })
})
