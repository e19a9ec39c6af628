import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bytesOf, Contents, sha256Of } from '../programs/contents.ts'
import { judgeReading, notNewest } from './reading.ts'

const SIZE = 100

/** Files with a first and, where it is said, a second content. */
function sources(twice: readonly string[] = []): Contents {
  const contents = new Contents()
  const put = (path: string): void => {
    const seed = contents.newSeed()
    contents.set(path, { seed, bytes: bytesOf(seed, SIZE), stamp: { etag: String(seed) } })
  }
  for (const path of ['/files/a', '/files/b', '/objects/c']) put(path)
  for (const path of twice) put(path)
  return contents
}

const line = (seed: number, path: string): string => `${sha256Of(bytesOf(seed, SIZE))}  .${path}`
const ALL = [line(1, '/files/a'), line(2, '/files/b'), line(3, '/objects/c')]
const FIRST = ['/files/a', '/files/b', '/objects/c']
const judged = (lines: readonly string[], contents = sources(), shows = '/') =>
  judgeReading(`${lines.join('\n')}\n`, { contents, first: FIRST, shows })

describe('what a reader printed', () => {
  it('is fine when every file has bytes that its source had', () => {
    const reading = judged([...ALL, 'passes 3'], sources(['/files/a']))
    assert.deepEqual(reading.problems, [])
    assert.deepEqual([reading.files.size, reading.bytes, reading.passes], [3, 300, 3])
  })

  const wrong: Record<string, { lines: string[]; says: RegExp }> = {
    'bytes of another file': {
      lines: [line(2, '/files/a'), ...ALL.slice(1), 'passes 1'],
      says: /\/files\/a has bytes that its source never had/,
    },
    'a file that never was': { lines: [...ALL, line(1, '/files/x'), 'passes 1'], says: /\/files\/x has bytes/ },
    'a missing file': { lines: [...ALL.slice(1), 'passes 1'], says: /1 files were not there, among them \/files\/a/ },
    'no end': { lines: ALL, says: /did not come to its end/ },
    'a complaint': { lines: [...ALL, 'sha256sum: ./files/a: No such file', 'passes 1'], says: /it says: sha256sum/ },
  }
  for (const [name, { lines, says }] of Object.entries(wrong))
    it(`tells of ${name}`, () => {
      assert.match(judged(lines).problems.join('; '), says)
    })

  it('does not miss what the dataset does not show, or what was removed once', () => {
    assert.deepEqual(judged([line(3, '/objects/c'), 'passes 1'], sources(), '/objects').problems, [])
    const contents = sources()
    contents.remove('/files/a')
    assert.deepEqual(judged([...ALL.slice(1), 'passes 1'], contents).problems, [])
  })
})

describe('the newest content', () => {
  const difference = (lines: readonly string[], contents: Contents) =>
    notNewest(judged([...lines, 'passes 1'], contents), { contents, first: FIRST, shows: '/' })

  it('is told from older ones', () => {
    assert.equal(difference(ALL, sources()), undefined)
    assert.equal(difference(ALL, sources(['/files/b'])), '/files/b is of an older version')
    const contents = sources()
    contents.remove('/files/a')
    assert.equal(difference(ALL, contents), '/files/a is gone from the source')
    assert.equal(difference(ALL.slice(0, 2), sources()), '/objects/c is missing')
  })
})
