import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Schema } from '../schema.ts'
import { compareTyped } from './compare.ts'
import { printPath } from './element.ts'
import { type FieldSet, fieldSetOf, pathsOf } from './field-set.ts'
import { mergeTyped } from './merge.ts'
import { removePaths } from './remove.ts'
import { reconcileWithType, withDeclaredFields } from './set-and-type.ts'
import { ShapeError } from './shape-error.ts'
import { toFieldSet } from './to-field-set.ts'
import { rootAtom, zeroObject } from './types.ts'
import { validateTyped } from './validate.ts'

const set: Schema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }
const keyed: Schema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['port', 'protocol'],
  items: {
    type: 'object',
    properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: { type: 'string' } },
  },
}
const schema: Schema = {
  type: 'object',
  properties: {
    set,
    keyed,
    list: { type: 'array', items: { type: 'string' } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
    struct: { type: 'object', properties: { a: { type: 'string' }, n: { type: 'integer' }, b: { type: 'boolean' } } },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
    self: {},
  },
}
if (schema.properties !== undefined) schema.properties.self = schema

const atom = rootAtom(schema)
const printed = (found: FieldSet): string[] => pathsOf(found).map(printPath)

describe('merging', () => {
  const lists: [string, string[], string[], string[]][] = [
    ['appends what is new', ['a'], ['b'], ['a', 'b']],
    ['keeps what is there', ['a', 'b'], ['a'], ['a', 'b']],
    ['takes the order that is applied', ['a', 'b', 'c'], ['c', 'a'], ['b', 'c', 'a']],
    ['puts new items before the shared one they precede', ['a', 'c'], ['b', 'c'], ['a', 'b', 'c']],
    ['reverses', ['1', '2', '3'], ['3', '2', '1'], ['3', '2', '1']],
    ['drops no duplicates of the live list', ['x', 'x'], ['y'], ['x', 'x', 'y']],
    ['makes one of duplicates that are applied', ['x', 'x'], ['x'], ['x']],
  ]
  for (const [what, live, applied, expected] of lists) {
    it(`${what} in a set`, () => assert.deepEqual(mergeTyped({ set: live }, { set: applied }, atom), { set: expected }))
  }

  it('finds items by keys and their defaults', () => {
    const live = {
      keyed: [
        { port: 1, protocol: 'TCP', name: 'x' },
        { port: 1, protocol: 'UDP' },
      ],
    }
    assert.deepEqual(mergeTyped(live, { keyed: [{ port: 1, name: 'y' }] }, atom), {
      keyed: [
        { port: 1, protocol: 'TCP', name: 'y' },
        { port: 1, protocol: 'UDP' },
      ],
    })
  })

  it('replaces atomic values, and lists of what has no type', () => {
    const live = { list: ['a'], whole: { a: '1' }, free: { l: [1], m: { x: 1 } } }
    const applied = { list: ['b'], whole: {}, free: { l: [2], m: { y: 2 } } }
    assert.deepEqual(mergeTyped(live, applied, atom), { list: ['b'], whole: {}, free: { l: [2], m: { x: 1, y: 2 } } })
  })

  it('keeps keys that look like the prototype as ordinary ones', () => {
    const applied = JSON.parse('{"map":{"__proto__":"a","constructor":"b"}}') as Record<string, unknown>
    const merged = mergeTyped({ map: { c: 'd' } }, applied, atom)
    assert.equal(JSON.stringify(merged), '{"map":{"c":"d","__proto__":"a","constructor":"b"}}')
    assert.deepEqual(printed(toFieldSet(merged, atom)), ['.map.__proto__', '.map.c', '.map.constructor'])
  })
})

describe('comparing', () => {
  it('tells what came, went and changed', () => {
    const before = { set: ['a', 'b'], map: { x: '1', y: '2' }, struct: { a: 'x' }, list: ['1'] }
    const after = { set: ['b', 'c'], map: { x: '2' }, struct: { n: 1 }, list: ['2'], keyed: [{ port: 1 }] }
    const { added, modified, removed } = compareTyped(before, after, atom)
    assert.deepEqual(printed(added), [
      '.keyed',
      '.keyed[port=1,protocol="TCP"]',
      '.keyed[port=1,protocol="TCP"].port',
      '.set[="c"]',
      '.struct.n',
    ])
    assert.deepEqual(printed(modified), ['.list', '.map.x'])
    assert.deepEqual(printed(removed), ['.map.y', '.set[="a"]', '.struct.a'])
  })

  it('treats items that share a key as one thing', () => {
    const one = { keyed: [{ port: 1, name: 'a' }] }
    const two = {
      keyed: [
        { port: 1, name: 'a' },
        { port: 1, name: 'b' },
      ],
    }
    assert.deepEqual(printed(compareTyped(one, two, atom).added), ['.keyed[port=1,protocol="TCP"]'])
    assert.deepEqual(printed(compareTyped(two, one, atom).removed), ['.keyed[port=1,protocol="TCP"]'])
    const other = {
      keyed: [
        { port: 1, name: 'a' },
        { port: 1, name: 'c' },
      ],
    }
    assert.deepEqual(printed(compareTyped(two, other, atom).modified), ['.keyed[port=1,protocol="TCP"]'])
  })

  it('gives up on values that are too deep instead of overflowing', () => {
    let deep: unknown = 1
    for (let i = 0; i < 5000; i++) deep = { a: deep }
    assert.throws(() => compareTyped({ free: {} }, { free: deep }, atom), ShapeError)
    assert.throws(() => validateTyped({ free: deep }, atom, true), ShapeError)
  })
})

describe('validating', () => {
  const failures: [unknown, string][] = [
    [{ bogus: 1 }, '.bogus: field not declared in schema'],
    [{ self: { self: { bogus: 1 } } }, '.self.self.bogus: field not declared in schema'],
    [{ struct: { n: 'x' } }, '.struct.n: expected numeric (int or float), got string'],
    [{ struct: { a: 1 } }, '.struct.a: expected string, got &value.valueUnstructured{Value:1}'],
    [{ struct: { b: 'yes' } }, '.struct.b: expected boolean, got &{yes}'],
    [{ struct: [1, 'a'] }, '.struct: expected map, got &{[1 a]}'],
    [{ list: { b: 1, a: null } }, '.list: expected list, got &{map[a:<nil> b:1]}'],
    [{ list: ['a', 1] }, '.list[1]: expected string, got &value.valueUnstructured{Value:1}'],
    [{ set: ['a', 'a'] }, '.set: duplicate entries for key [="a"]'],
    [{ set: [null] }, ".set: element 0: associative list without keys has an element that's an explicit null"],
    [{ set: [{}] }, ".set: element 0: associative list without keys has an element that's a map type"],
    [{ keyed: [{ port: 1 }, { port: 1, protocol: 'TCP' }] }, '.keyed: duplicate entries for key [port=1,protocol="TCP"]'],
    [{ keyed: ['x'] }, '.keyed: element 0: associative list with keys may not have non-map elements'],
    [{ keyed: [null] }, '.keyed: element 0: associative list with keys may not have a null element'],
    [
      { struct: { n: 'x', a: 1 } },
      'errors:\n  .struct.n: expected numeric (int or float), got string\n  .struct.a: expected string, got &value.valueUnstructured{Value:1}',
    ],
  ]
  for (const [value, message] of failures) {
    it(message, () => assert.throws(() => validateTyped(value, atom, false), { message }))
  }
  it('accepts null anywhere, and duplicates where they are allowed', () => {
    validateTyped({ set: null, struct: { a: null }, map: null, free: null }, atom, false)
    validateTyped({ set: ['a', 'a'] }, atom, true)
  })
})

describe('sets and types', () => {
  it('remove paths, and containers that lost everything become null', () => {
    const value = { set: ['a', 'b'], map: { x: '1' }, struct: { a: 'x', n: 1 }, list: ['1'] }
    const paths = fieldSetOf(['f:set', 'v:"a"'], ['f:map', 'f:x'], ['f:struct', 'f:a'], ['f:list', 'i:0'])
    assert.deepEqual(removePaths(value, paths, atom), { set: ['b'], map: null, struct: { n: 1 }, list: null })
  })

  it('imply the declared fields that they reach into', () => {
    const found = withDeclaredFields(fieldSetOf(['f:struct', 'f:a'], ['f:self', 'f:map', 'f:x']), atom)
    assert.deepEqual(printed(found), ['.self', '.struct', '.self.map', '.self.map.x', '.struct.a'])
  })

  it('follow a type from granular to atomic', () => {
    const found = reconcileWithType(fieldSetOf(['f:whole', 'f:a'], ['f:list', 'i:0'], ['f:set', 'v:"a"'], ['f:free', 'f:x']), atom)
    assert.deepEqual(printed(found), ['.list', '.whole', '.free.x', '.set[="a"]'])
    const same = fieldSetOf(['f:whole'], ['f:map', 'f:x'])
    assert.equal(reconcileWithType(same, atom), same)
  })

  it('start a built-in kind from its zero value and a custom kind from nothing', () => {
    const spec: Schema = { type: 'object', definition: 'io.x.Spec', default: {}, required: ['items', 'size'], properties: {} }
    spec.properties = {
      items: { type: 'array' },
      size: { type: 'integer', default: 0 },
      note: { type: 'string' },
      kind: { type: 'string', default: 'TCP' },
    }
    const root: Schema = { type: 'object', definition: 'io.x.Thing', properties: { spec } }
    assert.deepEqual(zeroObject(root, 'x/v1', 'Thing'), { apiVersion: 'x/v1', kind: 'Thing', metadata: {}, spec: { items: null, size: 0 } })
    const { definition: _d, ...custom } = root
    assert.deepEqual(zeroObject(custom, 'x/v1', 'Thing'), { apiVersion: 'x/v1', kind: 'Thing', metadata: {} })
  })
})
