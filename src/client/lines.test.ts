import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { noteParsed, parsedOf } from '../base/parsed-bytes.ts'
import { lines } from './lines.ts'

async function* from(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
async function all(chunks: readonly Uint8Array[], max = 1000): Promise<string[]> {
  const out: string[] = []
  for await (const line of lines(from(chunks), max)) out.push(line.toString('utf8'))
  return out
}

describe('lines of a stream', () => {
  it('are the same however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }).map((s) => s.replaceAll('\n', ''))),
        fc.array(fc.nat(7)),
        async (texts, cuts) => {
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
          const chunks: Uint8Array[] = []
          let at = 0
          for (const cut of cuts) {
            chunks.push(bytes.subarray(at, at + cut))
            at += cut
          }
          chunks.push(bytes.subarray(at))
          assert.deepEqual(await all(chunks), texts)
        },
      ),
    )
  })
  it('are the chunks themselves where their meaning is known, also between others', async () => {
    const known = Buffer.from('{"b":1}\n')
    noteParsed(known, () => ({ b: 1 }))
    const found: unknown[] = []
    for await (const line of lines(from([Buffer.from('a\n'), known, Buffer.from('c'), known]), 1000))
      found.push(parsedOf(line) ?? line.toString('utf8'))
    assert.deepEqual(found, ['a', { b: 1 }, 'c{"b":1}'])
  })
  it('include a last one without its end', async () => assert.deepEqual(await all([Buffer.from('a\nb')]), ['a', 'b']))
  it('are bounded', () => assert.rejects(all([Buffer.alloc(600, 97), Buffer.alloc(600, 97)]), /longer than 1000 bytes/))
  it('are bounded also when they end', () => assert.rejects(all([Buffer.from(`${'a'.repeat(2000)}\n`)]), /longer than 1000 bytes/))
})
