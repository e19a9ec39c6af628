import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Names } from './names.ts'
import { normalise, normaliseText } from './normalise.ts'
import type { Json } from './transcript.ts'

const UID = '0b4a3c6e-1111-4222-8333-444455556666'
const OTHER_UID = '0b4a3c6e-1111-4222-8333-444455556667'

function normalised(value: Json, keepManagedFields = false, names = new Names('gold-abc-001x')): Json {
  return normalise(value, { names, keepManagedFields })
}

describe('normalising an answer', () => {
  it('gives equal values equal labels, in the order of appearance', () => {
    const value = { a: UID, b: OTHER_UID, c: `before ${UID}`, metadata: { resourceVersion: '7' }, other: { resourceVersion: '8' } }
    assert.deepEqual(normalised(value), {
      a: '<uid1>',
      b: '<uid2>',
      c: 'before <uid1>',
      metadata: { resourceVersion: '<rv1>' },
      other: { resourceVersion: '<rv2>' },
    })
  })

  it('replaces the namespace in keys and values, and times of our days only', () => {
    assert.deepEqual(normalised({ 'x.gold-abc-001x': '2026-01-02T03:04:05Z in gold-abc-001x', old: '2020-01-02T03:04:05Z' }), {
      'x.<ns>': '<time> in <ns>',
      old: '2020-01-02T03:04:05Z',
    })
  })

  it('treats the metadata of a list apart, and keeps an empty version', () => {
    const list = { kind: 'PodList', metadata: { resourceVersion: '12', continue: 'abc', remainingItemCount: 3 }, items: [] }
    assert.deepEqual(normalised(list), {
      kind: 'PodList',
      metadata: { resourceVersion: '<listrv>', continue: '<continue>', remainingItemCount: 3 },
      items: [],
    })
    assert.deepEqual(normalised({ kind: 'PodList', metadata: { resourceVersion: '', continue: '' } }), {
      kind: 'PodList',
      metadata: { resourceVersion: '' },
    })
  })

  it('drops managed fields, or sorts them when they are compared', () => {
    const value = {
      metadata: {
        managedFields: [
          { manager: 'b', operation: 'Update' },
          { manager: 'a', operation: 'Update' },
        ],
      },
    }
    assert.deepEqual(normalised(value), { metadata: {} })
    assert.deepEqual(normalised(value, true), {
      metadata: {
        managedFields: [
          { manager: 'a', operation: 'Update' },
          { manager: 'b', operation: 'Update' },
        ],
      },
    })
  })

  it('labels allocated addresses and ports and leaves chosen ones', () => {
    const spec = { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'], ports: [{ nodePort: 30123 }, { nodePort: 80 }] }
    assert.deepEqual(normalised(spec), {
      clusterIP: '<clusterIP>',
      clusterIPs: ['<clusterIP>'],
      ports: [{ nodePort: '<nodePort>' }, { nodePort: 80 }],
    })
    assert.deepEqual(normalised({ clusterIP: 'None', clusterIPs: ['None'] }), { clusterIP: 'None', clusterIPs: ['None'] })
  })

  it('sorts the causes of a Status', () => {
    const cause = (field: string): Json => ({ field, reason: 'FieldValueInvalid', message: 'm' })
    const status = { kind: 'Status', details: { causes: [cause('b'), cause('a')] } }
    assert.deepEqual(normalised(status), { kind: 'Status', details: { causes: [cause('a'), cause('b')] } })
  })

  it('keeps every other key: an extra one stays visible', () => {
    assert.deepEqual(normalised({ kind: 'Pod', extra: null, list: [1, true] }), { kind: 'Pod', extra: null, list: [1, true] })
  })
})

describe('names of a sequence', () => {
  it('learns generated names and labels them wherever they appear', () => {
    const names = new Names('gold-abc-001x')
    names.learnGenerated({ body: { metadata: { generateName: 'web-' } } }, '{"name":"web-x7k2f"}')
    assert.equal(normaliseText('pods "web-x7k2f" not found', names), 'pods "web-<rand1>" not found')
  })

  it('forgets at a checkpoint what a repeated request brought', () => {
    const names = new Names('gold-abc-001x')
    assert.equal(names.version('5'), '<rv1>')
    const back = names.checkpoint()
    assert.equal(names.version('6'), '<rv2>')
    back()
    assert.equal(names.version('7'), '<rv2>')
  })

  it('fills requests and refuses what was never saved', () => {
    const names = new Names('gold-abc-001x')
    names.saved.set('rv', '12')
    assert.deepEqual(names.fill({ path: `/x/<ns>?rv=\${rv}`, '<ns>': [`\${pad:3}`] }), {
      path: '/x/gold-abc-001x?rv=12',
      'gold-abc-001x': ['xxx'],
    })
    assert.throws(() => names.fill(`\${nosuch}`), /nothing saved as nosuch/)
  })
})
