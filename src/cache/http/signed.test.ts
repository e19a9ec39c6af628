import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { claimsSignature, isSigned, signRequest } from './signed.ts'

const KEY = Buffer.alloc(32, 7)
const NOW = 1_800_000_000_000
const parts = { method: 'POST', target: '/v1/workers?x=1', body: Buffer.from('{"name":"w"}') }

describe('signed requests', () => {
  it('are recognised for five minutes, by whoever has the key', () => {
    const authorization = signRequest(KEY, parts, NOW)
    assert.ok(claimsSignature(authorization))
    for (const offset of [0, 299_000, -299_000]) assert.ok(isSigned(KEY, { ...parts, authorization, nowMs: NOW + offset }))
    for (const offset of [302_000, -302_000]) assert.ok(!isSigned(KEY, { ...parts, authorization, nowMs: NOW + offset }))
    assert.ok(!isSigned(Buffer.alloc(32, 8), { ...parts, authorization, nowMs: NOW }))
  })

  it('cover method, target and body', () => {
    const authorization = signRequest(KEY, parts, NOW)
    for (const change of [{ method: 'GET' }, { target: '/v1/workers?x=2' }, { body: Buffer.from('{}') }, { body: 'streamed' as const }])
      assert.ok(!isSigned(KEY, { ...parts, ...change, authorization, nowMs: NOW }), JSON.stringify(change))
    const streamed = signRequest(KEY, { ...parts, body: 'streamed' }, NOW)
    assert.ok(isSigned(KEY, { ...parts, body: 'streamed', authorization: streamed, nowMs: NOW }))
  })

  it('take no header that is not exactly one', () => {
    fc.assert(fc.property(fc.string(), (text) => !isSigned(KEY, { ...parts, authorization: `Sluice-Key ${text}`, nowMs: NOW })))
    assert.ok(!isSigned(KEY, { ...parts, authorization: undefined, nowMs: NOW }))
    assert.ok(!claimsSignature('Bearer x') && !claimsSignature(undefined))
  })
})
