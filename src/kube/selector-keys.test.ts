import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type LabelSelectorObject, matchesLabels, parseLabelSelector, selectorFromObject } from './selector.ts'
import { equalityKeys, labelKeys } from './selector-keys.ts'

const expression = (key: string, operator: string, ...values: string[]) => ({ key, operator, values })

describe('keys of selectors', () => {
  const CASES: [string, LabelSelectorObject | undefined, string[]][] = [
    ['nothing', undefined, []],
    ['everything', {}, []],
    ['no equality', { matchExpressions: [expression('a', 'Exists'), expression('b', 'NotIn', 'x')] }, []],
    ['one label', { matchLabels: { a: 'x' } }, ['a=x']],
    ['an empty value', { matchLabels: { a: '' } }, ['a=']],
    ['several labels: the first by key', { matchLabels: { b: 'y', a: 'x' } }, ['a=x']],
    ['several values', { matchExpressions: [expression('a', 'In', 'x', 'y')] }, ['a=x', 'a=y']],
    ['the same value twice', { matchExpressions: [expression('a', 'In', 'x', 'x'), expression('b', 'In', 'y', 'z')] }, ['a=x']],
    [
      'the requirement with the fewest values',
      { matchLabels: { c: 'z' }, matchExpressions: [expression('a', 'In', 'x', 'y'), expression('b', 'Exists')] },
      ['c=z'],
    ],
    ['an unknown operator', { matchLabels: { a: 'x' }, matchExpressions: [expression('b', 'Near', 'y')] }, []],
  ]
  for (const [what, selector, keys] of CASES) it(`of ${what}`, () => assert.deepEqual(equalityKeys(selector), keys))

  it('are the same for a parsed selector', () => {
    assert.deepEqual(equalityKeys(parseLabelSelector('b in (y,z),c==w,!a').value), ['c=w'])
    assert.deepEqual(equalityKeys(parseLabelSelector('b!=y,c>1').value), [])
  })

  it('are found by the labels of everything that the selector matches', () => {
    const key = fc.constantFrom('a', 'b', 'example.com/c', 'constructor')
    const value = fc.constantFrom('', 'x', 'y', 'z')
    const labels = fc.dictionary(key, value)
    const selector = fc.record(
      {
        matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
        matchExpressions: fc.array(
          fc.oneof(
            fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(value, { minLength: 1, maxLength: 3 }) }),
            fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
          ),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: [] },
    )
    let matched = 0
    fc.assert(
      fc.property(selector, labels, (object, own) => {
        const parsed = selectorFromObject(object).value
        assert.ok(parsed !== undefined)
        const keys = equalityKeys(object)
        assert.deepEqual(equalityKeys(parsed), keys)
        const hasEquality =
          Object.keys(object.matchLabels ?? {}).length > 0 || object.matchExpressions?.some((one) => one.operator === 'In')
        assert.equal(keys.length > 0, hasEquality === true)
        if (!matchesLabels(parsed, own)) return
        matched++
        const found = labelKeys(own)
        assert.ok(keys.length === 0 || keys.some((one) => found.includes(one)), `${JSON.stringify(object)} matches ${JSON.stringify(own)}`)
      }),
      { numRuns: 2000 },
    )
    assert.ok(matched > 50, `only ${matched} matches were tried`)
  })
})
