import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Policy, PropagationSpec } from '../../kinds/karmada/index.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { type Choice, decide } from './choice.ts'
import { type Claim, claimBy } from './claim.ts'
import { aDeployment, aPolicy, DEPLOYMENT } from './testing.ts'

type Extra = Partial<PropagationSpec>

const ANY = [DEPLOYMENT]
const BY_LABEL = [{ ...DEPLOYMENT, labelSelector: { matchLabels: { app: 'web' } } }]
const BY_NAME = [{ ...DEPLOYMENT, name: 'web' }]

function policy(where: string, selectors: PropagationSpec['resourceSelectors'] = ANY, extra: Extra = {}, isGoing = false): Policy {
  const object = aPolicy(where, { resourceSelectors: selectors, ...extra }) as Policy
  const label = where.includes('/') ? 'propagationpolicy' : 'clusterpropagationpolicy'
  object.metadata.labels = { [`${label}.karmada.io/permanent-id`]: `id of ${where}` }
  if (isGoing) object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  return object
}

const TEMPLATE = { ...aDeployment('default/web'), metadata: { namespace: 'default', name: 'web', uid: 'u', labels: { app: 'web' } } }

const ask = (policies: readonly Policy[], claimed?: Policy, more: Partial<Choice> = {}): Choice => ({
  template: TEMPLATE,
  claim: claimed === undefined ? undefined : claimBy(claimed),
  claimed,
  namespaced: policies.filter(({ metadata }) => metadata.namespace !== undefined),
  cluster: policies.filter(({ metadata }) => metadata.namespace === undefined),
  preemption: true,
  ...more,
})

const nameOf = ({ metadata }: Policy): string =>
  metadata.namespace === undefined ? `${metadata.name}` : `${metadata.namespace}/${metadata.name}`
const chosen = (choice: Choice): string | undefined => {
  const found = decide(choice).policy
  return found === undefined ? undefined : nameOf(found)
}

describe('the policy of an unclaimed template', () => {
  const table: [string, readonly Policy[], string | undefined, KubeObject?][] = [
    ['none at all', [], undefined],
    ['one by kind', [policy('default/a')], 'default/a'],
    ['one by label', [policy('default/a', BY_LABEL)], 'default/a'],
    ['one by name', [policy('default/a', BY_NAME)], 'default/a'],
    ['another kind', [policy('default/a', [{ ...DEPLOYMENT, kind: 'StatefulSet' }])], undefined],
    ['another version of the kind', [policy('default/a', [{ ...DEPLOYMENT, apiVersion: 'apps/v1beta1' }])], undefined],
    ['another name', [policy('default/a', [{ ...DEPLOYMENT, name: 'db' }])], undefined],
    ['other labels', [policy('default/a', [{ ...DEPLOYMENT, labelSelector: { matchLabels: { app: 'db' } } }])], undefined],
    [
      'a name, with labels that are not looked at',
      [policy('default/a', [{ ...DEPLOYMENT, name: 'web', labelSelector: { matchLabels: { app: 'db' } } }])],
      'default/a',
    ],
    ['a policy of another namespace', [policy('other/a')], undefined],
    ['a policy of the cluster for another namespace', [policy('a', [{ ...DEPLOYMENT, namespace: 'other' }])], undefined],
    ['a policy of the cluster for this namespace', [policy('a', [{ ...DEPLOYMENT, namespace: 'default' }])], 'a'],
    ['the higher priority', [policy('default/a', BY_NAME), policy('default/b', ANY, { priority: 1 })], 'default/b'],
    ['a priority below zero', [policy('default/a', BY_NAME, { priority: -1 }), policy('default/b')], 'default/b'],
    ['at the same priority, labels before kind', [policy('default/a'), policy('default/b', BY_LABEL)], 'default/b'],
    ['at the same priority, a name before labels', [policy('default/a', BY_LABEL), policy('default/b', BY_NAME)], 'default/b'],
    ['the best selector of a policy counts', [policy('default/a', BY_LABEL), policy('default/b', [...ANY, ...BY_NAME])], 'default/b'],
    ['all the same, the smaller name', [policy('default/b', BY_NAME), policy('default/a', BY_NAME)], 'default/a'],
    [
      'of the namespace before the cluster, whatever the priority',
      [policy('a', BY_NAME, { priority: 9 }), policy('default/b')],
      'default/b',
    ],
    ['of the cluster, by priority', [policy('a', BY_NAME), policy('b', ANY, { priority: 1 })], 'b'],
    ['of the cluster, by selector', [policy('a'), policy('b', BY_LABEL)], 'b'],
    ['one that goes is not chosen', [policy('default/a', BY_NAME, { priority: 9 }, true), policy('b')], 'b'],
    ['only one that goes', [policy('default/a', BY_NAME, {}, true)], undefined],
    ['a policy of a namespace does not reach the cluster', [policy('default/a')], undefined, { ...TEMPLATE, metadata: { name: 'web' } }],
  ]
  for (const [name, policies, expected, template = TEMPLATE] of table)
    it(name, () => assert.equal(chosen(ask(policies, undefined, { template })), expected))
})

