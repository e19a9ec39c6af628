import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../base/json.ts'
import type { Overriders } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { applyOverrides } from './index.ts'
import { aCluster, aClusterPolicy, aPolicy } from './testing.ts'

const cluster = aCluster('member1')

const aConfigMap: KubeObject = deepFreeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'shop', labels: { a: 'b' } },
  data: { key: 'value' },
})

/** What a policy of a namespace, and one of the cluster, make of it: the object, or why not. */
function outcomesOf(object: KubeObject, overriders: Overriders): { own: KubeObject | string; ofCluster: KubeObject | string } {
  const by = (policies: object): KubeObject | string => {
    const { error, ...made } = applyOverrides({ object, cluster, clusterPolicies: [], policies: [], ...policies })
    return error === undefined ? (made as { object: KubeObject }).object : error.message
  }
  return { own: by({ policies: [aPolicy('p', overriders)] }), ofCluster: by({ clusterPolicies: [aClusterPolicy('p', overriders)] }) }
}

const identityOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject) => ({ apiVersion, kind, name, namespace })

const CLUSTER_ADMIN = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'mine' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'me' }],
}

const FIELDS = [
  ['/apiVersion', 'rbac.authorization.k8s.io/v1'],
  ['/kind', 'ClusterRoleBinding'],
  ['/metadata/name', 'coredns'],
  ['/metadata/namespace', 'kube-system'],
] as const

/** Every way in which an overrider writes to a path of the author's choice. */
const WRITES: readonly (readonly [string, (path: string, value: string) => Overriders])[] = [
  ['a plaintext add', (path, value) => ({ plaintext: [{ path, operator: 'add', value }] })],
  ['a plaintext replace', (path, value) => ({ plaintext: [{ path, operator: 'replace', value }] })],
  ['a plaintext remove', (path) => ({ plaintext: [{ path, operator: 'remove' }] })],
  ['a value of another type', (path) => ({ plaintext: [{ path, operator: 'replace', value: { a: 1 } }] })],
  ['an empty text', (path) => ({ plaintext: [{ path, operator: 'replace', value: '' }] })],
  [
    'an image at a path',
    (path, value) => ({
      imageOverrider: [{ predicate: { path }, component: 'Repository', operator: 'replace', value: value.split('/')[0] }],
    }),
  ],
  ['a document in a field', (path) => ({ fieldOverrider: [{ fieldPath: path, yaml: [{ subPath: '', operator: 'add', value: ['x'] }] }] })],
]

