import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../faultsim/story.ts'
import type { WorldCluster } from '../faultsim/world/index.ts'
import { fluidKinds } from '../kinds/fluid/index.ts'
import {
  ADVANCED_STATEFUL_SETS,
  ALLUXIO_RUNTIMES,
  CACHE_RUNTIME_CLASSES,
  CACHE_RUNTIMES,
  DATA_LOADS,
  DATASETS,
  THIN_RUNTIME_PROFILES,
} from '../kinds/fluid/resources.ts'
import type { Resource } from '../kube/resource.ts'
import { defineModule } from '../runtime/module/module.ts'
import { otherModules } from './testing.ts'
import { USER_ROLES } from './user-roles.ts'

const dataForTests = defineModule<Record<string, never>, object>({
  name: 'data-for-tests',
  roles: ['member'],
  upstreamLeases: [],
  kinds: { member: fluidKinds },
  userRoles: { member: USER_ROLES },
  defaults: {},
  services: () => ({}),
  controllers: () => [],
})
const modules = [...otherModules, dataForTests]
const RBAC = 'rbac.authorization.k8s.io'

interface Asked {
  verb: string
  of: Resource
  namespace?: string
  subresource?: string
}

async function mayAlice(cluster: WorldCluster, { verb, of: { group, plural }, ...where }: Asked): Promise<boolean> {
  const review = await cluster.create({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user: 'alice', resourceAttributes: { verb, group, resource: plural, ...where } },
  })
  return (review.status as { allowed: boolean }).allowed
}

const bound = (kind: 'RoleBinding' | 'ClusterRoleBinding', role: string, namespace?: string) => ({
  apiVersion: `${RBAC}/v1`,
  kind,
  metadata: { name: `alice-${role}`, ...(namespace === undefined ? {} : { namespace }) },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: 'alice' }],
})

describe('who may do what with datasets', () => {
  story(
    'an editor of a namespace writes there, a viewer reads, and classes are for administrators',
    async (world) => {
      const { member } = world
      await member.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
      await member.create(bound('RoleBinding', 'edit', 'default'))
      await member.create(bound('RoleBinding', 'view', 'other'))
      await world.settle()
      const check = async (asked: Asked, expected: boolean): Promise<void> =>
        assert.equal(await mayAlice(member, asked), expected, `${asked.verb} ${asked.of.plural} in ${asked.namespace ?? 'the cluster'}`)
      for (const of of [DATASETS, CACHE_RUNTIMES, ALLUXIO_RUNTIMES, DATA_LOADS]) {
        for (const verb of ['create', 'patch', 'delete', 'list', 'watch']) await check({ verb, of, namespace: 'default' }, true)
        await check({ verb: 'get', of, namespace: 'other' }, true)
        await check({ verb: 'create', of, namespace: 'other' }, false)
        await check({ verb: 'patch', of, namespace: 'default', subresource: 'status' }, false)
      }
      await check({ verb: 'patch', of: CACHE_RUNTIMES, namespace: 'default', subresource: 'scale' }, true)
      await check({ verb: 'patch', of: CACHE_RUNTIMES, namespace: 'other', subresource: 'scale' }, false)
      await check({ verb: 'list', of: ADVANCED_STATEFUL_SETS, namespace: 'default' }, true)
      await check({ verb: 'create', of: ADVANCED_STATEFUL_SETS, namespace: 'default' }, false)
      for (const of of [CACHE_RUNTIME_CLASSES, THIN_RUNTIME_PROFILES]) await check({ verb: 'list', of }, false)
      await member.create(bound('ClusterRoleBinding', 'edit'))
      await world.settle()
      for (const of of [CACHE_RUNTIME_CLASSES, THIN_RUNTIME_PROFILES]) {
        await check({ verb: 'list', of }, true)
        await check({ verb: 'create', of }, false)
      }
    },
    { hub: false, members: 1, modules },
  )
})
