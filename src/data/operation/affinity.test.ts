import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { inheritedAffinity, placeOf, withNodeAffinity } from './affinity.ts'

const HOST = { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }
const ZONE = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z1'] }
const GPU = { key: 'gpu', operator: 'In', values: ['a100'] }
const labels = { [HOST.key]: 'n1', [ZONE.key]: 'z1', gpu: 'a100', other: 'x' }
const required = (...terms: object[][]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })) },
})
const preferred = (weight: number, ...expressions: object[]) => ({
  preferredDuringSchedulingIgnoredDuringExecution: expressions.map((one) => ({ weight, preference: { matchExpressions: [one] } })),
})
const place = placeOf(labels, { 'affinity.dataflow.fluid.io/labels': 'gpu, none' })

describe('where an operation ran', () => {
  it('is its host, zone and region, and the labels that it asks for', () => {
    assert.deepEqual(place, required([HOST, ZONE, GPU]))
    assert.deepEqual(placeOf(labels), required([HOST, ZONE]))
    assert.equal(placeOf({ other: 'x' }), undefined)
  })
})

describe('a strategy', () => {
  const CASES: [string, Parameters<typeof inheritedAffinity>[0], object | undefined][] = [
    ['none', {}, undefined],
    ['Require, of the host', { policy: 'Require' }, required([HOST])],
    ['Require, of what it names', { policy: 'Require', requires: [{ name: ZONE.key }, { name: 'gpu' }] }, required([ZONE, GPU])],
    ['Require, of what nobody knows', { policy: 'Require', requires: [{ name: 'rack' }] }, undefined],
    ['Prefer, of the host', { policy: 'Prefer' }, preferred(100, HOST)],
    [
      'Prefer, of what it names',
      {
        policy: 'Prefer',
        prefers: [
          { name: ZONE.key, weight: 7 },
          { name: 'rack', weight: 9 },
        ],
      },
      preferred(7, ZONE),
    ],
  ]
  for (const [what, strategy, expected] of CASES)
    it(`takes of the place what it says: ${what}`, () => assert.deepEqual(inheritedAffinity(strategy, place), expected))
  it('takes nothing of a place that nobody knows', () => assert.equal(inheritedAffinity({ policy: 'Require' }, undefined), undefined))
})

describe('the affinity of a pod', () => {
  it('stays what it is, if nothing comes', () => {
    assert.deepEqual(withNodeAffinity(undefined, undefined), {})
    assert.deepEqual(withNodeAffinity({ podAffinity: {} }, undefined), { affinity: { podAffinity: {} } })
  })
  it('demands both what it demanded and the place, in each of its alternatives', () => {
    const own = { podAffinity: {}, nodeAffinity: { ...required([GPU], [ZONE]), ...preferred(1, GPU) } }
    assert.deepEqual(withNodeAffinity(own, { ...required([HOST]), ...preferred(2, ZONE) }).affinity, {
      podAffinity: {},
      nodeAffinity: {
        ...required([GPU, HOST], [ZONE, HOST]),
        preferredDuringSchedulingIgnoredDuringExecution: [
          ...preferred(1, GPU).preferredDuringSchedulingIgnoredDuringExecution,
          ...preferred(2, ZONE).preferredDuringSchedulingIgnoredDuringExecution,
        ],
      },
    })
  })
  it('admits exactly the nodes that both admit, and is the same when the place is added twice', () => {
    const expression = fc.record({
      key: fc.constantFrom('a', 'b'),
      operator: fc.constant('In'),
      values: fc.subarray(['x', 'y'], { minLength: 1 }),
    })
    const terms = fc.array(fc.array(expression, { maxLength: 2 }), { minLength: 1, maxLength: 3 })
    const node = fc.record({ a: fc.constantFrom('x', 'y'), b: fc.constantFrom('x', 'y') })
    type Affinity = ReturnType<typeof withNodeAffinity>['affinity']
    const admits = (affinity: Affinity, on: Record<string, string>): boolean =>
      (affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).some(
        ({ matchExpressions = [] }) =>
          matchExpressions.length > 0 && matchExpressions.every(({ key = '', values = [] }) => values.includes(on[key] ?? '')),
      )
    fc.assert(
      fc.property(terms, terms, node, (mine, theirs, on) => {
        const [own, more] = [{ nodeAffinity: required(...mine) }, required(...theirs)]
        const both = withNodeAffinity(own, more).affinity
        assert.equal(admits(both, on), admits(own, on) && admits({ nodeAffinity: more }, on))
      }),
    )
    const once = withNodeAffinity({ nodeAffinity: required([GPU]) }, required([HOST]))
    assert.deepEqual(withNodeAffinity(once.affinity, required([HOST])), once)
  })
})
