import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONFIG_MAPS } from '../../../kinds/kubernetes/resources.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../kube/meta.ts'
import type { Action } from '../../../runtime/controller.ts'
import { type GarbageInput, isRelevantToGarbage, type OwnerState, planGarbage } from './plan.ts'

const GONE = '2026-01-01T00:00:00Z'
const object = (name: string, metadata: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: '7', ...metadata },
})
const reference = (name: string, blocks = false): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: `uid-${name}`,
  ...(blocks ? { blockOwnerDeletion: true } : {}),
})
const owned = (name: string, references: OwnerReference[], metadata: ObjectMeta = {}): KubeObject =>
  object(name, { ownerReferences: references, ...metadata })

function input(of: KubeObject, states: OwnerState[] = [], dependents: KubeObject[] = []): GarbageInput {
  const owners = (of.metadata.ownerReferences ?? []).map((one, i) => ({ reference: one, state: states[i] ?? 'solid' }))
  return { resource: CONFIG_MAPS, object: of, owners, dependents: dependents.map((one) => ({ resource: CONFIG_MAPS, object: one })) }
}

/** A short summary of an action. */
function summaryOf(action: Action): string {
  if (action.do === 'delete') return `delete ${action.of.metadata.name} ${action.propagation}`
  if (action.do !== 'patch') return action.do
  const { ownerReferences, finalizers } = (
    action.patch as { metadata: { ownerReferences?: OwnerReference[] | null; finalizers?: string[] | null } }
  ).metadata
  const name = action.of.metadata.name
  if (finalizers !== undefined) return `finalizers of ${name}: ${finalizers?.join() ?? 'none'}`
  return `owners of ${name}: ${ownerReferences?.map((one) => `${one.name}${one.blockOwnerDeletion ? '!' : ''}`).join() ?? 'none'}`
}

const two = [reference('a'), reference('b')]
const waiting = { deletionTimestamp: GONE, finalizers: ['foregroundDeletion', 'other'] }
const orphaning = { deletionTimestamp: GONE, finalizers: ['orphan'] }

const cases: [string, GarbageInput, string[]][] = [
  ['no owners', input(object('x')), []],
  ['a solid owner', input(owned('x', [reference('a')])), []],
  ['an absent owner', input(owned('x', [reference('a')]), ['absent']), ['delete x Background']],
  ['an unknown owner', input(owned('x', [reference('a')]), ['unknown']), []],
  ['an unknown owner beside an absent one', input(owned('x', two), ['unknown', 'absent']), []],
  ['a solid owner beside an absent one', input(owned('x', two), ['absent', 'solid']), ['owners of x: b']],
  ['a solid owner beside a waiting one', input(owned('x', two), ['solid', 'waiting']), ['owners of x: a']],
  ['a waiting owner', input(owned('x', [reference('a', true)]), ['waiting']), ['delete x Background']],
  [
    'a waiting owner, and dependents of its own',
    input(owned('x', [reference('a')]), ['waiting'], [owned('y', [reference('x')])]),
    ['delete x Foreground'],
  ],
  [
    'a waiting owner that is a dependent as well',
    input(owned('x', [reference('a', true)]), ['waiting'], [owned('a', [reference('x', true)], waiting)]),
    ['owners of x: a', 'delete x Foreground'],
  ],
  [
    'an absent owner, and dependents of its own',
    input(owned('x', [reference('a')]), ['absent'], [owned('y', [reference('x')])]),
    ['delete x Background'],
  ],
  ['asked beforehand to orphan', input(owned('x', [reference('a')], { finalizers: ['orphan'] }), ['absent']), ['delete x Orphan']],
  [
    'asked beforehand to wait',
    input(owned('x', [reference('a')], { finalizers: ['foregroundDeletion'] }), ['absent']),
    ['delete x Foreground'],
  ],
  ['on its way out already', input(owned('x', [reference('a')], { deletionTimestamp: GONE }), ['absent']), []],
  ['waiting for one that blocks', input(object('x', waiting), [], [owned('y', [reference('x', true)])]), []],
  ['waiting for none that blocks', input(object('x', waiting), [], [owned('y', [reference('x')])]), ['finalizers of x: other']],
  [
    'waiting for one that blocks another',
    input(object('x', waiting), [], [owned('y', [reference('x'), reference('z', true)])]),
    ['finalizers of x: other'],
  ],
  ['orphaning nobody', input(object('x', orphaning)), ['finalizers of x: none']],
  [
    'orphaning two',
    input(object('x', orphaning), [], [owned('y', [reference('x')]), owned('z', [reference('x'), reference('a')])]),
    ['owners of y: none', 'owners of z: a', 'finalizers of x: none'],
  ],
]

describe('what the garbage collector does about an object', () => {
  for (const [name, given, wanted] of cases)
    it(`${name}: ${wanted.join('; ') || 'nothing'}`, () => assert.deepEqual(planGarbage(given).map(summaryOf), wanted))

  it('is nothing for most: they never enter the queue', () => {
    assert.equal(isRelevantToGarbage(object('x')), false)
    assert.equal(isRelevantToGarbage(object('x', { finalizers: ['orphan'] })), false)
    assert.equal(isRelevantToGarbage(object('x', { deletionTimestamp: GONE, finalizers: ['other'] })), false)
    assert.equal(isRelevantToGarbage(object('x', orphaning)), true)
    assert.equal(isRelevantToGarbage(owned('x', [reference('a')])), true)
  })
})
