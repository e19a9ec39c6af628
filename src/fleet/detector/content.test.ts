import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../kube/meta.ts'
import { contentOf, contentText, isSameContent, userPart } from './content.ts'
import { fieldDifference } from './difference.ts'
import { aDeployment } from './testing.ts'

const BASE = aDeployment('default/web')
const withMeta = (metadata: KubeObject['metadata']): KubeObject => ({ ...BASE, metadata: { ...BASE.metadata, ...metadata } })
const labelled = (labels: Record<string, string>): KubeObject => withMeta({ labels: { ...BASE.metadata.labels, ...labels } })

describe('the content of a template', () => {
  const table: [string, KubeObject, { people: boolean; fleet: boolean }][] = [
    ['its status', { ...BASE, status: { replicas: 1 } }, { people: true, fleet: true }],
    ['its version and generation', withMeta({ resourceVersion: '9', generation: 3 }), { people: true, fleet: true }],
    ['a claim', labelled({ 'propagationpolicy.karmada.io/permanent-id': 'x' }), { people: true, fleet: true }],
    ['a note of ours', withMeta({ annotations: { 'sluice.dev/waiting-because': 'x' } }), { people: true, fleet: true }],
    [
      'an annotation for the fleet',
      withMeta({ annotations: { 'work.karmada.io/conflict-resolution': 'overwrite' } }),
      { people: true, fleet: false },
    ],
    [
      'a label that counts as of people',
      labelled({ 'namespace.karmada.io/skip-auto-propagation': 'true' }),
      { people: false, fleet: true },
    ],
    ['a label', labelled({ tier: 'front' }), { people: false, fleet: true }],
    ['its spec', aDeployment('default/web', { replicas: 7 }), { people: false, fleet: true }],
  ]
  for (const [name, other, same] of table)
    it(`${name}: ${same.people ? 'the same' : 'another'} of people, ${same.fleet ? 'the same' : 'another'} of the fleet`, () => {
      const [a, b] = [contentOf(BASE), contentOf(other)]
      assert.deepEqual({ people: a.people === b.people, fleet: a.fleet === b.fleet }, same)
    })

  it('does not depend on the order of fields', () => {
    const turned = JSON.parse(
      JSON.stringify(BASE, (_key, value) => (value?.constructor === Object ? Object.fromEntries(Object.entries(value).reverse()) : value)),
    )
    assert.deepEqual(contentOf(turned), contentOf(BASE))
  })

  it('is remembered as one text', () => assert.equal(userPart(contentText(contentOf(BASE))), contentOf(BASE).people))

  it('is compared without status and bookkeeping', () => {
    assert.ok(isSameContent(BASE, { ...withMeta({ resourceVersion: '5' }), status: { replicas: 2 } }))
    assert.ok(!isSameContent(BASE, labelled({ a: 'b' })))
    assert.ok(!isSameContent(BASE, withMeta({ deletionTimestamp: 'now' })))
    assert.ok(!isSameContent(BASE, aDeployment('default/web', { replicas: 9 })))
  })
})

describe('the difference as a merge patch', () => {
  const table: [string, unknown, Record<string, unknown>, Record<string, unknown> | undefined][] = [
    ['nothing', { a: 1, b: { c: [1] } }, { a: 1, b: { c: [1] } }, undefined],
    ['a field', { a: 1, other: 2 }, { a: 2 }, { a: 2 }],
    ['a field that goes', { a: 1 }, { a: undefined }, { a: null }],
    ['a field that is gone already', {}, { a: undefined }, undefined],
    ['fields below that go', { a: { b: 1, c: { d: 1 } } }, { a: { c: { e: 2 } } }, { a: { b: null, c: { d: null, e: 2 } } }],
    ['a list is replaced', { a: [1, 2] }, { a: [2] }, { a: [2] }],
    ['an object in place of a text', { a: 'x' }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['into nothing', undefined, { a: { b: 1 } }, { a: { b: 1 } }],
  ]
  for (const [name, from, to, expected] of table) it(name, () => assert.deepEqual(fieldDifference(from, to), expected))
})
