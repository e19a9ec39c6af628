import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { semanticEqual } from './semantic.ts'

describe('semantic equality', () => {
  const table: [name: string, a: unknown, b: unknown, expected: boolean][] = [
    ['an empty list is an unset one', { command: [] }, {}, true],
    ['an empty map is an unset one', { labels: {} }, {}, true],
    ['a struct of nothing is an unset one', { resources: { limits: {} } }, {}, true],
    ['a set but empty pointer is not', { emptyDir: {} }, {}, false],
    ['quantities are numbers', { limits: { memory: '1Gi' } }, { limits: { memory: '1073741824' } }, true],
    ['other texts are texts', { image: '1Gi' }, { image: '1073741824' }, false],
    ['order matters in lists', { args: ['a', 'b'] }, { args: ['b', 'a'] }, false],
    ['a key named __proto__ is a key', JSON.parse('{"a":{"__proto__":"x"}}'), { a: {} }, false],
  ]
  for (const [name, a, b, expected] of table) {
    it(name, () => {
      assert.equal(semanticEqual(a, b), expected)
      assert.equal(semanticEqual(b, a), expected)
    })
  }
})
