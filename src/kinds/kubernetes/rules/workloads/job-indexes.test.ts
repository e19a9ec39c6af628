import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkIndexes, overlappingIndex } from './job-indexes.ts'

describe('indexes of a job', () => {
  it('are counted', () => {
    assert.equal(checkIndexes('', 5).value, 0)
    assert.equal(checkIndexes('0,2-4', 5).value, 4)
  })

  const refused: [text: string, error: string][] = [
    ['5', 'too large index: "5"'],
    ['x', 'cannot convert string to integer for index: "x"'],
    ['3-1', 'non-increasing order, previous: 3, current: 1'],
    ['1,0', 'non-increasing order, previous: 1, current: 0'],
    ['0-1-2', 'the fragment "0-1-2" violates the requirement that an index interval can have at most two parts separated by \'-\''],
  ]
  for (const [text, error] of refused) it(`refuses ${text}`, () => assert.equal(checkIndexes(text, 5).error, error))

  it('of two lists may not meet', () => {
    assert.equal(overlappingIndex('0-2,5', '3-4', 10), undefined)
    assert.equal(overlappingIndex('0-2,5', '1,7', 10), 1)
    assert.equal(overlappingIndex('', '1', 10), undefined)
    assert.equal(overlappingIndex('x,2', '2', 10), 2)
  })
})
