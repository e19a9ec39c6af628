import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { fieldErrorMessage } from './field-error.ts'
import { formatFieldSelector, matchesFields, parseFieldSelector, unknownFieldMessage, unsupportedFieldMessage } from './field-selector.ts'
import {
  formatLabelSelector,
  formatSelectorObject,
  matchesLabels,
  parseLabelSelector,
  requiredLabel,
  selectorFromObject,
  validateLabelSelector,
} from './selector.ts'

interface Step {
  seq: string
  path?: string
  status?: number
  responseBody?: { message?: string }
}

const recorded = readFileSync('test/conformance/goldens/listwatch.jsonl', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Step)

const selector = (text: string) => {
  const result = parseLabelSelector(text)
  assert.equal(result.error, undefined)
  return result.value ?? []
}

describe('label selectors', () => {
  for (const step of recorded.filter((s) => s.seq.startsWith('listwatch/label-invalid') && s.status === 400)) {
    const text = new URL(`http://x${step.path}`).searchParams.get('labelSelector') ?? ''
    it(`refuses ${text} in the recorded words`, () => assert.equal(parseLabelSelector(text).error, step.responseBody?.message))
  }

  const CASES: [string, Record<string, string>, boolean][] = [
    ['', {}, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', {}, true],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['a in (b,c)', { a: 'c' }, true],
    ['a notin (b,c)', { a: 'c' }, false],
    ['a notin (b,c)', {}, true],
    ['a in ()', { a: '' }, true],
    ['a in (x,)', { a: '' }, true],
    ['a>1', { a: '2' }, true],
    ['a<1', { a: '2' }, false],
    ['a>1', { a: 'x' }, false],
    ['in=notin', { in: 'notin' }, true],
    ['a=,b', { a: '', b: '1' }, true],
    ['hasOwnProperty', {}, false],
    ['constructor', {}, false],
  ]
  for (const [text, labels, matches] of CASES)
    it(`${text || 'nothing'} ${matches ? 'selects' : 'leaves out'} ${JSON.stringify(labels)}`, () =>
      assert.equal(matchesLabels(selector(text), labels), matches))

  const REFUSED: [string, string][] = [
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ]
  for (const [text, message] of REFUSED) it(`refuses ${text}`, () => assert.equal(parseLabelSelector(text).error, message))

  it('prints what it read, sorted by key', () => {
    assert.equal(formatLabelSelector(selector(' z , !y,x in (b, a),w!=1,v>3')), 'v>3,w!=1,x in (a,b),!y,z')
  })

  it('reads its own print', () => {
    const word = fc.constantFrom('a', 'b1', 'x.y/z', 'in', 'notin')
    const term = fc.oneof(
      fc
        .tuple(
          word,
          fc.constantFrom('=', '==', '!='),
          word.filter((w) => !w.includes('/')),
        )
        .map((t) => t.join('')),
      fc.tuple(word, fc.constantFrom(' in (1,2)', ' notin (q)', '>5', '<7', '')).map((t) => t.join('')),
      word.map((w) => `!${w}`),
    )
    fc.assert(
      fc.property(fc.array(term, { maxLength: 4 }), (terms) => {
        const text = formatLabelSelector(selector(terms.join(',')))
        assert.equal(formatLabelSelector(selector(text)), text)
      }),
    )
  })

  it('knows when a key has only one possible value', () => {
    assert.equal(requiredLabel(selector('a=b,c in (d)'), 'c'), 'd')
    assert.equal(requiredLabel(selector('a!=b'), 'a'), undefined)
  })

  it('turns objects into selectors, where absent selects nothing and empty everything', () => {
    assert.equal(selectorFromObject(undefined).value, undefined)
    assert.deepEqual(selectorFromObject({}).value, [])
    const object = {
      matchLabels: { a: 'd' },
      matchExpressions: [
        { key: 'x', operator: 'In', values: ['2', '1'] },
        { key: 'y', operator: 'Exists' },
      ],
    }
    assert.equal(formatSelectorObject(object), 'a=d,x in (1,2),y')
    assert.equal(formatSelectorObject({}), '<none>')
    assert.equal(
      selectorFromObject({ matchExpressions: [{ key: 'x', operator: 'Zap' }] }).error,
      '"Zap" is not a valid label selector operator',
    )
  })

  it('validates objects in the recorded words', () => {
    const errors = validateLabelSelector(
      {
        matchExpressions: [
          { key: 'app', operator: 'Exists', values: ['x'] },
          { key: 'a', operator: 'In' },
        ],
      },
      'spec.selector',
    )
    assert.deepEqual(errors.map(fieldErrorMessage), [
      "spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      "spec.selector.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ])
  })
})

describe('field selectors', () => {
  for (const step of recorded.filter((s) => s.seq.startsWith('listwatch/field-invalid') && s.status === 400)) {
    const text = new URL(`http://x${step.path}`).searchParams.get('fieldSelector') ?? ''
    it(`refuses ${text} in the recorded words`, () => {
      const result = parseFieldSelector(text)
      const field = result.value?.[0]?.field ?? ''
      const message = result.error ?? (step.path?.includes('/pods') ? unsupportedFieldMessage(field) : unknownFieldMessage(field))
      assert.equal(message, step.responseBody?.message)
    })
  }

  it('unescapes values and escapes them again', () => {
    const result = parseFieldSelector('b!=1,a=x\\,y\\=z\\\\')
    assert.deepEqual(result.value, [
      { field: 'a', operator: '=', value: 'x,y=z\\' },
      { field: 'b', operator: '!=', value: '1' },
    ])
    assert.equal(formatFieldSelector(result.value ?? []), 'a=x\\,y\\=z\\\\,b!=1')
    assert.equal(parseFieldSelector('a=\\q').error, 'invalid field selector: invalid escape sequence: \\q')
    assert.equal(parseFieldSelector('a=b=c').error, 'invalid field selector: unescaped character in value: 61')
  })

  it('takes a missing field for an empty one', () => {
    const parse = (text: string) => parseFieldSelector(text).value ?? []
    assert.ok(matchesFields(parse('spec.nodeName='), {}))
    assert.ok(!matchesFields(parse('spec.nodeName!='), {}))
    assert.ok(matchesFields(parse('a==1,b!=2'), { a: '1', b: '3' }))
    assert.ok(!matchesFields(parse('toString=x'), {}))
  })

  it('says it in the words of the kind', () => {
    assert.equal(unsupportedFieldMessage('x', { group: 'batch', version: 'v1', kind: 'Job' }), 'field label "x" not supported for Job')
  })
})
