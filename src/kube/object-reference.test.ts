import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keyOfObject, keyOfRef, objectKey, refOf, refOfKey } from './object-reference.ts'

describe('the key of an object', () => {
  const cases: [string, { namespace?: string; name?: string }, string][] = [
    ['namespaced', { namespace: 'team', name: 'web' }, 'team/web'],
    ['cluster-scoped', { name: 'web' }, '/web'],
    ['without a name yet', { namespace: 'team' }, 'team/'],
  ]
  for (const [what, metadata, key] of cases)
    it(what, () => {
      assert.equal(keyOfObject({ metadata }), key)
      assert.equal(objectKey(metadata.namespace, metadata.name), key)
      assert.equal(keyOfRef(refOf({ metadata })), key)
      assert.deepEqual(refOfKey(key), refOf({ metadata }))
    })

  it('may be a name alone when it is read', () => {
    assert.deepEqual(refOfKey('web'), { namespace: '', name: 'web' })
  })
})
