import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { UserInfo } from '../../kinds/kind.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { StatusError } from '../../kube/status.ts'
import { forbiddenFor, pathAttributes, resourceAttributes } from './attributes.ts'
import { createAuthorizer } from './authorizer.ts'
import { uncovered } from './coverage.ts'
import { checkEscalation, type RbacWrite } from './escalation.ts'
import { memoryReader } from './memory-reader.ts'
import { createRbac, type Rbac, type RbacResource } from './rbac.ts'
import { type PolicyRule, readRules, ruleAllows } from './rules.ts'

const user = (name: string, ...groups: string[]): UserInfo => ({ name, groups })
const role = (rules: unknown, more: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Role',
  metadata: {},
  rules,
  ...more,
})
const binding = (roleRef: unknown, ...subjects: unknown[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'RoleBinding',
  metadata: {},
  roleRef,
  subjects,
})
const clusterRole = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name })
const toUser = (name: string) => ({ kind: 'User', name })
const toGroup = (name: string) => ({ kind: 'Group', name })
const readPods = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }]

describe('a policy rule', () => {
  const rule = (fields: Partial<PolicyRule>) => readRules([fields])[0] as PolicyRule
  const ask = (verb: string, resource: string, more = {}) => resourceAttributes(user('u'), { verb, resource, ...more })
  const table: [string, Partial<PolicyRule>, ReturnType<typeof ask>, boolean][] = [
    ['by name', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, ask('get', 'pods'), true],
    ['another verb', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, ask('list', 'pods'), false],
    ['another group', { verbs: ['get'], apiGroups: ['apps'], resources: ['pods'] }, ask('get', 'pods'), false],
    ['every group', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, ask('get', 'x', { group: 'y', subresource: 'z' }), true],
    ['not a subresource', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, ask('get', 'pods', { subresource: 'log' }), false],
    ['a subresource', { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, ask('get', 'pods', { subresource: 'log' }), true],
    ['a subresource of all', { verbs: ['get'], apiGroups: [''], resources: ['*/log'] }, ask('get', 'pods', { subresource: 'log' }), true],
    ['a subresource only', { verbs: ['get'], apiGroups: [''], resources: ['*/log'] }, ask('get', 'pods'), false],
    ['one name', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }, ask('get', 'pods', { name: 'a' }), true],
    ['no name', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }, ask('get', 'pods'), false],
    ['a path', { verbs: ['get'], nonResourceURLs: ['/healthz'] }, pathAttributes(user('u'), 'get', '/healthz'), true],
    ['paths below', { verbs: ['get'], nonResourceURLs: ['/api/*'] }, pathAttributes(user('u'), 'get', '/api/v1'), true],
    ['not the path itself', { verbs: ['get'], nonResourceURLs: ['/api/*'] }, pathAttributes(user('u'), 'get', '/api'), false],
    ['resources grant no path', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, pathAttributes(user('u'), 'get', '/metrics'), false],
  ]
  for (const [name, fields, asked, expected] of table) it(name, () => assert.equal(ruleAllows(rule(fields), asked), expected))

  it('is read from anything without harm', () => {
    for (const rules of [undefined, null, 'x', {}, [null, 1, [], { verbs: 'get' }]])
      assert.ok(readRules(rules).every((r) => r.verbs.length === 0))
  })

  it('covers what it allows: a part that is covered is never missing', () => {
    const words = fc.uniqueArray(fc.constantFrom('*', 'a', 'b', 'a/x', '*/x'), { maxLength: 3 })
    const none = fc.constant<string[]>([])
    const forResources = fc.record({ verbs: words, apiGroups: words, resources: words, resourceNames: words, nonResourceURLs: none })
    const forPaths = fc.record({ verbs: words, apiGroups: none, resources: none, resourceNames: none, nonResourceURLs: words })
    const rules = fc.array(fc.oneof(forResources, forPaths), { maxLength: 3 })
    fc.assert(fc.property(rules, (some) => assert.deepEqual(uncovered(some, some).missing, [])))
  })
})

