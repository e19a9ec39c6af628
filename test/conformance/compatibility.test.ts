import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkDocument, writeDocument } from './compatibility.ts'
import type { Case } from './replay/run-all.ts'

const DOCUMENT =
  '# Title\n\n## Recorded cases that differ\n\n| sequence | case | why |\n|---|---|---|\n| g/s | one | because a|b |\n| g/s | gone | old |\n\n## After\n\ntext\n'

const recorded = (name: string, differences: string[], apart?: Case['apart']): Case => ({
  group: 'g',
  sequence: 'g/s',
  name,
  step: { seq: 'g/s' },
  differences,
  apart,
})

const CASES = [recorded('one', ['x']), recorded('two', ['y']), recorded('gone', []), recorded('cel', ['z'], 'needs CEL')]

describe('the list of cases that differ', () => {
  it('must explain every difference and name no other', () => {
    assert.deepEqual(checkDocument(DOCUMENT, CASES), [
      'g/s two differs and no reason is given',
      'g/s gone is listed as different but is answered as recorded',
    ])
  })

  it('is written with the reasons that were there, and the rest of the document stays', () => {
    const written = writeDocument(DOCUMENT, CASES)
    assert.match(written, /\| g\/s \| one \| because a\|b \|\n\| g\/s \| two \| {2}\|\n\n## After\n\ntext\n$/)
    assert.deepEqual(checkDocument(written, CASES), ['g/s two differs and no reason is given'])
    assert.equal(writeDocument(written, CASES), written)
  })

  it('says so when nothing differs', () => {
    const written = writeDocument(DOCUMENT, [recorded('one', [])])
    assert.match(written, /differ\n\nNone\.\n\n## After/)
    assert.deepEqual(checkDocument(written, [recorded('one', [])]), [])
  })
})
