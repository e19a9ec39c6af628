import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { findCondition, isConditionTrue, setCondition } from './conditions.ts'
import { compileJsonPath, jsonPathText } from './json-path.ts'

const OBJECT = {
  metadata: { labels: { 'a.b': 'dotted', 'x/y': 'slashed' } },
  spec: { replicas: 3, list: ['p', 'q', 'r'], nothing: null, deep: { b: 1, a: '<x>' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', rank: 1 },
      { type: 'Other', status: 'False', rank: 2 },
    ],
  },
}

const find = (expression: string, data: unknown = OBJECT): unknown[] => {
  const path = compileJsonPath(expression)
  assert.equal(path.error, undefined)
  return path.value?.(data) ?? []
}

describe('JSONPath', () => {
  const FOUND: [string, unknown[]][] = [
    ['.spec.replicas', [3]],
    ['.spec.missing.deeper', []],
    ['.spec.nothing', [null]],
    ['.spec.list[0]', ['p']],
    ['.spec.list[-1]', ['r']],
    ['.spec.list[9]', []],
    ['.spec.list[0:2]', ['p', 'q']],
    ['.spec.list[*]', ['p', 'q', 'r']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Other')].status", ['False']],
    ['.status.conditions[?(@.type=="None")].status', []],
    ['.status.conditions[?(@.rank>1)].type', ['Other']],
    ['.status.conditions[?(@.rank=="1")].type', []],
    ['.status.conditions[*].type', ['Ready', 'Other']],
    [".metadata.labels['a\\.b']", ['dotted']],
    ['.metadata.labels.a\\.b', ['dotted']],
    [".metadata.labels['x/y']", ['slashed']],
    ['.constructor', []],
    ['.__proto__', []],
    ['..rank', [1, 2]],
  ]
  for (const [expression, values] of FOUND) it(`finds ${expression}`, () => assert.deepEqual(find(expression), values))

  const REFUSED: [string, string][] = [
    ['.a[', 'unterminated array'],
    ['.a[x]', 'invalid array index x'],
    ['.a[?(@.b=="c"', 'unterminated filter'],
    ['#', "unrecognized character in action: U+0023 '#'"],
    ['"a', 'unterminated quoted string'],
  ]
  for (const [expression, message] of REFUSED) it(`refuses ${expression}`, () => assert.equal(compileJsonPath(expression).error, message))

  it('prints values as a column shows them', () => {
    assert.equal(jsonPathText(find('.spec.deep')[0]), '{"a":"\\u003cx\\u003e","b":1}')
    assert.equal(jsonPathText(3), '3')
    assert.equal(jsonPathText(true), 'true')
    assert.equal(jsonPathText(null), '<no value>')
  })

  it('neither throws nor runs away, whatever it is given', () => {
    const piece = fc.constantFrom('.', 'a', '[', ']', '[?(', ')]', '@', '*', '..', "'", '"', ':', '-', '1', ',', '==', '\\', ' ', '}')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.jsonValue({ maxDepth: 4 }), (pieces, data) => {
        const path = compileJsonPath(pieces.join(''))
        assert.ok(path.error !== undefined || Array.isArray(path.value(data)))
      }),
      { numRuns: 500 },
    )
  })
})

describe('conditions', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Up', lastTransitionTime: '2024-01-01T00:00:00Z' }
  it('keeps the transition time while the status stays', () => {
    const list = setCondition([ready], { type: 'Ready', status: 'True', reason: 'StillUp' }, '2025-01-01T00:00:00Z')
    assert.deepEqual(list, [{ ...ready, reason: 'StillUp' }])
  })
  it('moves it when the status changes, and leaves the others alone', () => {
    const other = { type: 'Other', status: 'False' }
    const list = setCondition([ready, other], { type: 'Ready', status: 'False' }, '2025-01-01T00:00:00Z')
    assert.deepEqual(findCondition(list, 'Ready'), { type: 'Ready', status: 'False', lastTransitionTime: '2025-01-01T00:00:00Z' })
    assert.equal(list[1], other)
    assert.ok(!isConditionTrue(list, 'Ready'))
  })
  it('adds one that was not there', () => {
    assert.equal(setCondition(undefined, { type: 'Ready', status: 'True' }, '2025-01-01T00:00:00Z').length, 1)
  })
})
