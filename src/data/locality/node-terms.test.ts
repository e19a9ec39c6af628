import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { NodeSelectorTerm } from '../../kinds/kubernetes/types.ts'
import { selectorMatcher } from '../../minicluster/scheduler/state/node-selector.ts'
import { MOST_TERMS, narrowedTerms } from './node-terms.ts'
import { cached, disk, zone } from './testing.ts'

const named: NodeSelectorTerm = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }

const joined = (...terms: NodeSelectorTerm[]): NodeSelectorTerm => ({
  matchExpressions: terms.flatMap((term) => term.matchExpressions ?? []),
})

describe('required terms', () => {
  for (const [says, existing, demands, expected] of [
    ['nothing is demanded of a pod that demands nothing', undefined, [], undefined],
    ['a demand without alternatives is none', undefined, [[], [{}]], undefined],
    ['demands hold together', undefined, [[cached('a')], [cached('b')]], [joined(cached('a'), cached('b'))]],
    ['alternatives stay alternatives', undefined, [[cached('a'), zone('x')]], [cached('a'), zone('x')]],
    [
      'each of the pod with each demanded',
      [disk('ssd'), disk('hdd')],
      [[cached('a'), zone('x')]],
      [joined(disk('ssd'), cached('a')), joined(disk('ssd'), zone('x')), joined(disk('hdd'), cached('a')), joined(disk('hdd'), zone('x'))],
    ],
    [
      'what a term demands already is not added',
      [joined(cached('a'), disk('ssd'))],
      [[cached('a'), zone('x')]],
      [joined(cached('a'), disk('ssd'))],
    ],
    ['only the missing part is added', [zone('x')], [[joined(zone('x'), disk('ssd'))]], [joined(zone('x'), disk('ssd'))]],
    ['fields are kept', [named], [[zone('x')]], [{ ...zone('x'), ...named }]],
    ['a pod that matches no node is not helped', [{}], [[cached('a')]], [{}]],
    ['nor one that says nothing where it must', [], [[cached('a')]], []],
  ] as const) {
    it(says, () => assert.deepEqual(narrowedTerms(existing, demands), { value: expected }))
  }

  it('are refused when there would be too many', () => {
    const many = (length: number) => Array.from({ length }, (_, i) => zone(String(i)))
    const disks = Array.from({ length: 40 }, (_, i) => disk(String(i)))
    assert.match(narrowedTerms(disks, [many(26)]).error ?? '', new RegExp(`more than ${MOST_TERMS} alternatives`))
    const most = narrowedTerms(disks, [many(25)]).value ?? []
    assert.equal(most.length, MOST_TERMS)
    assert.deepEqual(narrowedTerms(most, [many(25)]).value, most, 'a second look finds nothing to multiply')
    assert.match(narrowedTerms(undefined, [many(MOST_TERMS + 1)]).error ?? '', /more than/)
    const own = many(MOST_TERMS + 1)
    assert.equal(narrowedTerms(own, [[cached('a')]]).value?.length, own.length, 'what the author wrote is not the reason')
  })

  it('are compared by what they say, not by how they are written', () => {
    const rewritten = [{ matchFields: [], matchExpressions: [{ values: ['true'], operator: 'In', key: 'fluid.io/s-default-a' }] }]
    assert.deepEqual(narrowedTerms(rewritten, [[cached('a')]]).value, rewritten)
  })

  const requirement = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.subarray(['1', '2'], { minLength: 1 }),
  })
  const field = fc.record({
    key: fc.constant('metadata.name'),
    operator: fc.constant('In'),
    values: fc.constantFrom('n1', 'n2').map((name) => [name]),
  })
  const term: fc.Arbitrary<NodeSelectorTerm> = fc.record(
    { matchExpressions: fc.array(requirement, { maxLength: 2 }), matchFields: fc.array(field, { maxLength: 1 }) },
    { requiredKeys: [] },
  )
  const demand = fc.array(fc.record({ matchExpressions: fc.array(requirement, { minLength: 1, maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 3,
  })
  const node = fc.record({
    name: fc.constantFrom('n1', 'n2'),
    labels: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2')),
  })
  const existing = fc.option(fc.array(term, { maxLength: 3 }), { nil: undefined })

  it('match exactly the nodes that the pod and all demands match', () => {
    fc.assert(
      fc.property(existing, fc.array(demand, { maxLength: 3 }), fc.array(node, { minLength: 1, maxLength: 8 }), (terms, demands, nodes) => {
        const { value } = narrowedTerms(terms, demands)
        const isMatch = (nodeSelectorTerms: NodeSelectorTerm[] | undefined, one: (typeof nodes)[number]): boolean =>
          nodeSelectorTerms === undefined || selectorMatcher({ nodeSelectorTerms })(one)
        for (const one of nodes) {
          const expected = isMatch(terms, one) && demands.every((alternatives) => isMatch(alternatives, one))
          assert.equal(isMatch(value, one), expected)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('are the same when the same is demanded again', () => {
    fc.assert(
      fc.property(existing, fc.array(demand, { maxLength: 3 }), (terms, demands) => {
        const { value } = narrowedTerms(terms, demands)
        assert.deepEqual(narrowedTerms(value, demands).value, value)
      }),
      { numRuns: 200 },
    )
  })
})