describe('which object it is', () => {
  for (const [path, value] of FIELDS)
    for (const [how, overriders] of WRITES)
      it(`is not changed at ${path} by ${how}, whoever wrote the policy`, () => {
        const { own, ofCluster } = outcomesOf(aConfigMap, overriders(path, value))
        for (const outcome of [own, ofCluster]) {
          assert.ok(typeof outcome === 'string', JSON.stringify(outcome))
          assert.match(outcome, /overrides keep which object it is|has no apiVersion, kind or metadata|is not the name of an image/)
        }
      })

  it('is not changed as a whole either', () => {
    for (const path of ['', '/metadata']) {
      const value = path === '' ? CLUSTER_ADMIN : { name: 'coredns', namespace: 'kube-system' }
      const { own, ofCluster } = outcomesOf(aConfigMap, { plaintext: [{ path, operator: 'replace', value }] })
      assert.match(String(own), /override policy\(shop\/p\).*would change from "[^"]+" to "[^"]+"/)
      assert.match(String(ofCluster), /cluster override policy\(p\).*would change/)
    }
  })

  it('is what it was, whatever a patch does, and everything else follows the patch', () => {
    const part = fc.constantFrom('apiVersion', 'kind', 'metadata', 'name', 'namespace', 'labels', 'data', 'key', '', '~1')
    const path = fc.array(part, { maxLength: 3 }).map((parts) => parts.map((one) => `/${one}`).join(''))
    const value = fc.oneof(
      fc.constantFrom('v1', 'ConfigMap', 'Secret', 'settings', 'shop', 'x'),
      fc.constant(CLUSTER_ADMIN),
      fc.jsonValue(),
    )
    const operator = fc.constantFrom('add' as const, 'remove' as const, 'replace' as const)
    const plaintext = fc.array(fc.record({ path, operator, value }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(plaintext, (operations) => {
        const { own, ofCluster } = outcomesOf(aConfigMap, { plaintext: operations })
        for (const outcome of [own, ofCluster])
          if (typeof outcome !== 'string') assert.deepEqual(identityOf(outcome), identityOf(aConfigMap))
      }),
      { numRuns: 2000 },
    )
  })

  it('may be left and come back within one rule', () => {
    const there = { path: '/kind', operator: 'replace' as const, value: 'Secret' }
    const { own } = outcomesOf(aConfigMap, { plaintext: [there, { ...there, value: 'ConfigMap' }] })
    assert.deepEqual(own, aConfigMap)
  })

  it('leaves everything else to policies', () => {
    const changed = outcomesOf(aConfigMap, {
      plaintext: [
        { path: '/data/key', operator: 'replace', value: 'other' },
        { path: '/metadata/annotations', operator: 'add', value: { note: 'x' } },
      ],
    })
    const wanted = { ...aConfigMap, metadata: { ...aConfigMap.metadata, annotations: { note: 'x' } }, data: { key: 'other' } }
    assert.deepEqual(changed, { own: wanted, ofCluster: wanted })
  })
})

const RULES = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
const ALL_RIGHTS = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
const SOMEBODY = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'somebody' }]
const ROLE_REF = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }

const anRbac = (kind: string, fields: object, version = 'v1'): KubeObject =>
  deepFreeze({ apiVersion: `rbac.authorization.k8s.io/${version}`, kind, metadata: { name: 'reader', namespace: 'shop' }, ...fields })

const GRANTS: readonly (readonly [string, KubeObject, string, unknown])[] = [
  ['the rules of a Role', anRbac('Role', { rules: RULES }), '/rules', ALL_RIGHTS],
  ['a verb of a Role', anRbac('Role', { rules: RULES }), '/rules/0/verbs/0', '*'],
  ['a rule more', anRbac('Role', { rules: RULES }), '/rules/-', ALL_RIGHTS[0]],
  ['a Role of another version', anRbac('Role', { rules: RULES }, 'v1beta1'), '/rules', ALL_RIGHTS],
  ['the subjects of a RoleBinding', anRbac('RoleBinding', { subjects: SOMEBODY, roleRef: ROLE_REF }), '/subjects/0/name', 'me'],
  ['subjects where there were none', anRbac('RoleBinding', { roleRef: ROLE_REF }), '/subjects', SOMEBODY],
  ['the role of a RoleBinding', anRbac('RoleBinding', { subjects: SOMEBODY, roleRef: ROLE_REF }), '/roleRef/name', 'admin'],
  ['a field that nobody knows yet', anRbac('Role', { rules: RULES }), '/aggregationRule', { clusterRoleSelectors: [{}] }],
]

describe('what permissions grant', () => {
  for (const [what, object, path, value] of GRANTS)
    it(`${what}: changed by cluster policies alone`, () => {
      const { own, ofCluster } = outcomesOf(object, { plaintext: [{ path, operator: 'add', value }] })
      assert.match(String(own), /only a ClusterOverridePolicy changes what permissions grant/)
      assert.notDeepEqual(ofCluster, object)
      assert.equal(typeof ofCluster, 'object')
    })

  it('is nothing that labels and annotations say: those follow', () => {
    const object = anRbac('Role', { rules: RULES })
    const { own } = outcomesOf(object, { labelsOverrider: [{ operator: 'add', value: { team: 'a' } }] })
    assert.deepEqual(own, { ...object, metadata: { ...object.metadata, labels: { team: 'a' } } })
  })
})
