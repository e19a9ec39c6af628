import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { deepFreeze } from '../../base/json.ts'
import type { OverridePolicy, Overriders, OverrideSpec } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { applyOverrides, OverrideError, type OverridePolicies, overridesOf } from './index.ts'
import { aCluster, aClusterPolicy, aDeployment, aPolicy } from './testing.ts'

const member1 = aCluster('member1', { env: 'test' })

/** Appends its name to what others wrote, so that the order is visible. */
const writes = (name: string): Overriders => ({ commandOverrider: [{ containerName: 'web', operator: 'add', value: [name] }] })
const byName: Partial<OverrideSpec> = { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }] }
const byKind: Partial<OverrideSpec> = { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] }
const byLabel: Partial<OverrideSpec> = {
  resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', labelSelector: { matchLabels: { app: 'web' } } }],
}

function overridden(policies: Partial<OverridePolicies>, object: KubeObject = aDeployment()) {
  const outcome = applyOverrides({ object, cluster: member1, clusterPolicies: [], policies: [], ...policies })
  assert.ok(outcome.error === undefined, outcome.error?.message)
  return outcome
}

const orderOf = (policies: Partial<OverridePolicies>): string =>
  (
    (overridden(policies).object.spec as { template: { spec: { containers: { command?: string[] }[] } } }).template.spec.containers[0]
      ?.command ?? []
  ).join(' ')

describe('the order of overrides', () => {
  const cases: [string, Partial<OverridePolicies>, string][] = [
    [
      'cluster policies first',
      { policies: [aPolicy('a', writes('ns'))], clusterPolicies: [aClusterPolicy('z', writes('cluster'), byName)] },
      'cluster ns',
    ],
    ['by name where they are alike', { policies: [aPolicy('b', writes('b')), aPolicy('a', writes('a'))] }, 'a b'],
    [
      'the more specific later',
      { policies: [aPolicy('a', writes('name'), byName), aPolicy('b', writes('label'), byLabel), aPolicy('c', writes('kind'), byKind)] },
      'kind label name',
    ],
    ['no selectors are as the kind alone', { policies: [aPolicy('b', writes('all')), aPolicy('a', writes('kind'), byKind)] }, 'kind all'],
    [
      'rules as they are listed',
      { policies: [aPolicy('a', {}, { overrideRules: [{ overriders: writes('2') }, { overriders: writes('1') }] })] },
      '2 1',
    ],
  ]
  for (const [name, policies, wanted] of cases) it(name, () => assert.equal(orderOf(policies), wanted))

  it('is the same in whatever order policies come', () => {
    const selectors = [{}, byKind, byLabel, byName]
    const names = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f', 'g'))
    const given = names.chain((list) =>
      fc.array(fc.nat(3), { minLength: list.length, maxLength: list.length }).map((kinds) => ({ list, kinds })),
    )
    fc.assert(
      fc.property(given, ({ list, kinds }) => {
        const policies = list.map((name, i) => aPolicy(name, writes(name), selectors[kinds[i] ?? 0]))
        const rank = (name: string) => Math.max(1, kinds[list.indexOf(name)] ?? 0)
        const wanted = [...list].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).join(' ')
        assert.equal(orderOf({ policies }), wanted)
        assert.equal(orderOf({ policies: policies.toReversed() }), wanted)
      }),
    )
  })
})

describe('which policies count', () => {
  it('those for the cluster', () => {
    const rule = (targetCluster: object, name: string) => ({ targetCluster, overriders: writes(name) })
    const policy = aPolicy(
      'a',
      {},
      {
        overrideRules: [
          rule({ clusterNames: ['member2'] }, 'other'),
          rule({ labelSelector: { matchLabels: { env: 'test' } } }, 'label'),
          rule({}, 'all'),
        ],
      },
    )
    assert.equal(orderOf({ policies: [policy] }), 'label all')
  })

  it('those of the namespace', () => {
    const elsewhere: OverridePolicy = deepFreeze({ ...aPolicy('a', writes('a')), metadata: { name: 'a', namespace: 'elsewhere' } })
    assert.equal(orderOf({ policies: [elsewhere] }), '')
  })

  it('no policies of namespaces for objects without one', () => {
    const role = deepFreeze({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } })
    const labels: Overriders = { labelsOverrider: [{ operator: 'add', value: { a: 'b' } }] }
    const outcome = overridden({ policies: [aPolicy('a', labels)], clusterPolicies: [aClusterPolicy('c', labels)] }, role)
    assert.deepEqual(
      [outcome.appliedOverrides, outcome.appliedClusterOverrides.length, outcome.object.metadata.labels],
      [[], 1, { a: 'b' }],
    )
  })

  it('the form before there were rules', () => {
    const old = (targetCluster: object) => aPolicy('a', {}, { overrideRules: undefined, targetCluster, overriders: writes('old') })
    assert.equal(orderOf({ policies: [old({ clusterNames: ['member1'] })] }), 'old')
    assert.equal(orderOf({ policies: [old({ clusterNames: ['member2'] })] }), '')
  })

  it('policies of the namespace see what cluster policies made', () => {
    const relabel: Overriders = { labelsOverrider: [{ operator: 'replace', value: { app: 'other' } }] }
    const policies = { clusterPolicies: [aClusterPolicy('c', relabel)], policies: [aPolicy('a', writes('label'), byLabel)] }
    assert.equal(orderOf(policies), '')
  })

  it('a policy for no cluster of ours changes nothing', () => {
    const anyOverriders: fc.Arbitrary<Overriders> = fc.record(
      {
        plaintext: fc.array(
          fc.record({ path: fc.string(), operator: fc.constantFrom('add' as const, 'remove' as const), value: fc.jsonValue() }),
        ),
        labelsOverrider: fc.array(fc.record({ operator: fc.constant('add' as const), value: fc.dictionary(fc.string(), fc.string()) })),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(anyOverriders, (overriders) => {
        const rules = { overrideRules: [{ targetCluster: { exclude: ['member1'] }, overriders }] }
        const object = aDeployment()
        const outcome = overridden({ policies: [aPolicy('a', {}, rules)], clusterPolicies: [aClusterPolicy('a', {}, rules)] }, object)
        assert.equal(outcome.object, object)
        assert.deepEqual(outcome.annotations, {})
      }),
    )
  })
})

