import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { fieldElement, keyElement, valueElement } from './element.ts'
import {
  difference,
  equalSets,
  type FieldSet,
  fieldSetOf,
  hasPath,
  intersection,
  leaves,
  pathsOf,
  recursiveDifference,
  union,
} from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.ts'
import { ShapeError } from './shape-error.ts'

const scalar = fc.oneof(fc.constantFrom('a', 'b', '<&>', 'é', '😀', '\uffee', '"\\', '\b'), fc.integer({ min: -2, max: 2 }), fc.boolean())
const name = fc.constantFrom('a', 'b', 'c.d', '__proto__', 'constructor', '😀', '\uffee', '')
const element = fc.oneof(
  { weight: 4, arbitrary: name.map(fieldElement) },
  { weight: 2, arbitrary: scalar.map((value) => keyElement([['k', value]])) },
  {
    weight: 1,
    arbitrary: fc.tuple(scalar, scalar).map(([a, b]) =>
      keyElement([
        ['a', a],
        ['b', b],
      ]),
    ),
  },
  { weight: 2, arbitrary: scalar.map(valueElement) },
  { weight: 1, arbitrary: fc.nat(12).map((i) => `i:${i}`) },
)
const path = fc.array(element, { minLength: 1, maxLength: 4 })
const paths = fc.array(path, { maxLength: 12 })

const textOf = (p: readonly string[]): string => JSON.stringify(p)
const texts = (set: FieldSet): string[] => pathsOf(set).map(textOf)
const isBelow = (longer: readonly string[], shorter: readonly string[]): boolean =>
  longer.length > shorter.length && shorter.every((part, i) => longer[i] === part)

describe('field sets', () => {
  it('hold exactly the paths they are made of', () => {
    fc.assert(
      fc.property(paths, path, (members, other) => {
        const set = fieldSetOf(...members)
        assert.deepEqual(new Set(texts(set)), new Set(members.map(textOf)))
        assert.equal(
          hasPath(set, other),
          members.some((member) => textOf(member) === textOf(other)),
        )
      }),
    )
  })

  it('follow the algebra of sets of paths', () => {
    fc.assert(
      fc.property(paths, paths, (x, y) => {
        const [a, b] = [fieldSetOf(...x), fieldSetOf(...y)]
        const [left, right] = [new Set(x.map(textOf)), new Set(y.map(textOf))]
        const before = [texts(a), texts(b)]
        assert.deepEqual(new Set(texts(union(a, b))), new Set([...left, ...right]))
        assert.deepEqual(new Set(texts(intersection(a, b))), new Set([...left].filter((p) => right.has(p))))
        assert.deepEqual(new Set(texts(difference(a, b))), new Set([...left].filter((p) => !right.has(p))))
        const beyond = x.filter((p) => !right.has(textOf(p)) && !y.some((q) => isBelow(p, q)))
        assert.deepEqual(new Set(texts(recursiveDifference(a, b))), new Set(beyond.map(textOf)))
        assert.deepEqual(new Set(texts(leaves(a))), new Set(x.filter((p) => !x.some((q) => isBelow(q, p))).map(textOf)))
        assert.equal(equalSets(a, b), left.size === right.size && [...left].every((p) => right.has(p)))
        assert.deepEqual([texts(a), texts(b)], before, 'arguments are left alone')
      }),
    )
  })

  it('survive FieldsV1, whatever the order of its keys', () => {
    fc.assert(
      fc.property(paths, (members) => {
        const set = fieldSetOf(...members)
        const encoded = encodeFieldsV1(set)
        const sent: unknown = JSON.parse(JSON.stringify(encoded))
        assert.ok(equalSets(decodeFieldsV1(sent), set))
        assert.ok(equalSets(decodeFieldsV1(sent, true), set))
        assert.ok(equalSets(decodeFieldsV1(reversed(sent)), set))
        assert.equal(JSON.stringify(encodeFieldsV1(decodeFieldsV1(reversed(sent)))), JSON.stringify(encoded))
      }),
    )
  })

  it('are written in the order of the real server', () => {
    const set = fieldSetOf(
      ['i:10'],
      ['i:9'],
      ['v:"b"'],
      ['v:true'],
      ['v:2'],
      ['v:10'],
      ['v:null'],
      ['k:{"b":"x"}'],
      ['k:{"a":2}'],
      ['k:{"a":10}'],
      ['k:{"a":"x"}'],
      ['k:{"a":2,"b":1}'],
      ['f:b', 'f:x'],
      ['f:b'],
      ['f:a.b'],
      ['f:B'],
      ['f:\uffee'],
      ['f:😀'],
    )
    assert.deepEqual(Object.keys(encodeFieldsV1(set)), [
      'f:B',
      'f:a.b',
      'f:b',
      'f:\uffee',
      'f:😀',
      'k:{"a":2}',
      'k:{"a":2,"b":1}',
      'k:{"a":10}',
      'k:{"a":"x"}',
      'k:{"b":"x"}',
      'v:2',
      'v:10',
      'v:"b"',
      'v:true',
      'v:null',
      'i:9',
      'i:10',
    ])
    assert.deepEqual(encodeFieldsV1(set)['f:b'], { '.': {}, 'f:x': {} })
  })

  it('read keys in canonical form and drop kinds that are not known', () => {
    const set = decodeFieldsV1({ 'f:l': { 'k:{ "b": 1.0, "a":"x" }': { '.': {} }, 'v: "y"': {}, 'z:new': {}, 'i:07': null } })
    assert.deepEqual(encodeFieldsV1(set), { 'f:l': { 'k:{"a":"x","b":1}': {}, 'v:"y"': {}, 'i:7': {} } })
    assert.deepEqual(encodeFieldsV1(decodeFieldsV1({ 'z:new': {} })), {})
    assert.deepEqual(encodeFieldsV1(decodeFieldsV1(null)), {})
  })

  it('refuse what is no set', () => {
    let deep: unknown = {}
    for (let i = 0; i < 100_000; i++) deep = { 'f:a': deep }
    const bad = [
      5,
      'x',
      [],
      { a: {} },
      { ab: {} },
      { f: {} },
      { 'f:a': 5 },
      { 'f:a': [] },
      { 'k:[1]': {} },
      { 'k:{': {} },
      { 'v:': {} },
      { 'v:1 2': {} },
    ]
    for (const fields of [...bad, { 'i:x': {} }, { 'i:1e3': {} }, { '': {} }, deep]) {
      assert.throws(() => decodeFieldsV1(fields), ShapeError)
    }
  })

  it('read anything without harm', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          encodeFieldsV1(decodeFieldsV1(value))
        } catch (error) {
          assert.ok(error instanceof ShapeError)
        }
        assert.equal(Object.getPrototypeOf({}), Object.prototype)
      }),
    )
  })
})

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, reversed(inner)] as const)
  return Object.fromEntries(entries.reverse())
}
