import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UserInfo } from '../../kinds/kind.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { StatusError } from '../../kube/status.ts'
import { type Attributes, pathAttributes, resourceAttributes } from './attributes.ts'
import { createAuthorizer } from './authorizer.ts'
import { impersonate } from './impersonate.ts'
import { memoryReader } from './memory-reader.ts'
import { createRbac } from './rbac.ts'

const requestor: UserInfo = { name: 'u', groups: ['system:authenticated'] }
const listPods = (user = requestor): Attributes => resourceAttributes(user, { verb: 'list', resource: 'pods', namespace: 'n' })

/** An authorizer under which the requestor has exactly these rules. */
function having(...rules: unknown[]) {
  const rbac = createRbac()
  const object = (more: Record<string, unknown>): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata: {}, ...more })
  rbac.apply('clusterroles', '', 'r', object({ rules }))
  const subjects = [{ kind: 'Group', name: 'system:authenticated' }]
  rbac.apply('clusterrolebindings', '', 'r', object({ roleRef: { kind: 'ClusterRole', name: 'r' }, subjects }))
  return createAuthorizer(rbac, memoryReader().reader)
}

const legacy = (...resources: string[]) => ({ verbs: ['impersonate'], apiGroups: ['', 'authentication.k8s.io'], resources })
const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return error.message
    throw error
  }
  return assert.fail('was not refused')
}

describe('impersonation', () => {
  it('by the old verb covers each thing that is asked for', () => {
    const headers = { 'impersonate-user': 'v', 'impersonate-group': ['g'], 'impersonate-uid': '1', 'impersonate-extra-a%2fb': ['x', 'y'] }
    const may = having(legacy('users', 'groups', 'uids', 'userextras/a/b'))
    assert.deepEqual(impersonate(headers, listPods(), may), {
      name: 'v',
      uid: '1',
      groups: ['g', 'system:authenticated'],
      extra: { 'a/b': ['x', 'y'] },
    })
    for (const missing of ['users', 'groups', 'uids', 'userextras/a/b']) {
      const rest = ['users', 'groups', 'uids', 'userextras/a/b'].filter((r) => r !== missing)
      assert.throws(() => impersonate(headers, listPods(), having(legacy(...rest))), StatusError, missing)
    }
  })

  it('by mode allows a request without allowing the person', () => {
    const rules = [
      { verbs: ['impersonate:user-info'], apiGroups: ['authentication.k8s.io'], resources: ['users'], resourceNames: ['v'] },
      { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['pods'] },
    ]
    const may = having(...rules)
    assert.equal(impersonate({ 'impersonate-user': 'v' }, listPods(), may).name, 'v')
    assert.equal(
      messageOf(() => impersonate({ 'impersonate-user': 'w' }, listPods(), may)),
      'users.authentication.k8s.io "w" is forbidden: User "u" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
    )
    assert.equal(
      messageOf(() => impersonate({ 'impersonate-user': 'v' }, pathAttributes(requestor, 'get', '/metrics'), may)),
      'forbidden: User "u" cannot impersonate-on:user-info:get path "/metrics"',
    )
    assert.match(
      messageOf(() => impersonate({ 'impersonate-user': 'v', 'impersonate-group': ['system:masters'] }, listPods(), may)),
      /impersonating the system:masters group is not allowed$/,
    )
  })

  it('of a node by a pod on it gives the groups of a node', () => {
    const agent: UserInfo = {
      name: 'system:serviceaccount:n:agent',
      groups: ['system:authenticated'],
      extra: { 'authentication.kubernetes.io/node-name': ['w'] },
    }
    const may = having(
      { verbs: ['impersonate:associated-node'], apiGroups: ['authentication.k8s.io'], resources: ['nodes'] },
      { verbs: ['impersonate-on:associated-node:list'], apiGroups: [''], resources: ['pods'] },
    )
    const seen = impersonate({ 'impersonate-user': 'system:node:w' }, listPods(agent), may)
    assert.deepEqual(seen, { name: 'system:node:w', groups: ['system:nodes', 'system:authenticated'] })
    assert.match(
      messageOf(() => impersonate({ 'impersonate-user': 'system:node:other' }, listPods(agent), may)),
      /cannot impersonate-on:arbitrary-node:list resource "pods"/,
    )
  })

  it('of a service account implies its groups, unless groups are given', () => {
    const may = having(legacy('serviceaccounts', 'groups'))
    const headers = { 'impersonate-user': 'system:serviceaccount:n:s' }
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated']
    assert.deepEqual(impersonate(headers, listPods(), may).groups, groups)
    assert.deepEqual(impersonate({ ...headers, 'impersonate-group': ['g'] }, listPods(), may).groups, ['g', 'system:authenticated'])
  })

  it('of nobody stays nobody, and of no name is a bad request', () => {
    const may = having(legacy('users', 'groups'))
    assert.deepEqual(impersonate({ 'impersonate-user': 'system:anonymous' }, listPods(), may).groups, ['system:unauthenticated'])
    assert.equal(
      messageOf(() => impersonate({ 'impersonate-extra-b': 'x', 'impersonate-uid': '1' }, listPods(), may)),
      'requested &user.DefaultInfo{Name:"", UID:"1", Groups:[]string(nil), Extra:map[string][]string{"b":[]string{"x"}}} without impersonating a user name',
    )
    assert.equal(impersonate({}, listPods(), may), requestor)
  })

  it('keeps hostile keys as plain keys', () => {
    const may = having({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] })
    const seen = impersonate({ 'impersonate-user': 'v', 'impersonate-extra-__proto__': 'x', 'impersonate-extra-%': 'y' }, listPods(), may)
    assert.deepEqual(Object.keys(seen.extra ?? {}).sort(), ['%', '__proto__'])
    assert.equal(({} as Record<string, unknown>).x, undefined)
  })
})