describe('the policy of a claimed template', () => {
  const low = policy('default/low', BY_LABEL)
  const ofCluster = policy('wide', ANY, { priority: 5 })
  const preempting = (where: string, extra: Extra = {}): Policy => policy(where, BY_NAME, { preemption: 'Always', ...extra })
  const table: [string, readonly Policy[], Policy | undefined, string | undefined, Partial<Choice>?][] = [
    ['stays with it', [low], low, 'default/low'],
    ['stays although there is a better one', [low, policy('default/high', BY_NAME, { priority: 9 })], low, 'default/low'],
    ['of the cluster, stays although there is one of the namespace', [ofCluster, low], ofCluster, 'wide'],
    ['goes to the next when it is gone', [policy('default/b')], undefined, 'default/b', { claim: claimBy(low) }],
    ['goes to the next when it is going', [policy('default/b')], policy('default/low', BY_LABEL, {}, true), 'default/b'],
    ['goes to nobody when there is none', [], policy('default/low', BY_LABEL, {}, true), undefined],
    [
      'goes to the next when it is no longer selected',
      [policy('default/b')],
      policy('default/low', [{ ...DEPLOYMENT, name: 'x' }]),
      'default/b',
    ],
    [
      'is claimed anew by a policy of the same name that is another',
      [low],
      low,
      'default/low',
      { claim: { namespace: 'default', name: 'low', id: 'of one before' } },
    ],
    ['is taken by one of higher priority', [low, preempting('default/high', { priority: 1 })], low, 'default/high'],
    ['is not taken at the same priority', [low, preempting('default/high')], low, 'default/low'],
    [
      'is not taken by one that does not name it',
      [low, policy('default/high', BY_LABEL, { preemption: 'Always', priority: 9 })],
      low,
      'default/low',
    ],
    [
      'is not taken by one that never does',
      [low, policy('default/high', BY_NAME, { preemption: 'Never', priority: 9 })],
      low,
      'default/low',
    ],
    [
      'is not taken by one that goes',
      [low, policy('default/high', BY_NAME, { preemption: 'Always', priority: 9 }, true)],
      low,
      'default/low',
    ],
    [
      'is not taken where that is switched off',
      [low, preempting('default/high', { priority: 1 })],
      low,
      'default/low',
      { preemption: false },
    ],
    [
      'is taken by the best of several',
      [low, preempting('default/x', { priority: 1 }), preempting('default/y', { priority: 2 })],
      low,
      'default/y',
    ],
    [
      'of the cluster, is taken by one of the namespace at any priority',
      [ofCluster, preempting('default/a', { priority: -9 })],
      ofCluster,
      'default/a',
    ],
    ['of the cluster, is taken by a higher one of the cluster', [ofCluster, preempting('z', { priority: 6 })], ofCluster, 'z'],
    ['of the cluster, is not taken by an equal one of the cluster', [ofCluster, preempting('z', { priority: 5 })], ofCluster, 'wide'],
    ['of a namespace, is never taken by one of the cluster', [low, preempting('z', { priority: 9 })], low, 'default/low'],
  ]
  for (const [name, policies, claimed, expected, more] of table)
    it(name, () => assert.equal(chosen(ask(policies, claimed, more)), expected))

  it('says from whom it is taken', () => {
    const high = preempting('default/high', { priority: 1 })
    assert.deepEqual(decide(ask([low, high], low)).preempts, { namespace: 'default', name: 'low', id: 'id of default/low' } satisfies Claim)
    assert.equal(decide(ask([low, high], undefined)).preempts, undefined)
  })
})

describe('the choice', () => {
  const selectors = fc.subarray([...ANY, ...BY_LABEL, ...BY_NAME, { ...DEPLOYMENT, name: 'other' }], { minLength: 1 })
  const some = fc
    .record({
      where: fc.constantFrom('default/a', 'default/b', 'default/c', 'a', 'b', 'c', 'other/a'),
      selectors,
      priority: fc.integer({ min: -1, max: 2 }),
      preemption: fc.constantFrom('Always' as const, 'Never' as const),
      isGoing: fc.boolean(),
    })
    .map(({ where, selectors: chosenSelectors, priority, preemption, isGoing }) =>
      policy(where, chosenSelectors, { priority, preemption }, isGoing),
    )
  const policies = fc.uniqueArray(some, { selector: nameOf, maxLength: 7 })

  it('does not depend on the order of policies, nor on how often one is given', () => {
    const given = policies.chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 }),
        fc.option(fc.constantFrom(...all, undefined)),
      ),
    )
    fc.assert(
      fc.property(given, ([all, shuffled, claimed]) => {
        const by = claimed ?? undefined
        assert.equal(chosen(ask(shuffled, by)), chosen(ask(all, by)))
      }),
    )
  })

  it('is settled: who was chosen is chosen again', () => {
    fc.assert(
      fc.property(policies, fc.option(some), (all, before) => {
        const first = decide(ask(all, before ?? undefined)).policy
        if (first === undefined) return
        assert.deepEqual(decide(ask(all, first)), { policy: first })
      }),
    )
  })
})
