import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { blockCount, blockKeyOf, blockLength, blockName, MOST_BLOCKS, parseBlockName } from './block.ts'
import { fileIdOf, versionOf } from './file.ts'
import { readTicket, signTicket, type Ticket } from './ticket.ts'

const KEY = Buffer.alloc(32, 7)
const FILE_ID = 'ab'.repeat(16)
const VERSION = '01'.repeat(8)

describe('blocks', () => {
  it('cover a file exactly', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 500 }), (fileBytes, blockBytes) => {
        const lengths = Array.from({ length: blockCount(fileBytes, blockBytes) }, (_, i) => blockLength(fileBytes, blockBytes, i))
        assert.equal(
          lengths.reduce((sum, length) => sum + length, 0),
          fileBytes,
        )
        assert.ok(lengths.every((length) => length > 0))
        assert.equal(blockLength(fileBytes, blockBytes, lengths.length), 0)
      }),
    )
  })

  it('are named in one way', () => {
    const key = { fileId: FILE_ID, version: VERSION, index: 12 }
    assert.deepEqual(parseBlockName(blockName(key)), key)
    for (const name of [
      '',
      '-',
      `${FILE_ID}-${VERSION}`,
      `${FILE_ID}-${VERSION}-01`,
      `${FILE_ID}-${VERSION}--1`,
      `${FILE_ID}-${VERSION}-1-1`,
    ]) {
      assert.equal(parseBlockName(name), undefined, name)
    }
    for (const index of [String(MOST_BLOCKS), '1e3', ' 1', '١', '-1', '99999999999'])
      assert.equal(blockKeyOf(FILE_ID, VERSION, index), undefined)
    assert.equal(blockKeyOf(FILE_ID.toUpperCase(), VERSION, '0'), undefined)
    assert.equal(blockKeyOf(`../${FILE_ID.slice(3)}`, VERSION, '0'), undefined)
  })

  it('no text that is no name is taken for one', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const key = parseBlockName(text)
        assert.ok(key === undefined || blockName(key) === text)
      }),
    )
  })
})

describe('files', () => {
  it('have an id that depends on the key, and a version that depends on the content', () => {
    assert.notEqual(fileIdOf(KEY, '/a'), fileIdOf(Buffer.alloc(32, 8), '/a'))
    assert.notEqual(fileIdOf(KEY, '/a'), fileIdOf(KEY, '/b'))
    const versions = [{ size: 1 }, { size: 2 }, { size: 1, etag: 'x' }, { size: 1, mtimeNs: 'x' }, { size: 1, mtimeNs: '2' }].map(versionOf)
    assert.equal(new Set(versions).size, versions.length)
    assert.equal(versionOf({ size: 1, etag: 'x', mtimeNs: '1' }), versionOf({ size: 1, etag: 'x', mtimeNs: '2' }))
    assert.deepEqual(blockKeyOf(fileIdOf(KEY, '/a'), versionOf({ size: 1 }), '0')?.index, 0)
  })
})

describe('tickets', () => {
  const ticket: Ticket = { namespace: 'team', subPath: '/images', mode: 'read', expiresAt: 1000 }

  it('are read back until they expire', () => {
    const text = signTicket(KEY, ticket)
    assert.deepEqual(readTicket(KEY, text, 999), ticket)
    assert.equal(readTicket(KEY, text, 1000), undefined)
  })

  it('are refused with another key, another content or another form', () => {
    const text = signTicket(KEY, ticket)
    const [payload = '', mac = ''] = text.split('.')
    const forged = Buffer.from(JSON.stringify({ ...ticket, subPath: '/' })).toString('base64url')
    for (const bad of ['', '.', payload, `${payload}.`, `${forged}.${mac}`, `${text}.x`, `${payload}.${mac}x`, 'x'.repeat(9000)]) {
      assert.equal(readTicket(KEY, bad, 0), undefined, bad.slice(0, 40))
    }
    assert.equal(readTicket(Buffer.alloc(32, 1), text, 0), undefined)
  })
})
