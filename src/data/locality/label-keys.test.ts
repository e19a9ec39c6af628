import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commonLabel, fuseLabel } from './label-keys.ts'

describe('the keys of labels of a dataset', () => {
  const uid = '0b7a3c1e-5d0f-4a3b-9c57-2f8c1d6e4a90'

  it('are made of namespace and name', () => {
    const dataset = { namespace: 'default', name: 'demo', uid }
    assert.deepEqual([commonLabel(dataset), fuseLabel(dataset)], ['fluid.io/s-default-demo', 'fluid.io/f-default-demo'])
  })

  it('have the uid instead from 63 characters on, prefix included', () => {
    for (const [length, expected] of [
      [62, `fluid.io/s-ns-${'n'.repeat(48)}`],
      [63, `fluid.io/s-${uid}`],
    ] as const) {
      const name = 'n'.repeat(length - 'fluid.io/s-ns-'.length)
      assert.equal(commonLabel({ namespace: 'ns', name, uid }), expected)
    }
  })
})
