import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { StatusError } from '../kube/status.ts'
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from './options.ts'

const query = (text: string): URLSearchParams => new URLSearchParams(text)
const agent = { userAgent: 'kubectl/v1.36.3 (linux/amd64)' }

const refused = (work: () => unknown, code: number, message: string | RegExp): void => {
  assert.throws(work, (error) => {
    assert.ok(error instanceof StatusError, String(error))
    assert.equal(error.code, code)
    if (typeof message === 'string') assert.equal(error.message, message)
    else assert.match(error.message, message)
    return true
  })
}

describe('options of writes', () => {
  it('has defaults', () => {
    assert.deepEqual(parseWriteOptions('CreateOptions', query(''), agent), {
      dryRun: false,
      fieldManager: 'kubectl',
      fieldValidation: 'Warn',
      force: false,
    })
  })

  const managers: [string, string, string][] = [
    ['', 'kubectl/v1', 'kubectl'],
    ['fieldManager=me', 'kubectl/v1', 'me'],
    ['', '', 'unknown'],
    ['', '/x', 'unknown'],
    ['', 'x'.repeat(300), 'x'.repeat(128)],
  ]
  for (const [text, userAgent, manager] of managers)
    it(`takes ${manager.slice(0, 10)} for the manager of ${userAgent.slice(0, 10)} with "${text}"`, () => {
      assert.equal(parseWriteOptions('UpdateOptions', query(text), { userAgent }).fieldManager, manager)
    })

  it('reads every option', () => {
    const options = parseWriteOptions('PatchOptions', query('dryRun=All&fieldManager=a&fieldValidation=Strict&force=true'), {
      ...agent,
      isApply: true,
    })
    assert.deepEqual(options, { dryRun: true, fieldManager: 'a', fieldValidation: 'Strict', force: true })
  })

  const errors: ['CreateOptions' | 'UpdateOptions' | 'PatchOptions', string, boolean, RegExp][] = [
    [
      'CreateOptions',
      'dryRun=Some',
      false,
      /^CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: .*supported values: "All"$/,
    ],
    ['CreateOptions', 'dryRun=', false, /dryRun: Unsupported value/],
    [
      'UpdateOptions',
      'fieldValidation=strict',
      false,
      /^UpdateOptions.*fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"$/,
    ],
    ['CreateOptions', `fieldManager=${'x'.repeat(129)}`, false, /fieldManager: Too long/],
    ['CreateOptions', 'fieldManager=a%01b', false, /fieldManager: Invalid value/],
    ['PatchOptions', '', true, /^PatchOptions\.meta\.k8s\.io "" is invalid: fieldManager: Required value: is required for apply patch$/],
    ['PatchOptions', 'force=true', false, /force: Forbidden: may not be specified for non-apply patch$/],
  ]
  for (const [kind, text, isApply, message] of errors)
    it(`refuses "${text.slice(0, 40)}" of ${kind}${isApply ? ' (apply)' : ''}`, () =>
      refused(() => parseWriteOptions(kind, query(text), { ...agent, isApply }), 422, message))
})

