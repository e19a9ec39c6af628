import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { yamlDepth } from './yaml-depth.ts'
import { parseYamlText } from './yaml-text.ts'

describe('the depth of a YAML text', () => {
  for (const [text, depth] of [
    ['a: 1\n', 1],
    ['a:\n  b:\n    c: 1\nd: 2\n', 3],
    ['- - - x\n', 4],
    ['a:\n- b: 1\n- c: [1, {d: 2}]\n', 4],
    ['{"a": [1, 2], "b": {"c": []}}', 4],
    ['', 0],
  ] as const)
    it(`is counted as ${depth} for ${JSON.stringify(text)}`, () => assert.equal(yamlDepth(text, 1000), depth))

  for (const [title, text] of Object.entries({
    'sequences on one line': `${'- '.repeat(100_000)}x`,
    'keys on one line': `${'? '.repeat(100_000)}x`,
    'open brackets': '['.repeat(100_000),
    'open braces': '{"a":'.repeat(100_000),
    'ever more indentation': Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
  }))
    it(`refuses ${title} before they fill the stack`, () => {
      assert.throws(() => parseYamlText(text), { name: 'YamlTextError', message: /^yaml: exceeded max depth of \d+$/ })
    })

  it('lets everyday depth through', () => {
    const text = `${Array.from({ length: 200 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')} x\n`
    let value: unknown = parseYamlText(text).value
    for (let i = 0; i < 200; i++) value = (value as { a: unknown }).a
    assert.equal(value, 'x')
  })
})
