import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UserInfo } from '../../kinds/kind.ts'
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts'
import { StatusError } from '../../kube/status.ts'
import { resourceAttributes } from './attributes.ts'
import { createAuthenticator } from './authenticate.ts'
import { createAuthorizer } from './authorizer.ts'
import { memoryReader } from './memory-reader.ts'
import { createRbac } from './rbac.ts'
import { createReviews } from './reviews.ts'

const object = (kind: string, metadata: ObjectMeta, more: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata,
  ...more,
})

function aCluster() {
  const rbac = createRbac()
  const memory = memoryReader()
  const authorizer = createAuthorizer(rbac, memory.reader)
  const authenticator = createAuthenticator({ staticTokens: [{ token: 't', user: { name: 'u', uid: '7', groups: ['g'] } }] })
  const clock = { now: () => Date.UTC(2026, 0, 1), after: () => () => undefined }
  const reviews = createReviews({ authorizer, authenticator, read: memory.reader, clock })
  const ask = (place: string, body: Partial<KubeObject>, user: UserInfo = { name: 'u', groups: [] }, namespace = ''): KubeObject => {
    const review = reviews.get(place)
    assert.ok(review !== undefined)
    return review({ apiVersion: 'x/v1', kind: 'Review', metadata: {}, ...body }, { user, namespace, name: '', warn: () => undefined })
  }
  const refusal = (...args: Parameters<typeof ask>): StatusError => {
    try {
      ask(...args)
    } catch (error) {
      if (error instanceof StatusError) return error
      throw error
    }
    return assert.fail('was not refused')
  }
  return { rbac, authorizer, reviews, ask, refusal, ...memory }
}

describe('a local access review', () => {
  const place = 'authorization.k8s.io/localsubjectaccessreviews'
  const spec = { user: 'u', resourceAttributes: { namespace: 'n', verb: 'get', resource: 'pods' } }
  it('is about its own namespace', () => {
    const { ask, refusal } = aCluster()
    const answer = ask(place, { spec }, undefined, 'n')
    assert.deepEqual(answer.status, { allowed: false })
    assert.equal(answer.metadata.namespace, 'n')
    assert.match(
      refusal(place, { spec: { ...spec, resourceAttributes: { verb: 'get' } } }, undefined, 'n').message,
      /^\.authorization\.k8s\.io "" is invalid: spec\.resourceAttributes\.namespace: Invalid value: "": must match metadata\.namespace$/,
    )
    assert.match(
      refusal(place, { spec: { user: 'u', nonResourceAttributes: { path: '/x' } } }, undefined, 'n').message,
      /spec\.nonResourceAttributes: Invalid value: \{"Path":"\/x","Verb":""\}: disallowed on this kind of request$/,
    )
    assert.equal(
      refusal(place, { spec, metadata: { namespace: 'm' } }, undefined, 'n').message,
      'the namespace of the provided object does not match the namespace sent on the request',
    )
    assert.match(refusal(place, { spec, metadata: { name: 'x' } }, undefined, 'n').message, /must be empty except for namespace$/)
  })
})

describe('an access review', () => {
  const place = 'authorization.k8s.io/subjectaccessreviews'
  const review = (resourceAttributes: unknown) => ({ spec: { user: 'u', resourceAttributes } })
  it('checks selectors and says which it did not understand', () => {
    const { ask, refusal } = aCluster()
    const path = 'spec.resourceAttributes.fieldSelector'
    assert.match(
      refusal(place, review({ fieldSelector: {} })).message,
      new RegExp(`${path}.requirements: Required value: when ${path} is specified`),
    )
    const both = { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: [] }] }
    assert.match(refusal(place, review({ labelSelector: both })).message, /may not specified at the same time.*values: Required value/s)
    const unknown = { requirements: [{ key: 'a', operator: 'Near', values: ['b'] }] }
    assert.deepEqual(ask(place, review({ fieldSelector: unknown })).status, {
      allowed: false,
      evaluationError: 'spec.resourceAttributes.fieldSelector ignored due to parse error',
    })
    const raw = { fieldSelector: { rawSelector: 'a' }, labelSelector: { rawSelector: 'a in' } }
    assert.deepEqual(ask(place, review(raw)).status, {
      allowed: false,
      evaluationError:
        'spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
    })
  })
  it('survives any shape', () => {
    const { ask, refusal } = aCluster()
    for (const spec of [null, 1, 'x', [], { user: 1, groups: 'g' }, { resourceAttributes: [] }])
      assert.equal(refusal(place, { spec }).code, 422)
    const hostile = JSON.parse('{"user":"u","extra":{"__proto__":["x"]},"resourceAttributes":{"verb":7,"__proto__":{"verb":"get"}}}')
    assert.deepEqual(ask(place, { spec: hostile }).status, { allowed: false })
  })
})

