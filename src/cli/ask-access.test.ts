import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { story } from '../faultsim/story.ts'
import { askAccess } from './ask-access.ts'

const ann = { name: 'ann', uid: '1', groups: ['readers'], extra: { from: ['here'] } }
const create = { verb: 'create', group: '', resource: 'pods' }

describe('asking what a user may do', () => {
  story(
    'is answered by the server, for each namespace',
    async (world) => {
      const { member } = world
      const rbac = 'rbac.authorization.k8s.io'
      await member.create({
        apiVersion: `${rbac}/v1`,
        kind: 'Role',
        metadata: { namespace: 'default', name: 'pods' },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }],
      })
      await member.create({
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata: { namespace: 'default', name: 'pods' },
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'pods' },
        subjects: [{ apiGroup: rbac, kind: 'Group', name: 'readers' }],
      })
      assert.equal(await askAccess(member.client, { user: ann, ...create, namespace: 'default' }), true)
      assert.equal(await askAccess(member.client, { user: ann, ...create, namespace: 'kube-system' }), false)
      assert.equal(await askAccess(member.client, { user: { ...ann, groups: [] }, ...create, namespace: 'default' }), false)
    },
    { hub: false, members: 1 },
  )
})
