import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { goldenObjects } from '../../../test/conformance/recorded.ts'
import type { Json } from '../../base/json.ts'
import { parseGroupVersion } from '../../kube/meta.ts'
import { decodeTyped } from './decode-json.ts'
import { messageFor } from './message-names.ts'

describe('typed decoding against recorded answers', () => {
  it('changes nothing in what the real server answered', () => {
    let checked = 0
    for (const object of goldenObjects()) {
      const gvk = { ...parseGroupVersion(String(object.apiVersion)), kind: String(object.kind) }
      if (messageFor(gvk) === undefined) continue
      const { object: decoded, unknownFields } = decodeTyped(gvk, object as Json)
      assert.deepEqual(decoded, object, `${gvk.kind} ${JSON.stringify(object).slice(0, 200)}`)
      assert.deepEqual(unknownFields, [])
      checked++
    }
    assert.ok(checked > 900, `${checked} objects`)
  })
})
