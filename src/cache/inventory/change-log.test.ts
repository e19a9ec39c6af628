import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createChangeLog } from './change-log.ts'

describe('the log of changes', () => {
  it('forgets the oldest steps, and says so', () => {
    const log = createChangeLog(10, 5)
    log.add(['a', 'b'])
    log.add(['b', 'c'])
    assert.deepEqual([...(log.since(10) ?? [])].sort(), ['a', 'b', 'c'])
    log.add(['d', 'e'])
    assert.equal(log.since(10), undefined)
    assert.deepEqual([...(log.since(11) ?? [])].sort(), ['b', 'c', 'd', 'e'])
    for (let i = 0; i < 20; i++) log.add([])
    assert.equal(log.since(13), undefined)
    assert.deepEqual([...(log.since(log.revision - 3) ?? [])], [])
    assert.equal(log.since(log.revision + 1), undefined)
  })
})
