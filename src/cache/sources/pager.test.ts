import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPager, type Found } from './pager.ts'
import { SourceRefused } from './source.ts'
import { listAll, namesOf, never } from './testing.ts'

async function* endless(): AsyncGenerator<Found, void> {
  for (let i = 0; ; i++) yield { file: { path: `d/${i}`, size: 1 } }
}

describe('pages of a listing', () => {
  it('end an endless one', async () => {
    const few = createPager(endless, { perPage: 10, files: 95, nameBytes: 1e6 })
    await assert.rejects(listAll(few), (error) => error instanceof SourceRefused && /more than 95 files/.test(error.message))
    const short = createPager(endless, { perPage: 10, files: 1000, nameBytes: 50 })
    await assert.rejects(listAll(short), /more than 50 bytes/)
  })

  it('leave out what no file can be made of, count it, and name a few', async () => {
    const pager = createPager(async function* () {
      for (const size of [-1, 0.5, Number.NaN, 2 ** 60]) yield { file: { path: 'f', size } }
      yield { file: { path: '../x', size: 1 } }
      yield { file: { path: 'good', size: 1 } }
      for (let i = 0; i < 30; i++) yield { refused: `bad${i}` }
    })
    const listing = await listAll(pager)
    assert.deepEqual([namesOf(listing), listing.refusedCount, listing.refused.length], [['good'], 35, 10])
  })

  it('end also when nothing on them is good', async () => {
    const pager = createPager(
      async function* () {
        for (;;) yield { refused: 'bad' }
      },
      { perPage: 10, files: 100, nameBytes: 1e6 },
    )
    assert.equal((await pager.list(undefined, never())).refusedCount, 10)
    await assert.rejects(listAll(pager), SourceRefused)
  })

  it('end the walk with an error, an abort, or close', async () => {
    const ended: string[] = []
    const walk = (name: string) =>
      async function* (): AsyncGenerator<Found, void> {
        try {
          yield* endless()
        } finally {
          ended.push(name)
        }
      }
    const closed = createPager(walk('closed'), { perPage: 2, files: 10, nameBytes: 100 })
    await closed.list(undefined, never())
    await closed.close()
    await assert.rejects(listAll(createPager(walk('bound'), { perPage: 2, files: 10, nameBytes: 100 })))
    const abort = new AbortController()
    const aborted = createPager(walk('aborted'), { perPage: 2, files: 10, nameBytes: 100 })
    const { cursor } = await aborted.list(undefined, abort.signal)
    const second = new AbortController()
    const page = aborted.list(cursor, second.signal)
    second.abort()
    await assert.rejects(page, { name: 'AbortError' })
    assert.deepEqual(ended, ['closed', 'bound', 'aborted'])
  })
})
