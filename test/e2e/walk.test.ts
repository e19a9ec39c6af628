import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { difference, stepsOf } from './walk.ts'

describe('a walk-through', () => {
  it('is its commands, with what they print', () => {
    const text = '# T\n\n```bash\na\nb\n```\n\ntext\n\n```bash\nc\n```\n\n```text\nd\n```\n'
    assert.deepEqual(stepsOf(text), [
      { line: 4, commands: 'a\nb' },
      { line: 11, commands: 'c', expected: 'd' },
    ])
  })

  it('with a block that nobody would check is refused', () => {
    for (const text of ['```yaml\na: 1\n```\n', '```text\nfirst\n```\n', '```bash\nnever ends\n'])
      assert.throws(() => stepsOf(text), /^Error: line 2: /)
  })

  const cases: [string, string, string, RegExp | undefined][] = [
    ['the same', 'a  b\nc', 'a b\nc\n', undefined],
    ['anything in a line', 'web-… Running …', 'web-x-1   Running   3s', undefined],
    ['anything between lines', 'a\n…\nd', 'a\nb\nc\nd', undefined],
    ['any lines at the end', 'a\n…', 'a\nb', undefined],
    ['no lines where any may be', 'a\n…\nb', 'a\nb', undefined],
    ['another line', 'a\nb', 'a\nc', /expected "b", found "c"/],
    ['less', 'a\nb', 'a', /expected "b", and there is nothing more/],
    ['more', 'a', 'a\nb', /more than expected: "b"/],
    ['signs of patterns', 'a.c', 'abc', /expected "a\.c"/],
  ]
  for (const [name, expected, printed, says] of cases)
    it(`${name} is told`, () => {
      const found = difference(expected, printed)
      if (says === undefined) assert.equal(found, undefined)
      else assert.match(found ?? '', says)
    })
})
