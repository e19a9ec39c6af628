import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { unifiedDiff } from './unified-diff.ts'

/** Applies the hunks of a diff without regard to what surrounds them. */
function applied(before: string, diff: string): string {
  const source = before.split('\n').map((line) => `${line}\n`)
  const out: string[] = []
  let at = 0
  for (const hunk of diff.split(/^(?=@@ )/m).filter((part) => part !== '')) {
    const [head = '', ...lines] = hunk.split(/(?<=\n)/)
    const [, start = '0', count = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(head) ?? []
    const first = count === '0' ? Number(start) : Number(start) - 1
    out.push(...source.slice(at, first))
    at = first
    for (const line of lines) {
      if (line.startsWith('+')) out.push(line.slice(1))
      else {
        assert.equal(line.slice(1), source[at])
        if (line.startsWith(' ')) out.push(line.slice(1))
        at++
      }
    }
  }
  return [...out, ...source.slice(at)].join('').slice(0, -1)
}

describe('unified diff', () => {
  it('shows three lines around each change', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh'
    assert.equal(unifiedDiff(before, before.replace('e', 'E')), '@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n')
  })

  it('says nothing about equal texts', () => {
    assert.equal(unifiedDiff('a\nb', 'a\nb'), '')
  })

  it('separates changes that are far apart', () => {
    const lines = Array.from({ length: 20 }, (_, i) => String(i))
    const changed = lines.with(1, 'x').with(18, 'y')
    assert.equal(unifiedDiff(lines.join('\n'), changed.join('\n')).match(/^@@/gm)?.length, 2)
  })

  it('leads from one text to the other', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'c', '{', '}', ''), { maxLength: 60 }).map((lines) => lines.join('\n'))
    fc.assert(fc.property(texts, texts, (before, after) => assert.equal(applied(before, unifiedDiff(before, after)), after)))
  })

  it('does not compare what is too long', () => {
    assert.match(unifiedDiff('x\n'.repeat(30_000), 'y\n'.repeat(30_000)), /too long to compare/)
  })
})
