import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sequenceApart, stepApart } from './apart.ts'
import { differences } from './differences.ts'
import { Names } from './names.ts'
import { removeAt, valueAt } from './pointer.ts'
import { reduceAnswer } from './reduce.ts'
import type { RawAnswer } from './send.ts'
import type { Json, Step } from './transcript.ts'

function answer(text: string, headers: Record<string, string> = { 'content-type': 'application/json' }, status = 200): RawAnswer {
  return { status, headers, rawHeaders: Object.entries(headers).flat(), bytes: Buffer.from(text) }
}

const step = (more: Partial<Step> = {}): Step & { path: string } => ({ seq: 's', path: '/api', ...more })

describe('an answer reduced to what is compared', () => {
  const names = (): Names => new Names('gold-abc-001x')

  it('has the headers that matter and no others', () => {
    const headers = { 'content-type': 'text/plain', warning: '299 - "x"', allow: 'GET', date: 'today' }
    assert.deepEqual(reduceAnswer(step(), answer('ok', headers, 405), names()), {
      status: 405,
      responseHeaders: { 'content-type': 'text/plain', warning: ['299 - "x"'], allow: 'GET' },
      responseText: 'ok',
    })
  })

  it('of a watch is the list of its events, without plain bookmarks', () => {
    const lines = [
      { type: 'ADDED', object: { kind: 'Pod', metadata: { resourceVersion: '5' } } },
      { type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '9' } } },
      {
        type: 'BOOKMARK',
        object: { kind: 'Pod', metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } },
      },
    ]
    const reduced = reduceAnswer(step({ path: '/api?watch=1' }), answer(lines.map((line) => JSON.stringify(line)).join('\n')), names())
    assert.deepEqual(reduced.responseEvents, [
      { type: 'ADDED', object: { kind: 'Pod', metadata: { resourceVersion: '<rv1>' } } },
      {
        type: 'BOOKMARK',
        object: { kind: 'Pod', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: '<listrv>' } },
      },
    ])
  })

  it('leaves out what the step ignores, and sorts what has no order', () => {
    const reduced = reduceAnswer(step({ ignore: ['/a'], unordered: ['/list'] }), answer('{"a":1,"list":[2,1]}'), names())
    assert.deepEqual(reduced.responseBody, { list: [1, 2] })
  })
})

describe('pointers', () => {
  it('remove at a path, at every key and at any depth', () => {
    const value: Json = { a: { b: 1, 'x/y': 2 }, list: [{ b: 3 }, { b: 4 }], deep: { er: { b: 5, c: 6 } } }
    removeAt(value, '/a/x~1y')
    removeAt(value, '/list/*/b')
    removeAt(value, '/deep/**/b')
    assert.deepEqual(value, { a: { b: 1 }, list: [{}, {}], deep: { er: { c: 6 } } })
    removeAt(value, '/list/0')
    assert.deepEqual(value.list, ['<ignored>', {}])
  })

  it('read only what is there', () => {
    assert.equal(valueAt({ items: [{ name: 'a' }] }, '/items/0/name'), 'a')
    assert.equal(valueAt({}, '/constructor/name'), undefined)
  })
})

describe('differences', () => {
  it('are none for equal values, and name the place otherwise', () => {
    assert.deepEqual(differences({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), [])
    assert.deepEqual(differences({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }], c: 1 }), [
      '/a/1/b: expected 2, got 3',
      '/c: expected nothing, got 1',
    ])
    assert.deepEqual(differences({ a: [] }, { a: {} }), ['/a: expected [], got {}'])
  })
})

describe('counted apart', () => {
  const sequence = (steps: Partial<Step>[]) => ({ name: 'g/s', group: 'g', steps: steps.map(step) })

  it('are sequences with CEL rules or compaction', () => {
    assert.equal(sequenceApart(sequence([{ body: { spec: [{ 'x-kubernetes-validations': [] }] } }])), 'needs CEL')
    assert.equal(sequenceApart(sequence([{ action: 'compact' }])), 'needs compaction on demand')
    assert.equal(sequenceApart(sequence([{ body: { matchExpressions: [] } }])), undefined)
  })

  it('are steps that can only be answered in protobuf', () => {
    assert.equal(stepApart(step({ headers: { ACCEPT: 'application/vnd.kubernetes.protobuf' } })), 'needs a protobuf answer')
    assert.equal(stepApart(step({ responseHeaders: { 'content-type': 'application/vnd.kubernetes.protobuf' } })), 'needs a protobuf answer')
    assert.equal(stepApart(step({ headers: { Accept: 'application/json, application/vnd.kubernetes.protobuf' } })), undefined)
    assert.equal(stepApart(step()), undefined)
  })
})