describe('RBAC', () => {
  it('finds bindings by user, group and service account, and roles of both scopes', () => {
    const rbac = createRbac()
    rbac.apply('clusterroles', '', 'reader', role(readPods))
    rbac.apply('roles', 'a', 'reader', role(readPods))
    rbac.apply('rolebindings', 'a', 'by-user', binding({ kind: 'Role', name: 'reader' }, toUser('u')))
    rbac.apply('rolebindings', 'a', 'by-account', binding(clusterRole('reader'), { kind: 'ServiceAccount', name: 's' }))
    rbac.apply('clusterrolebindings', '', 'by-group', binding(clusterRole('reader'), toGroup('g')))
    const may = (who: UserInfo, namespace: string) => rbac.authorize(resourceAttributes(who, { verb: 'get', resource: 'pods', namespace }))
    assert.deepEqual(may(user('u'), 'a'), {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "by-user/a" of Role "reader" to User "u"',
    })
    assert.equal(may(user('u'), 'b').allowed, false)
    assert.equal(may(user('u'), '').allowed, false)
    assert.equal(
      may(user('system:serviceaccount:a:s'), 'a').reason,
      'RBAC: allowed by RoleBinding "by-account/a" of ClusterRole "reader" to ServiceAccount "s/a"',
    )
    assert.equal(may(user('x', 'g'), '').reason, 'RBAC: allowed by ClusterRoleBinding "by-group" of ClusterRole "reader" to Group "g"')
    assert.equal(may(user('g'), '').allowed, false)
  })

  it('follows changes: a binding that moves, a role that goes', () => {
    const rbac = createRbac()
    const may = (name: string) => rbac.authorize(resourceAttributes(user(name), { verb: 'get', resource: 'pods', namespace: 'a' }))
    rbac.apply('rolebindings', 'a', 'b', binding({ kind: 'Role', name: 'r' }, toUser('u')))
    assert.deepEqual(may('u'), { allowed: false, reason: 'RBAC: role.rbac.authorization.k8s.io "r" not found' })
    rbac.apply('roles', 'a', 'r', role(readPods))
    assert.ok(may('u').allowed)
    rbac.apply('rolebindings', 'a', 'b', binding({ kind: 'Role', name: 'r' }, toUser('v')))
    assert.ok(!may('u').allowed && may('v').allowed)
    rbac.apply('roles', 'a', 'r', undefined)
    assert.ok(!may('v').allowed)
    rbac.apply('rolebindings', 'a', 'b', undefined)
    assert.deepEqual(may('v'), { allowed: false, reason: '' })
  })

  it('decides as a scan over everything would, after any history', () => {
    const name = fc.constantFrom('u', 'v', '__proto__', 'constructor')
    const change = fc.record({
      resource: fc.constantFrom<RbacResource>('roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'),
      namespace: fc.constantFrom('a', 'b'),
      name,
      ref: fc.record({ kind: fc.constantFrom('Role', 'ClusterRole'), name }),
      subject: fc.record({ kind: fc.constantFrom('User', 'Group'), name }),
      verb: fc.constantFrom('get', 'list'),
      isGone: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), name, name, (changes, who, group) => {
        const rbac = createRbac()
        const objects = new Map<string, { resource: RbacResource; namespace: string; object: KubeObject }>()
        for (const c of changes) {
          const namespace = c.resource.startsWith('cluster') ? '' : c.namespace
          const object = c.resource.endsWith('bindings')
            ? binding(c.ref, c.subject)
            : role([{ verbs: [c.verb], apiGroups: [''], resources: ['pods'] }])
          rbac.apply(c.resource, namespace, c.name, c.isGone ? undefined : object)
          if (c.isGone) objects.delete(`${c.resource}/${namespace}/${c.name}`)
          else objects.set(`${c.resource}/${namespace}/${c.name}`, { resource: c.resource, namespace, object })
        }
        const asker = user(who, group)
        const expected = [...objects.values()].some(({ resource, namespace, object }) => {
          if (!resource.endsWith('bindings') || (namespace !== '' && namespace !== 'a')) return false
          const [subject] = object.subjects as { kind: string; name: string }[]
          if (subject === undefined || (subject.kind === 'User' ? subject.name !== who : subject.name !== group)) return false
          const ref = object.roleRef as { kind: string; name: string }
          const found = objects.get(ref.kind === 'ClusterRole' ? `clusterroles//${ref.name}` : `roles/${namespace}/${ref.name}`)
          return (ref.kind === 'ClusterRole' || namespace !== '') && JSON.stringify(found?.object.rules ?? '').includes('get')
        })
        const ask = resourceAttributes(asker, { verb: 'get', resource: 'pods', namespace: 'a' })
        assert.equal(rbac.authorize(ask).allowed, expected)
      }),
    )
  })
})

describe('a refusal', () => {
  const u = user('u<script>')
  const table: [Parameters<typeof forbiddenFor>[0], string][] = [
    [
      resourceAttributes(u, { verb: 'list', resource: 'pods', namespace: 'n' }),
      'pods is forbidden: User "u&lt;script&gt;" cannot list resource "pods" in API group "" in the namespace "n"',
    ],
    [
      resourceAttributes(u, { verb: 'get', group: 'apps', resource: 'deployments', subresource: 'scale', name: 'd' }),
      'deployments.apps "d" is forbidden: User "u&lt;script&gt;" cannot get resource "deployments/scale" in API group "apps" at the cluster scope',
    ],
    [pathAttributes(u, 'get', '/metrics'), 'forbidden: User "u&lt;script&gt;" cannot get path "/metrics"'],
  ]
  for (const [ask, message] of table) it(message, () => assert.equal(forbiddenFor(ask, '').message, message))
  it('ends with what the authorizer found', () => {
    assert.match(forbiddenFor(pathAttributes(u, 'get', '/'), 'RBAC: because').message, /"\/": RBAC: because$/)
  })
})

