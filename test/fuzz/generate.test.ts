import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readCorpus } from './corpus.ts'
import { generate } from './generate.ts'
import { judgeAnswer } from './oracle.ts'
import { type FuzzRequest, withBody } from './request.ts'
import { smallerSteps } from './smaller.ts'

const corpus = readCorpus()

describe('the fuzzer', () => {
  it('makes the same requests from the same seed, and others from another', () => {
    const some = (seed: number): string => JSON.stringify(Array.from({ length: 50 }, (_, i) => generate(seed, i, corpus)))
    assert.equal(some(1), some(1))
    assert.notEqual(some(1), some(2))
  })

  it('comes to every family soon', () => {
    const families = new Set(
      Array.from({ length: 1500 }, (_, i) => generate(3, i, corpus)).flatMap((step) => step.map(({ family }) => family)),
    )
    assert.equal(families.size, 16, [...families].sort().join(', '))
  })

  const asked: FuzzRequest = { family: 'x', method: 'GET', url: '/api/v1/pods', headers: {} }
  const answer = (status: number, body: unknown, contentType = 'application/json') => ({
    status,
    contentType,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  })
  const good = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no', reason: 'NotFound', code: 404 }

  it('lets good answers pass', () => {
    for (const one of [answer(200, {}), answer(404, good), answer(404, '404 page not found\n', 'text/plain; charset=utf-8')])
      assert.equal(judgeAnswer(asked, one), undefined)
  })

  for (const [title, one] of Object.entries({
    'an error that is no JSON': answer(404, '{"kind"'),
    'an error that is another object': answer(404, { ...good, kind: 'Pod' }),
    'a Status without a message': answer(404, { ...good, message: '' }),
    'a Status without a reason': answer(404, { ...good, reason: undefined }),
    'a Status with another code': answer(404, { ...good, code: 400 }),
    'an error in plain text': answer(400, 'bad', 'text/plain'),
    'no status at all': answer(0, ''),
  }))
    it(`finds ${title}`, () => assert.equal(judgeAnswer(asked, one)?.kind, 'status'))

  it('makes a failing request smaller until only the cause is left', () => {
    const isFailing = (request: FuzzRequest): boolean => Buffer.from(request.body ?? '', 'base64').includes('"bad":true')
    const body = { apiVersion: 'v1', spec: { list: [1, { bad: true, good: 'x'.repeat(50) }], other: {} } }
    let steps = [[withBody({ ...asked, url: '/api?a=1&b=2', headers: { accept: 'x' } }, JSON.stringify(body))]]
    for (let isSmaller = true; isSmaller; ) {
      const next = [...smallerSteps(steps)].find((candidate) => candidate.flat().some(isFailing))
      isSmaller = next !== undefined
      if (next !== undefined) steps = next
    }
    const [last] = steps.flat()
    assert.equal(last?.url, '/api')
    assert.deepEqual(last?.headers, {})
    assert.deepEqual(JSON.parse(Buffer.from(last?.body ?? '', 'base64').toString()), { spec: { list: [{ bad: true }] } })
  })
})
