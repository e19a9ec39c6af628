import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KubeObject } from '../../kube/meta.ts'
import { applied, refused } from './events.ts'

const named = (namespace: string | undefined): KubeObject => ({ apiVersion: 'v1', kind: 'Thing', metadata: { namespace, name: 'one' } })

describe('the events of a manifest', () => {
  it('names it as Karmada does: that it was refused without a slash where there is no namespace', () => {
    const messages = [named('default'), named(undefined)].flatMap((of) => [applied(of, 'c').message, refused(of, 'c', 'no').message])
    assert.deepEqual(messages, [
      'Successfully applied resource(default/one) to cluster c',
      'Failed to create or update resource(default/one) in member cluster(c): no',
      'Successfully applied resource(/one) to cluster c',
      'Failed to create or update resource(one) in member cluster(c): no',
    ])
  })
})
