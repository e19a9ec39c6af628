import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeSecretData, secretBytes, secretText } from './secret-data.ts'

describe('the data of a Secret', () => {
  const secret = { data: { ...encodeSecretData({ token: 'hé', empty: '' }), odd: 1 } }

  it('is read as text', () => {
    assert.deepEqual(
      ['token', 'empty', 'odd', 'missing', 'toString'].map((key) => secretText(secret, key)),
      ['hé', '', '', '', ''],
    )
    assert.equal(secretText(undefined, 'token'), '')
    assert.equal(secretText({}, 'token'), '')
  })

  it('is read as bytes', () => {
    assert.deepEqual([...secretBytes({ data: { token: 'AP8=' } })], [['token', Buffer.from([0, 255])]])
    assert.equal(secretBytes({}).size, 0)
  })
})