describe('options of lists', () => {
  it('has defaults', () => {
    assert.deepEqual(parseListOptions(query(''), false), {
      labelSelector: '',
      fieldSelector: '',
      resourceVersion: '',
      resourceVersionMatch: '',
      limit: 0,
      continueToken: '',
      timeoutSeconds: undefined,
      allowWatchBookmarks: false,
      sendInitialEvents: undefined,
    })
  })

  const numbers: [string, number][] = [
    ['', 0],
    ['5', 5],
    ['+5', 5],
    ['0', 0],
    ['-3', 0],
    ['9223372036854775807', 2 ** 63],
  ]
  for (const [text, limit] of numbers)
    it(`reads the limit ${JSON.stringify(text)}`, () =>
      assert.equal(parseListOptions(new URLSearchParams({ limit: text }), false).limit, limit))

  for (const text of ['x', '1.5', '1e3', ' 1', '0x10'])
    it(`refuses the limit ${JSON.stringify(text)} in Go's words`, () =>
      refused(
        () => parseListOptions(new URLSearchParams({ limit: text }), false),
        400,
        `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
      ))

  it('refuses a limit beyond an int64', () =>
    refused(() => parseListOptions(query('limit=9223372036854775808'), false), 400, /value out of range$/))

  it('bounds the timeout, so that no timer overflows', () => {
    assert.equal(parseListOptions(query('timeoutSeconds=99999999999999'), true).timeoutSeconds, 2 ** 31)
    assert.equal(parseListOptions(query('timeoutSeconds=0'), true).timeoutSeconds, undefined)
    assert.equal(parseListOptions(query('timeoutSeconds=-1'), true).timeoutSeconds, undefined)
  })

  const errors: [string, boolean, RegExp][] = [
    ['resourceVersionMatch=Exact', false, /resourceVersionMatch is forbidden unless resourceVersion is provided/],
    ['resourceVersionMatch=Exact&resourceVersion=0', false, /"exact" is forbidden for resourceVersion "0"/],
    ['resourceVersionMatch=Odd&resourceVersion=1', false, /Unsupported value: "Odd": supported values: "Exact", "NotOlderThan", ""/],
    ['resourceVersionMatch=Exact&resourceVersion=1&continue=x', false, /forbidden when continue is provided/],
    ['sendInitialEvents=true', false, /sendInitialEvents is forbidden for list/],
    ['sendInitialEvents=true', true, /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', true, /supported values: "NotOlderThan"/],
    ['resourceVersionMatch=NotOlderThan', true, /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/],
    ['sendInitialEvents=', true, /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/],
    ['resourceVersionMatch=Exact', true, /forbidden for watch unless sendInitialEvents is provided, .*supported values: "NotOlderThan"/],
    ['continue=x', true, /resourceVersionMatch is forbidden when continue is provided/],
  ]
  for (const [text, isWatch, message] of errors)
    it(`refuses ${isWatch ? 'a watch' : 'a list'} with ${text}`, () => refused(() => parseListOptions(query(text), isWatch), 422, message))

  it('answers every query with options or a StatusError', () => {
    const key = fc.constantFrom(
      'limit',
      'timeoutSeconds',
      'resourceVersion',
      'resourceVersionMatch',
      'continue',
      'sendInitialEvents',
      'watch',
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.string())), fc.boolean(), (pairs, isWatch) => {
        try {
          const options = parseListOptions(new URLSearchParams(pairs), isWatch)
          assert.ok(options.limit >= 0)
        } catch (error) {
          assert.ok(error instanceof StatusError && (error.code === 400 || error.code === 422), String(error))
        }
      }),
    )
  })
})

describe('options of deletes', () => {
  it('reads the query when there is no body', () => {
    assert.deepEqual(parseDeleteOptions(query('gracePeriodSeconds=3&propagationPolicy=Orphan&dryRun=All'), undefined), {
      gracePeriodSeconds: 3,
      propagationPolicy: 'Orphan',
      orphanDependents: undefined,
      preconditions: {},
      dryRun: true,
    })
  })

  it('reads the body alone when there is one', () => {
    const body = { gracePeriodSeconds: 0, preconditions: { uid: 'u' } }
    assert.deepEqual(parseDeleteOptions(query('gracePeriodSeconds=3&propagationPolicy=Orphan&dryRun=All'), body), {
      gracePeriodSeconds: 0,
      propagationPolicy: '',
      orphanDependents: undefined,
      preconditions: { uid: 'u' },
      dryRun: false,
    })
  })

  const errors: [Record<string, unknown>, RegExp][] = [
    [
      { propagationPolicy: 'Sideways' },
      /propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"/,
    ],
    [{ propagationPolicy: 'Orphan', orphanDependents: true }, /orphanDependents and deletionPropagation cannot be both set/],
    [{ dryRun: ['Some'] }, /dryRun: Unsupported value/],
  ]
  for (const [body, message] of errors)
    it(`refuses ${JSON.stringify(body)}`, () => refused(() => parseDeleteOptions(query(''), body), 422, message))

  it("refuses a grace period that is no number, in Go's words", () =>
    refused(() => parseDeleteOptions(query('gracePeriodSeconds=soon'), undefined), 400, 'strconv.ParseInt: parsing "soon": invalid syntax'))
})
