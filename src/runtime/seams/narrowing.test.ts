import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { aDeployment, aPolicy, selecting } from '../../fleet/detector/testing.ts'
import type { Placement } from '../../kinds/karmada/index.ts'
import { type Narrowing, NO_CLUSTER_ALLOWED, narrowed, narrowPlacement } from './narrowing.ts'

const saying = (answer: ReturnType<Narrowing['of']>): Narrowing => ({ name: 'sample', of: () => answer })
const subject = {
  template: aDeployment('default/web'),
  policy: aPolicy('default/web', { resourceSelectors: selecting('web') }) as never,
  binding: undefined,
  needs: undefined,
}

describe('narrowings together', () => {
  const table: [string, readonly Narrowing[], ReturnType<typeof narrowed>][] = [
    ['nobody says anything', [saying(undefined), saying({})], {}],
    ['one allows', [saying({ allow: ['b', 'a', 'b'] })], { allow: ['a', 'b'] }],
    ['two allow: what both do', [saying({ allow: ['a', 'b'] }), saying({ allow: ['b', 'c'] })], { allow: ['b'] }],
    ['two allow nothing in common', [saying({ allow: ['a'] }), saying({ allow: ['c'] })], { allow: [] }],
    ['one holds', [saying({ hold: 'the data is not there' }), saying({ allow: ['a'] })], { allow: ['a'], hold: 'the data is not there' }],
    ['two hold', [saying({ hold: 'one' }), saying({ hold: 'two' })], { hold: 'one; two' }],
  ]
  for (const [name, narrowings, expected] of table) it(name, () => assert.deepEqual(narrowed(narrowings, subject), expected))
})

describe('a narrowed placement', () => {
  const NONE = [NO_CLUSTER_ALLOWED]
  const labels = { labelSelector: { matchLabels: { zone: 'x' } } }
  const table: [string, Placement | undefined, readonly string[] | undefined, Placement | undefined][] = [
    ['everything is allowed', { clusterAffinity: { clusterNames: ['a'] } }, undefined, { clusterAffinity: { clusterNames: ['a'] } }],
    ['no placement', undefined, ['a'], { clusterAffinity: { clusterNames: ['a'] } }],
    ['no affinity', { spreadConstraints: [] }, ['a'], { spreadConstraints: [], clusterAffinity: { clusterNames: ['a'] } }],
    ['an affinity by labels', { clusterAffinity: labels }, ['a'], { clusterAffinity: { ...labels, clusterNames: ['a'] } }],
    [
      'an affinity by name',
      { clusterAffinity: { clusterNames: ['c', 'b', 'a'] } },
      ['b', 'c'],
      { clusterAffinity: { clusterNames: ['c', 'b'] } },
    ],
    ['nothing in common', { clusterAffinity: { clusterNames: ['a'] } }, ['b'], { clusterAffinity: { clusterNames: NONE } }],
    ['nothing is allowed', {}, [], { clusterAffinity: { clusterNames: NONE } }],
    [
      'every group, and what helps out',
      {
        clusterAffinities: [
          { affinityName: 'one', clusterNames: ['a', 'b'] },
          {
            affinityName: 'two',
            clusterNames: ['c'],
            overflowAffinities: [{ affinityName: 'three' }, { affinityName: 'four', clusterNames: ['a'] }],
          },
        ],
      },
      ['a'],
      {
        clusterAffinities: [
          { affinityName: 'one', clusterNames: ['a'] },
          {
            affinityName: 'two',
            clusterNames: NONE,
            overflowAffinities: [
              { affinityName: 'three', clusterNames: ['a'] },
              { affinityName: 'four', clusterNames: ['a'] },
            ],
          },
        ],
      },
    ],
  ]
  for (const [name, placement, allow, expected] of table) it(name, () => assert.deepEqual(narrowPlacement(placement, allow), expected))

  it('never reaches a cluster that is not allowed, and repeating it changes nothing', () => {
    const names = fc.subarray(['a', 'b', 'c', 'd'])
    const affinity = fc.oneof(
      fc.constant({}),
      names.map((clusterNames) => ({ clusterNames })),
    )
    const placement: fc.Arbitrary<Placement> = fc.oneof(
      affinity.map((clusterAffinity) => ({ clusterAffinity })),
      fc.array(affinity, { minLength: 1, maxLength: 3 }).map((all) => ({
        clusterAffinities: all.map((one, i) => ({ affinityName: `n${i}`, ...one })),
      })),
    )
    fc.assert(
      fc.property(placement, names, (given, allow) => {
        const once = narrowPlacement(given, allow) as Placement
        assert.deepEqual(narrowPlacement(once, allow), once)
        const groups = once.clusterAffinities ?? [once.clusterAffinity ?? {}]
        for (const { clusterNames = [] } of groups) {
          assert.ok(clusterNames.length > 0)
          for (const name of clusterNames) assert.ok(name === NO_CLUSTER_ALLOWED || allow.includes(name))
        }
      }),
    )
  })
})
