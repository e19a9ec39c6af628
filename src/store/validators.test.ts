import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type RecordedEvent, validateWatch, type WatchRecord, watchValidators } from './validators.ts'

const created: RecordedEvent = { revision: 2, key: 'pods/a', type: 'put', value: 'a1', createRevision: 2, previous: undefined }
const other: RecordedEvent = { revision: 3, key: 'nodes/n', type: 'put', value: 'n1', createRevision: 3, previous: undefined }
const updated: RecordedEvent = {
  revision: 4,
  key: 'pods/a',
  type: 'put',
  value: 'a2',
  createRevision: 2,
  previous: { revision: 2, value: 'a1' },
}
const deleted: RecordedEvent = {
  revision: 5,
  key: 'pods/a',
  type: 'delete',
  value: 'a2',
  createRevision: 2,
  previous: { revision: 4, value: 'a2' },
}
const reborn: RecordedEvent = { revision: 6, key: 'pods/a', type: 'put', value: 'a3', createRevision: 6, previous: undefined }
const history = [created, other, updated, deleted, reborn]

function watch(entries: (RecordedEvent | number)[], after = 1): WatchRecord {
  return { prefix: 'pods/', after, entries: entries.map((e) => (typeof e === 'number' ? { bookmark: e } : { event: e })) }
}

describe('watch validators', () => {
  it('pass a true record, whole or cut anywhere', () => {
    const whole = [created, 3, updated, deleted, 5, reborn, 6]
    for (let length = 0; length <= whole.length; length++) assert.deepEqual(validateWatch(watch(whole.slice(0, length)), history), [])
    assert.deepEqual(validateWatch(watch([deleted, reborn], 4), history), [])
  })

  const planted: [keyof typeof watchValidators, WatchRecord][] = [
    ['filter', watch([created, other, updated])],
    ['filter', watch([updated], 4)],
    ['ordered', watch([created, deleted, updated])],
    ['unique', watch([created, created])],
    ['atomic', watch([created, { ...updated, value: 'else' }])],
    ['atomic', watch([created, { ...updated, revision: 7 }])],
    ['bookmarkable', watch([created, 4])],
    ['bookmarkable', watch([4, updated], 2)],
    ['bookmarkable', watch([created, 3, 2])],
    ['resumable', watch([updated])],
    ['reliable', watch([created, deleted])],
    ['previousValue', watch([created, { ...updated, previous: undefined }])],
    ['previousValue', watch([created, updated, deleted, { ...reborn, previous: { revision: 5, value: 'a2' } }])],
    ['isCreate', watch([created, { ...updated, createRevision: 4 }])],
    ['isCreate', watch([created, updated, deleted, { ...reborn, createRevision: 2 }])],
  ]
  for (const [title, record] of planted) {
    it(`${title} finds what is planted for it`, () => {
      assert.notDeepEqual(watchValidators[title]?.(record, history), [])
    })
  }
})
