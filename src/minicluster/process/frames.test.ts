import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createFrameReader, frame } from './frames.ts'

describe('frames', () => {
  it('are read as they were written, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(255), fc.uint8Array({ maxLength: 40 }))), fc.integer({ min: 1, max: 17 }), (sent, size) => {
        const bytes = Buffer.concat(sent.map(([kind, body]) => frame(kind, body)))
        const got: [number, Uint8Array][] = []
        const read = createFrameReader((kind, body) => got.push([kind, Uint8Array.from(body)]))
        for (let at = 0; at < bytes.length; at += size) assert.equal(read(bytes.subarray(at, at + size)), true)
        assert.deepEqual(got, sent)
      }),
    )
  })

  it('are refused when they say to be too long', () => {
    assert.equal(createFrameReader(() => assert.fail())(Buffer.from([0, 255, 255, 255, 255])), false)
  })
})
