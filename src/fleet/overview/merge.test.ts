import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { merged, paged } from './merge.ts'

async function* chunks<T>(items: readonly T[], size: number): AsyncGenerator<T[]> {
  for (let at = 0; at < items.length; at += size) {
    yield []
    yield items.slice(at, at + size)
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('lists merged', () => {
  it('are one list in order, with nothing lost, whatever their pages', async () => {
    const list = fc.array(fc.integer({ min: 0, max: 20 })).map((items) => items.sort((a, b) => a - b))
    await fc.assert(
      fc.asyncProperty(fc.array(list, { maxLength: 6 }), fc.integer({ min: 1, max: 4 }), async (lists, size) => {
        const sources = lists.map((items, source) =>
          chunks(
            items.map((value) => ({ value, source })),
            size,
          ),
        )
        const found = await all(merged(sources, (a, b) => a.value - b.value))
        const expected = lists.flatMap((items, source) => items.map((value) => ({ value, source })))
        assert.deepEqual(
          found,
          expected.sort((a, b) => a.value - b.value || a.source - b.source),
        )
      }),
    )
  })

  it('are left when nobody wants more', async () => {
    let isLeft = false
    async function* endless(): AsyncGenerator<number[]> {
      try {
        for (let i = 0; ; i++) yield [i]
      } finally {
        isLeft = true
      }
    }
    for await (const item of merged([endless()], (a, b) => a - b)) if (item === 3) break
    assert.equal(isLeft, true)
  })
})

describe('pages', () => {
  it('are asked for one ahead and no further', async () => {
    const asked: (string | undefined)[] = []
    const pages = paged(async (token) => {
      asked.push(token)
      const at = Number(token ?? 0)
      return { items: [at], next: at < 3 ? String(at + 1) : undefined }
    })
    assert.deepEqual((await pages.next()).value, [0])
    assert.deepEqual(asked, [undefined, '1'])
    assert.deepEqual(await all(pages), [[1], [2], [3]])
    assert.deepEqual(asked, [undefined, '1', '2', '3'])
  })

  it('that fail are heard of in their turn', async () => {
    const pages = paged(async (token) => {
      if (token !== undefined) throw new Error('gone')
      return { items: [1], next: 'x' }
    })
    assert.deepEqual((await pages.next()).value, [1])
    await assert.rejects(pages.next(), /gone/)
  })
})
