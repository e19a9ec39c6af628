import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepFreeze, type Json } from '../../base/json.ts'
import type { Schema } from '../schema.ts'
import { StatusError } from '../status.ts'
import { parseObjectPatch } from './decode.ts'
import { applyStrategicMergePatch, formatObjectPatch } from './strategic-merge-patch.ts'

const text: Schema = { type: 'string' }
const element: Schema = {
  type: 'object',
  definition: 'x.Item',
  properties: { name: text, value: text, tags: { type: 'array', items: text } },
}
const schema: Schema = {
  type: 'object',
  definition: 'x.Thing',
  properties: {
    items: { type: 'array', items: element, 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': 'name' },
    words: { type: 'array', items: text, 'x-kubernetes-patch-strategy': 'merge' },
    atomic: { type: 'array', items: element },
    labels: { type: 'object', additionalProperties: text },
    union: {
      type: 'object',
      'x-kubernetes-patch-strategy': 'retainKeys',
      properties: { type: text, a: { type: 'object', properties: { x: text } } },
    },
    whole: { type: 'object', 'x-kubernetes-patch-strategy': 'replace', properties: { x: text, y: text } },
  },
}

const apply = (document: Json, patch: unknown): Json =>
  applyStrategicMergePatch(deepFreeze(document), deepFreeze(parseObjectPatch(JSON.stringify(patch), 'strategic')), schema)

const items = (...names: string[]) => names.map((name) => ({ name }))

/** What Go's strategicpatch answers. */
const APPLIED: [string, Json, unknown, Json][] = [
  [
    'merges elements by key',
    { items: [{ name: 'a', value: '1' }] },
    { items: [{ name: 'a', tags: ['t'] }] },
    { items: [{ name: 'a', value: '1', tags: ['t'] }] },
  ],
  ['puts new elements first', { items: items('a', 'b') }, { items: items('c') }, { items: items('c', 'a', 'b') }],
  [
    'keeps the order of the server around the patch',
    { items: items('a', 'b', 'c') },
    { items: items('c', 'x') },
    { items: items('a', 'b', 'c', 'x') },
  ],
  ['deletes an element', { items: items('a', 'b') }, { items: [{ name: 'a', $patch: 'delete' }] }, { items: items('b') }],
  ['replaces a list', { items: items('a', 'b') }, { items: [{ $patch: 'replace' }, { name: 'c' }] }, { items: items('c') }],
  ['orders elements', { items: items('a', 'b', 'c') }, { '$setElementOrder/items': items('c', 'a') }, { items: items('b', 'c', 'a') }],
  [
    'orders what it merges',
    { items: items('a', 'b') },
    { '$setElementOrder/items': items('x', 'b', 'a'), items: items('x') },
    { items: items('x', 'b', 'a') },
  ],
  ['merges words as a set', { words: ['a', 'b'] }, { words: ['b', 'c'] }, { words: ['a', 'b', 'c'] }],
  ['deletes words', { words: ['a', 'b', 'c'] }, { '$deleteFromPrimitiveList/words': ['b', 'z'] }, { words: ['a', 'c'] }],
  ['replaces a list that is atomic', { atomic: items('a') }, { atomic: items('b') }, { atomic: items('b') }],
  ['merges maps and removes keys', { labels: { a: '1', b: '2' } }, { labels: { a: null, c: '3' } }, { labels: { b: '2', c: '3' } }],
  ['replaces a map', { labels: { a: '1' } }, { labels: { $patch: 'replace', b: '2' } }, { labels: { b: '2' } }],
  ['empties a map', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
  [
    'retains only the keys that are named',
    { union: { type: 'A', a: { x: '1' } } },
    { union: { $retainKeys: ['type'], type: 'B' } },
    { union: { type: 'B' } },
  ],
  ['replaces by strategy', { whole: { x: '1', y: '2' } }, { whole: { y: '3' } }, { whole: { y: '3' } }],
  [
    'drops nulls and directives of what is new',
    {},
    { union: { a: { x: null }, type: 'A' }, labels: { $patch: 'delete' } },
    { union: { a: {}, type: 'A' } },
  ],
  ['removes a field', { words: ['a'] }, { words: null }, {}],
]

const REFUSED: [string, Json, unknown, number, string][] = [
  [
    'an element without its key',
    { items: items('a') },
    { items: [{ value: '1' }] },
    500,
    'map: map[value:1] does not contain declared merge key: name',
  ],
  ['elements of several types', { words: ['a'] }, { words: [1] }, 500, 'list element types are not identical: [[a] [1]]'],
  [
    'a merge directive in a list',
    { items: items('a') },
    { items: [{ name: 'a', $patch: 'merge' }] },
    500,
    'merging lists cannot yet be specified in the patch',
  ],
  ['an unknown directive', { labels: { a: '1' } }, { labels: { $patch: 'zap' } }, 500, 'unknown patch type: zap in map: map[$patch:zap]'],
  [
    'keys that retainKeys does not name',
    { union: {} },
    { union: { $retainKeys: ['type'], a: {} } },
    400,
    'invalid patch format of retainKeys',
  ],
  ['retainKeys that is no list', { union: {} }, { union: { $retainKeys: 'type' } }, 400, 'invalid patch format of retainKeys'],
  ['a directive for a list without its name', {}, { $deleteFromPrimitiveList: ['a'] }, 400, 'invalid patch format of primitive list'],
  [
    'an order for an unknown list',
    {},
    { '$setElementOrder/zz': [] },
    500,
    'unable to find api field in struct Thing for the json field "zz"',
  ],
  [
    'an order that contradicts the patch',
    { items: items('a') },
    { '$setElementOrder/items': items('a'), items: [{ name: 'c', value: 'o' }] },
    500,
    "The order in patch list:\n[map[name:c value:o]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
  ],
]

describe('strategic merge patch', () => {
  for (const [what, document, patch, result] of APPLIED) it(what, () => assert.deepEqual(apply(document, patch), result))

  for (const [what, document, patch, code, message] of REFUSED)
    it(`refuses ${what}`, () =>
      assert.throws(
        () => apply(document, patch),
        (error: unknown) => error instanceof StatusError && error.code === code && error.message === message,
      ))

  it('never changes a prototype', () => {
    const result = applyStrategicMergePatch(
      { labels: {} },
      parseObjectPatch('{"__proto__":{"polluted":1},"labels":{"__proto__":"x"}}', 'strategic'),
      schema,
    )
    assert.equal(JSON.stringify(result), '{"labels":{"__proto__":"x"},"__proto__":{"polluted":1}}')
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })

  it('merges ten thousand elements without comparing all with all', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({ name: `n${i}` }))
    const result = apply({ items: many }, { items: many.map(({ name }) => ({ name, value: 'v' })) })
    assert.equal((result as { items: unknown[] }).items.length, 10_000)
  })

  it('is shown as Go prints a map', () => {
    assert.equal(formatObjectPatch(parseObjectPatch('{"b":[1,{"c":null}],"a":"x"}')), 'map[a:x b:[1 map[c:<nil>]]]')
  })
})
