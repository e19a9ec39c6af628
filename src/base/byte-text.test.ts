import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { bytesOf, byteTextOf, joinedBytes, readUtf8, utf8Of, writeBytes } from './byte-text.ts'

describe('bytes kept as text', () => {
  it('come back as they were, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(5), (bytes, before) => {
        const text = byteTextOf(Buffer.from(bytes))
        assert.equal(text.length, bytes.length)
        assert.deepEqual([...bytesOf(text)], [...bytes])
        const target = Buffer.alloc(before + bytes.length + 1)
        assert.equal(writeBytes(text, target, before), bytes.length)
        assert.deepEqual([...target], [...new Uint8Array(before), ...bytes, 0])
      }),
    )
  })

  it('are joined in order', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 10 }), (parts) => {
        const joined = joinedBytes(parts.map((part) => byteTextOf(Buffer.from(part))))
        assert.equal(joined.toString('hex'), Buffer.concat(parts).toString('hex'))
      }),
    )
  })

  it('say what a text said, in UTF-8', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (said) => {
        const text = utf8Of(said)
        assert.equal(bytesOf(text).toString('hex'), Buffer.from(said).toString('hex'))
        assert.equal(readUtf8(text), Buffer.from(said).toString())
      }),
    )
  })
})
