import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { StatusError } from '../kube/status.ts'
import { errorFormat, type Negotiated, negotiate, negotiateWatch, parseAccept } from './negotiation.ts'

const resource = { transforms: true, streams: false, strictWords: true }
const as = (shape: string, version = 'v1'): string => `application/json;as=${shape};v=${version};g=meta.k8s.io`

const chosen: [string | undefined, Partial<Negotiated>][] = [
  [undefined, { format: 'json', shape: 'object' }],
  ['', { format: 'json', shape: 'object' }],
  ['*/*', { format: 'json', shape: 'object' }],
  ['application/json', { format: 'json' }],
  ['application/yaml', { format: 'yaml' }],
  ['application/vnd.kubernetes.protobuf,application/json', { format: 'json' }],
  ['application/yaml;q=0.5, application/json', { format: 'json' }],
  ['application/json;q=0.5, application/yaml', { format: 'yaml' }],
  [`${as('Table')},application/json`, { shape: 'Table', metaVersion: 'v1' }],
  [as('Table', 'v1beta1'), { shape: 'Table', metaVersion: 'v1beta1' }],
  [`${as('Table', 'v7')},application/json`, { shape: 'object' }],
  [`${as('Chair')},application/json`, { shape: 'object' }],
  [as('PartialObjectMetadata'), { shape: 'PartialObjectMetadata' }],
  [
    `application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,${as('PartialObjectMetadata')}`,
    { format: 'json', shape: 'PartialObjectMetadata' },
  ],
]

describe('negotiate', () => {
  for (const [header, expected] of chosen)
    it(`answers ${JSON.stringify(header)}`, () => {
      const negotiated = negotiate(header, resource)
      assert.deepEqual({ ...negotiated, ...expected }, negotiated)
    })

  const refused = [
    'text/html',
    'application/vnd.kubernetes.protobuf',
    as('Table', 'v7'),
    'nonsense',
    'APPLICATION/YAML',
    ';;;',
    'application/json;as=Table;v=v1;g=other',
  ]
  for (const header of refused)
    it(`answers ${JSON.stringify(header)} with 406 and what there is`, () => {
      assert.throws(
        () => negotiate(header, resource),
        (error) => error instanceof StatusError && error.code === 406 && error.message.includes('application/json, application/yaml'),
      )
    })

  it('offers no transformations of discovery', () => {
    assert.throws(() => negotiate(as('Table'), { ...resource, transforms: false }), StatusError)
  })

  it('watches in JSON alone', () => {
    assert.equal(negotiateWatch('application/json;stream=watch', resource).format, 'json')
    assert.throws(
      () => negotiateWatch('application/yaml', resource),
      (error) => error instanceof StatusError && error.code === 406,
    )
  })

  it('tells failures in the format of the client, and in JSON when that is none of ours', () => {
    assert.equal(errorFormat('application/yaml'), 'yaml')
    assert.equal(errorFormat('text/html'), 'json')
    assert.equal(errorFormat(undefined), 'json')
  })

  it('answers every header with a choice or 406', () => {
    const piece = fc.oneof(
      fc.constantFrom('application/json', '*/*', ';q=', ';as=', ',', '__proto__=1', ';constructor=x', ';g=meta.k8s.io', '=', '"'),
      fc.string({ maxLength: 6 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          assert.ok(['json', 'yaml'].includes(negotiate(pieces.join(''), resource).format))
        } catch (error) {
          assert.ok(error instanceof StatusError && error.code === 406, String(error))
        }
      }),
    )
  })

  it('reads a hostile header in time that grows with its length alone', () => {
    assert.equal(parseAccept('a;b=c,'.repeat(50_000)).length, 50_000)
  })
})
