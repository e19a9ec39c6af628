import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { entriesOf, exportsOf, identifiersIn, RETIRED, retiredIn, wordsOf } from './glossary.ts'

const MAX_ENTRIES = 90
/** Fields of log lines are seen by users and keep their names. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = { 'src/cli/elected.ts': ['room'] }

const sources = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(root, file))

describe('the glossary', () => {
  const entries = entriesOf(readFileSync('docs/glossary.md', 'utf8'))

  it('is short, sorted, and has each word once', () => {
    const words = entries.map(({ word }) => word.toLowerCase())
    assert.ok(words.length > 20 && words.length <= MAX_ENTRIES, `${words.length} entries`)
    assert.deepEqual(words, [...new Set(words)].sort())
    for (const { word, meaning, places } of entries) {
      assert.notEqual(meaning, '', word)
      assert.notEqual(places.length, 0, `${word} lives nowhere`)
    }
  })

  it('names only what is there', () => {
    const exported = new Set(sources('src').flatMap((file) => exportsOf(readFileSync(file, 'utf8'))))
    const isThere = (place: string): boolean => (place.includes('/') ? existsSync(place) : exported.has(place))
    const missing = entries.flatMap(({ word, places }) => places.filter((place) => !isThere(place)).map((place) => `${word}: ${place}`))
    assert.deepEqual(missing, [])
  })

  it('uses no retired word', () => {
    assert.deepEqual(
      entries.filter(({ word }) => Object.hasOwn(RETIRED, word)),
      [],
    )
  })
})

describe('retired words', () => {
  it('are not in the code', () => {
    const found = ['src', 'test']
      .flatMap(sources)
      .filter((file) => !file.startsWith('test/docs/') && !file.startsWith('src/kinds/kubernetes/types'))
      .flatMap((file) =>
        retiredIn(readFileSync(file, 'utf8'), ALLOWED[file]).map(({ identifier, instead }) => `${file}: ${identifier} (${instead})`),
      )
    assert.deepEqual(found, [])
  })

  it('are found in identifiers, and not in comments, strings and longer words', () => {
    const found = (source: string): string[] => retiredIn(source).map(({ identifier }) => identifier)
    assert.deepEqual(found('const wishOf = 1; // told'), ['wishOf'])
    assert.deepEqual(found(`/** heeds */ log('news', \`told \${newsOf(x)} tells\`)`), ['newsOf'])
    assert.deepEqual(found('const a = /[\'"]told/; interface Telling { lookAgain(): void; MAX_TOLD: 1 }'), [
      'Telling',
      'lookAgain',
      'MAX_TOLD',
    ])
    assert.deepEqual(found('background, concurrency, bookmark, mushroom, always, newest'), [])
  })

  it('splits identifiers as people read them', () => {
    assert.deepEqual(wordsOf('isDNSNameOf'), ['is', 'dns', 'name', 'of'])
    assert.deepEqual(wordsOf('MAX_BYTES'), ['max', 'bytes'])
    assert.deepEqual([...identifiersIn(`a.b(\`x \${c} y\`)`)], ['a', 'b', 'c'])
  })
})
