import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type ClusterTraits, matchesCluster } from './cluster-affinity-match.ts'

type Affinity = NonNullable<Parameters<typeof matchesCluster>[0]>

const member = (spec: ClusterTraits['spec'] = {}, labels: Record<string, string> = {}): ClusterTraits => ({
  metadata: { name: 'member1', labels },
  spec,
})
const here = member({ provider: 'cloud', region: 'north', zones: ['a', 'b'] }, { env: 'test' })
const nowhere = member()
const field = (key: string, operator: string, ...values: string[]): Affinity =>
  ({ fieldSelector: { matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }] } }) as Affinity

describe('which clusters an affinity means', () => {
  const cases: [string, Affinity | undefined, boolean, boolean][] = [
    ['none given', undefined, true, true],
    ['an empty one', {}, true, true],
    ['by name', { clusterNames: ['member1'] }, true, true],
    ['by another name', { clusterNames: ['member2'] }, false, false],
    ['an empty list of names is any', { clusterNames: [] }, true, true],
    ['excluded', { exclude: ['member1'] }, false, false],
    ['excluded wins over named', { clusterNames: ['member1'], exclude: ['member1'] }, false, false],
    ['by label', { labelSelector: { matchLabels: { env: 'test' } } }, true, false],
    ['by an empty selector', { labelSelector: {} }, true, true],
    ['by expression', { labelSelector: { matchExpressions: [{ key: 'env', operator: 'DoesNotExist' }] } }, false, true],
    [
      'a malformed selector is nobody',
      { labelSelector: { matchExpressions: [{ key: 'env', operator: 'Like' }] } } as Affinity,
      false,
      false,
    ],
    ['name and label', { clusterNames: ['member1'], labelSelector: { matchLabels: { env: 'prod' } } }, false, false],
    ['provider', field('provider', 'In', 'cloud', 'other'), true, false],
    ['not of a provider, absent counts', field('provider', 'NotIn', 'cloud'), false, true],
    ['region', field('region', 'Exists'), true, false],
    ['no region', field('region', 'DoesNotExist'), false, true],
    ['a field that clusters do not have', field('color', 'In', 'red'), false, false],
    ['an operator that is none', field('region', 'Near', 'north'), false, false],
    ['In without values', field('region', 'In'), false, false],
    ['Gt of what is no number', field('region', 'Gt', '1'), false, false],
    ['Gt with a text is malformed', field('region', 'Gt', 'x'), false, false],
    ['zone In: one is enough', field('zone', 'In', 'b', 'c'), true, false],
    ['zone In: none', field('zone', 'In', 'c'), false, false],
    ['zone NotIn: one is too much', field('zone', 'NotIn', 'b', 'c'), false, true],
    ['zone Exists', field('zone', 'Exists'), true, false],
    ['zone DoesNotExist', field('zone', 'DoesNotExist'), false, true],
    ['zone with another operator', field('zone', 'Gt', '1'), false, false],
  ]
  for (const [name, affinity, inHere, inNowhere] of cases) {
    it(name, () => assert.deepEqual([matchesCluster(affinity, here), matchesCluster(affinity, nowhere)], [inHere, inNowhere]))
  }

  it('compares numbers', () => {
    const numbered = member({ region: '7' })
    assert.deepEqual(
      ['6', '8', '-6', '+6'].map((than) => matchesCluster(field('region', 'Gt', than), numbered)),
      // A label value cannot contain a sign.
      [true, false, false, false],
    )
  })

  it('compares downwards', () =>
    assert.deepEqual(
      ['6', '8'].map((than) => matchesCluster(field('region', 'Lt', than), member({ region: '7' }))),
      [false, true],
    ))

  it('is what each part says, together', () => {
    const parts: fc.Arbitrary<Affinity> = fc.record(
      {
        clusterNames: fc.subarray(['member1', 'member2']),
        exclude: fc.subarray(['member1', 'member2']),
        labelSelector: fc.constantFrom({}, { matchLabels: { env: 'test' } }, { matchLabels: { env: 'prod' } }),
        fieldSelector: fc.constantFrom(field('zone', 'In', 'a').fieldSelector, field('zone', 'In', 'z').fieldSelector),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(parts, fc.constantFrom(here, nowhere), (affinity, cluster) => {
        const each = Object.entries(affinity).every(([key, value]) => matchesCluster({ [key]: value }, cluster))
        assert.equal(matchesCluster(affinity, cluster), each)
      }),
    )
  })
})