describe('what a Work says about overrides', () => {
  it('is sorted by policy, and printed as Karmada does', () => {
    const first: Overriders = {
      fieldOverrider: [{ fieldPath: '/metadata/labels/doc', json: [{ subPath: '/a', operator: 'replace', value: 2 }] }],
      labelsOverrider: [{ operator: 'add', value: { doc: '{"a":1}', b: '2', a: '<1>' } }],
      argsOverrider: [{ value: ['x'], containerName: 'web', operator: 'add' }],
    }
    const second: Overriders = {
      imageOverrider: [{ value: '', component: 'Tag', operator: 'remove' }],
      plaintext: [
        { path: '/spec/x', operator: 'add', value: { b: 1, a: [2] } },
        { operator: 'remove', path: '/spec/x' },
      ],
      commandOverrider: [],
    }
    // The more specific one is applied last and still listed first.
    const outcome = overridden({ policies: [aPolicy('a', first, byName), aPolicy('b', second)] })
    assert.deepEqual(outcome.annotations, {
      'policy.karmada.io/applied-overrides':
        '[{"policyName":"a","overriders":{"argsOverrider":[{"containerName":"web","operator":"add","value":["x"]}],' +
        '"labelsOverrider":[{"operator":"add","value":{"a":"\\u003c1\\u003e","b":"2","doc":"{\\"a\\":1}"}}],' +
        '"fieldOverrider":[{"fieldPath":"/metadata/labels/doc","json":[{"subPath":"/a","operator":"replace","value":2}]}]}},' +
        '{"policyName":"b","overriders":{"plaintext":[{"path":"/spec/x","operator":"add","value":{"a":[2],"b":1}},' +
        '{"path":"/spec/x","operator":"remove","value":null}],"imageOverrider":[{"component":"Tag","operator":"remove"}]}}]',
    })
  })

  it('names cluster policies apart, and every rule that applied', () => {
    const rules = { overrideRules: [{ overriders: {} }, { overriders: writes('x') }] }
    const outcome = overridden({ clusterPolicies: [aClusterPolicy('c', {}, rules)] })
    const command = '{"commandOverrider":[{"containerName":"web","operator":"add","value":["x"]}]}'
    assert.deepEqual(outcome.annotations, {
      'policy.karmada.io/applied-cluster-overrides': `[{"policyName":"c","overriders":{}},{"policyName":"c","overriders":${command}}]`,
    })
  })
})

describe('an override that does not apply', () => {
  const broken: Overriders = { plaintext: [{ path: '/spec/paused', operator: 'remove' }] }

  it('names policy, cluster, overrider and path', () => {
    const fail = (policies: Partial<OverridePolicies>) =>
      applyOverrides({ object: aDeployment(), cluster: member1, clusterPolicies: [], policies: [], ...policies }).error?.message
    assert.equal(
      fail({ policies: [aPolicy('web', broken)] }),
      'Apply override policy(shop/web) for cluster(member1) failed: plaintext: remove "/spec/paused": there is no "paused"',
    )
    assert.equal(
      fail({ clusterPolicies: [aClusterPolicy('all', broken)] }),
      'Apply cluster override policy(all) for cluster(member1) failed: plaintext: remove "/spec/paused": there is no "paused"',
    )
  })

  it('is thrown where many clusters are asked about, and hinders no other cluster', () => {
    const targetCluster = { clusterNames: ['member1'] }
    const apply = overridesOf({
      clusterPolicies: [],
      policies: [aPolicy('a', {}, { overrideRules: [{ targetCluster, overriders: broken }] })],
    })
    assert.throws(() => apply(aDeployment(), member1), OverrideError)
    assert.deepEqual(apply(aDeployment(), aCluster('member2')).object, aDeployment())
  })

  it('whatever the patch, it is an object or a sentence', () => {
    const part = fc.constantFrom('spec', 'metadata', 'labels', 'containers', 'template', '0', '-', '-1', '', '~1', '~', '__proto__', 'x')
    const path = fc.oneof(
      fc.array(part).map((parts) => parts.map((one) => `/${one}`).join('')),
      fc.string(),
    )
    const operator = fc.constantFrom('add' as const, 'remove' as const, 'replace' as const)
    const plaintext = fc.array(fc.record({ path, operator, value: fc.jsonValue() }, { requiredKeys: ['path', 'operator'] }), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(plaintext, (operations) => {
        const input = { cluster: member1, clusterPolicies: [], policies: [aPolicy('a', { plaintext: operations })] }
        const outcome = applyOverrides({ object: aDeployment(), ...input })
        if (outcome.error === undefined) assert.deepEqual(typeof outcome.object.metadata, 'object')
        else assert.match(outcome.error.message, /^Apply override policy\(shop\/a\) for cluster\(member1\) failed: plaintext: .+/)
        assert.deepEqual(applyOverrides({ object: aDeployment(), ...input }), outcome)
      }),
      { numRuns: 1000 },
    )
  })
})