describe('writing RBAC objects', () => {
  function cluster(): {
    rbac: Rbac
    attempt: (write: Partial<RbacWrite> & Pick<RbacWrite, 'resource' | 'object'>) => StatusError | undefined
  } {
    const rbac = createRbac()
    rbac.apply('clusterroles', '', 'reader', role(readPods))
    rbac.apply('clusterrolebindings', '', 'reader', binding(clusterRole('reader'), toUser('u')))
    rbac.apply('clusterroles', '', 'everything', role([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]))
    const authorizer = createAuthorizer(rbac, memoryReader().reader)
    const attempt = (write: Partial<RbacWrite> & Pick<RbacWrite, 'resource' | 'object'>) => {
      try {
        checkEscalation({ user: user('u', 'g'), namespace: '', requestName: '', ...write }, { rbac, authorizer })
        return undefined
      } catch (error) {
        assert.ok(error instanceof StatusError)
        return error
      }
    }
    return { rbac, attempt }
  }
  const named = (object: KubeObject): KubeObject => ({ ...object, metadata: { name: 'x' } })

  it('takes the rights that are given', () => {
    const { attempt } = cluster()
    assert.equal(attempt({ resource: 'roles', namespace: 'n', object: named(role(readPods)) }), undefined)
    const rules = [
      { verbs: ['get', 'list', 'delete'], apiGroups: ['', 'apps'], resources: ['pods'] },
      { verbs: ['get'], nonResourceURLs: ['/metrics'] },
    ]
    const refusal = attempt({ resource: 'clusterroles', object: named(role(rules)) })
    assert.equal(refusal?.code, 403)
    assert.equal(
      refusal?.message,
      'clusterroles.rbac.authorization.k8s.io "x" is forbidden: user "u" (groups=["g"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n' +
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list" "delete"]}\n' +
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    )
  })

  it('is refused at once where the rights are millions of combinations', () => {
    const { attempt } = cluster()
    const many = (prefix: string): string[] => Array.from({ length: 60 }, (_, i) => `${prefix}${i}`)
    const product = { verbs: many('v'), apiGroups: many('g'), resources: many('r'), resourceNames: many('n') }
    const refusal = attempt({ resource: 'roles', namespace: 'n', object: named(role([product])) })
    assert.equal(refusal?.code, 403)
    assert.match(refusal?.message ?? '', /Verbs:\["v0" .*\nand 215900 more$/s)
  })

  it('needs the rights of the role that is bound, or the verb bind', () => {
    const { rbac, attempt } = cluster()
    assert.equal(attempt({ resource: 'clusterrolebindings', object: named(binding(clusterRole('reader'), toUser('v'))) }), undefined)
    const write = { resource: 'rolebindings', namespace: 'n', object: named(binding(clusterRole('everything'), toUser('u'))) }
    assert.match(
      attempt(write)?.message ?? '',
      /^rolebindings\.rbac\.authorization\.k8s\.io "x" is forbidden: user "u" .*APIGroups:\["\*"\]/s,
    )
    const missing = attempt({ ...write, object: named(binding(clusterRole('nosuch'), toUser('u'))) })
    assert.equal(missing?.message, 'rolebindings.rbac.authorization.k8s.io "nosuch" not found')
    const odd = attempt({ ...write, object: named(binding({ kind: 'Foo', name: 'x' }, toUser('u'))) })
    assert.equal(odd?.message, 'unsupported role reference kind: "Foo"')
    const bind = { verbs: ['bind'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: ['everything'] }
    rbac.apply('roles', 'n', 'binder', role([bind]))
    rbac.apply('rolebindings', 'n', 'binder', binding({ kind: 'Role', name: 'binder' }, toUser('u')))
    assert.equal(attempt(write), undefined)
  })

  it('asks for everything before a role may gather others', () => {
    const { attempt } = cluster()
    const object = named(role(readPods, { aggregationRule: { clusterRoleSelectors: [{}] } }))
    assert.match(
      attempt({ resource: 'clusterroles', object })?.message ?? '',
      /must have cluster-admin privileges to use the aggregationRule$/,
    )
  })

  it('lets the garbage collector touch owners and finalizers, and masters everything', () => {
    const { attempt } = cluster()
    const old = named(role([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]))
    const object = { ...old, metadata: { ...old.metadata, finalizers: [], ownerReferences: [] } }
    assert.equal(attempt({ resource: 'clusterroles', requestName: 'x', object, old }), undefined)
    assert.equal(attempt({ resource: 'clusterroles', object: old })?.code, 403)
    assert.equal(attempt({ resource: 'clusterroles', object: old, user: user('m', 'system:masters') }), undefined)
  })
})