describe('the review of own rules', () => {
  const place = 'authorization.k8s.io/selfsubjectrulesreviews'
  it('lists resource and path rules, and what could not be found', () => {
    const { rbac, ask, refusal } = aCluster()
    const rules = [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      { verbs: ['get'], nonResourceURLs: ['/x'] },
    ]
    rbac.apply('clusterroles', '', 'r', object('ClusterRole', {}, { rules }))
    const bind = (name: string) => object('B', {}, { roleRef: { kind: 'ClusterRole', name }, subjects: [{ kind: 'User', name: 'u' }] })
    rbac.apply('clusterrolebindings', '', 'r', bind('r'))
    rbac.apply('rolebindings', 'n', 'gone', bind('gone'))
    assert.deepEqual(ask(place, { spec: { namespace: 'n' } }).status, {
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      incomplete: false,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    })
    assert.equal(refusal(place, { spec: {} }).message, 'no namespace on request')
    const node = ask(place, { spec: { namespace: 'n' } }, { name: 'system:node:w', groups: ['system:nodes'] })
    assert.deepEqual(node.status, {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: 'node authorizer does not support user rule resolution',
    })
  })
})

describe('a token review', () => {
  it('knows fixed tokens', () => {
    const { ask } = aCluster()
    assert.deepEqual(ask('authentication.k8s.io/tokenreviews', { spec: { token: 't' } }).status, {
      authenticated: true,
      user: { username: 'u', uid: '7', groups: ['g', 'system:authenticated'] },
    })
  })
})

describe('a node', () => {
  const node: UserInfo = { name: 'system:node:w', groups: ['system:nodes', 'system:authenticated'] }
  const volumes = [
    { name: 'a', secret: { secretName: 'used' } },
    { name: 'b', projected: { sources: [{ configMap: { name: 'conf' } }] } },
    { name: 'e', ephemeral: {} },
  ]
  function may() {
    const { put, authorizer, rbac } = aCluster()
    const core = (resource: string) => ({ group: '', resource })
    const spec = {
      nodeName: 'w',
      serviceAccountName: 's',
      volumes,
      containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'env' } } }] }],
    }
    put(core('pods'), object('Pod', { namespace: 'n', name: 'p' }, { spec }))
    put(
      core('pods'),
      object('Pod', { namespace: 'n', name: 'q' }, { spec: { nodeName: 'other', volumes: [{ secret: { secretName: 'theirs' } }] } }),
    )
    put(core('persistentvolumes'), object('PersistentVolume', { name: 'v' }, { spec: { claimRef: { namespace: 'n', name: 'p-e' } } }))
    const rules = [{ verbs: ['create'], apiGroups: [''], resources: ['events', 'secrets'] }]
    rbac.apply('clusterroles', '', 'system:node', object('ClusterRole', {}, { rules }))
    return (verb: string, resource: string, name = '', more = {}) =>
      authorizer.authorize(resourceAttributes(node, { verb, resource, name, namespace: 'n', ...more }))
  }
  it('reads what its pods use and nothing else', () => {
    const ask = may()
    const allowed: Parameters<typeof ask>[] = [
      ['get', 'secrets', 'used'],
      ['watch', 'secrets', 'env'],
      ['get', 'configmaps', 'conf'],
      ['get', 'persistentvolumeclaims', 'p-e'],
      ['get', 'persistentvolumes', 'v', { namespace: '' }],
      ['get', 'pods', 'p'],
      ['list', 'pods', '', { namespace: '', fieldSelector: 'spec.nodeName=w' }],
      ['create', 'serviceaccounts', 's', { subresource: 'token' }],
      ['update', 'leases', 'w', { group: 'coordination.k8s.io', namespace: 'kube-node-lease' }],
      ['get', 'nodes', 'w', { namespace: '' }],
      ['patch', 'nodes', 'w', { namespace: '', subresource: 'status' }],
      ['create', 'events'],
    ]
    for (const question of allowed) assert.ok(ask(...question).allowed, question.slice(0, 3).join(' '))
    const refused: Parameters<typeof ask>[] = [
      ['get', 'secrets', 'theirs'],
      ['list', 'secrets', '', { namespace: '' }],
      ['create', 'secrets'],
      ['get', 'pods', 'q'],
      ['list', 'pods', ''],
      ['create', 'serviceaccounts', 'other', { subresource: 'token' }],
      ['update', 'leases', 'other', { group: 'coordination.k8s.io', namespace: 'kube-node-lease' }],
      ['get', 'nodes', 'other', { namespace: '' }],
      ['delete', 'nodes', 'w', { namespace: '' }],
      ['get', 'deployments', 'd', { group: 'apps' }],
    ]
    for (const question of refused) assert.ok(!ask(...question).allowed, question.slice(0, 3).join(' '))
    assert.equal(ask('get', 'secrets', 'theirs').reason, "no relationship found between node 'w' and this object")
  })
})
