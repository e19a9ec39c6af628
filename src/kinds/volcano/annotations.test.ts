import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkDns1123Subdomain } from '../../kube/names.ts'
import { type DataName, dataKey, dataNameText, parseClaims, parseProduces } from './annotations.ts'

const named = (system: string, type: string, name: string): DataName => ({ system, type, name })

describe('what a workload makes', () => {
  const READ: [string, DataName[]][] = [
    ['hive/table/sales.daily', [named('hive', 'table', 'sales.daily')]],
    ['hive/table/a,hive/table/b', [named('hive', 'table', 'a'), named('hive', 'table', 'b')]],
    [' hive/table/a ,\n\ts3/prefix/b ', [named('hive', 'table', 'a'), named('s3', 'prefix', 'b')]],
    ['s3/prefix/lake/sales/2025', [named('s3', 'prefix', 'lake/sales/2025')]],
    ['s3/prefix//lake/', [named('s3', 'prefix', '/lake/')]],
    ['s3/object/Lake_1:Sales Daily', [named('s3', 'object', 'Lake_1:Sales Daily')]],
    ['a/b/c,a/b/C', [named('a', 'b', 'c'), named('a', 'b', 'C')]],
    [`a/b/${'数'.repeat(1024)}`, [named('a', 'b', '数'.repeat(1024))]],
    [`a/b/${'𝄞'.repeat(1024)}`, [named('a', 'b', '𝄞'.repeat(1024))]],
  ]
  for (const [text, expected] of READ)
    it(`is read from ${JSON.stringify(text.slice(0, 40))}`, () => assert.deepEqual(parseProduces(text), { value: expected }))

  const FORM = 'is not of the form system/type/name: write for example hive/table/sales.daily'
  const WRONG: [string, string][] = [
    ['', 'it is empty: name the data as system/type/name, or remove the annotation'],
    [' \n', 'it is empty: name the data as system/type/name, or remove the annotation'],
    ['a/b/c,', 'entry 2 is empty: name the data as system/type/name there, or remove a comma'],
    [',', 'entry 1 is empty: name the data as system/type/name there, or remove a comma'],
    ['sales', `"sales" ${FORM}`],
    ['hive/sales', `"hive/sales" ${FORM}`],
    ['hive/table/', `"hive/table/" ${FORM}`],
    ['hive//sales', `"hive//sales" ${FORM}`],
    ['/table/sales', `"/table/sales" ${FORM}`],
    ['hive/ /sales', `"hive/ /sales" ${FORM}`],
    ['hive /table/sales', '"hive /table/sales" has white space beside a slash: remove it'],
    ['hive/table/ sales', '"hive/table/ sales" has white space beside a slash: remove it'],
    ['a/b/c, a/b/c', '"a/b/c" is named twice: name it once'],
    [`${'x'.repeat(254)}/b/c`, `the system of "${'x'.repeat(80)}"… has more than 253 characters: shorten it`],
    [`a/${'x'.repeat(254)}/c`, `the type of "a/${'x'.repeat(78)}"… has more than 253 characters: shorten it`],
    [`a/b/${'x'.repeat(1025)}`, `the name of "a/b/${'x'.repeat(76)}"… has more than 1024 characters: shorten it`],
    ['a\u0000b', `"a\\x00b" ${FORM}`],
  ]
  for (const [text, error] of WRONG)
    it(`cannot be read from ${JSON.stringify(text.slice(0, 40))}`, () => assert.deepEqual(parseProduces(text), { error }))

  it('is at most 100 names', () => {
    const list = (length: number) => Array.from({ length }, (_, i) => `a/b/${i}`).join()
    assert.equal(parseProduces(list(100)).value?.length, 100)
    assert.deepEqual(parseProduces(list(101)), { error: 'it has more than 100 entries: remove some' })
    assert.deepEqual(parseProduces(','.repeat(250_000)), { error: 'it has more than 100 entries: remove some' })
  })

  it('is written as it is read', () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => text === text.trim() && !/[,/]/.test(text))
    const name = fc.tuple(word, fc.array(word, { maxLength: 2 })).map(([first, rest]) => [first, ...rest].join('/'))
    const names = fc.uniqueArray(fc.record({ system: word, type: word, name }, { noNullPrototype: true }), {
      selector: dataKey,
      minLength: 1,
      maxLength: 5,
    })
    fc.assert(
      fc.property(names, fc.constantFrom(',', ', ', ' ,\n'), (list, comma) =>
        assert.deepEqual(parseProduces(list.map(dataNameText).join(comma)), { value: list }),
      ),
    )
  })
})

describe('the claims that a workload names', () => {
  it('keep their order, each once', () => {
    assert.deepEqual(parseClaims('b'), { value: ['b'] })
    assert.deepEqual(parseClaims(' b, a.v1 ,b\n,c-1'), { value: ['b', 'a.v1', 'c-1'] })
  })
  it('are names of objects', () => {
    for (const wrong of ['Sales', 'sales_daily', 'work/sales', 'a b', '-a', 'x'.repeat(254)])
      assert.match(parseClaims(`ok, ${wrong}`).error ?? '', /^"[^"]+"…? cannot be the name of a claim: use lower case letters/)
  })
  it('are there', () => {
    assert.deepEqual(parseClaims(''), { error: 'it is empty: name a DataSourceClaim of the same namespace, or remove the annotation' })
    assert.deepEqual(parseClaims('a,,b'), {
      error: 'entry 2 is empty: name a DataSourceClaim of the same namespace there, or remove a comma',
    })
  })
  it('are at most 100', () => {
    assert.equal(parseClaims(Array.from({ length: 100 }, (_, i) => `c${i}`).join()).value?.length, 100)
    assert.deepEqual(parseClaims(Array.from({ length: 101 }, () => 'c').join()), { error: 'it has more than 100 entries: remove some' })
  })
})

describe('any text in these annotations', () => {
  const piece = fc.oneof(
    fc.constantFrom(',', '/', ' ', 'a', 'hive/table/x', '__proto__', '\n', '\ud800'),
    fc.string({ maxLength: 5, unit: 'binary' }),
  )
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

  it('is read or refused with a short sentence', () => {
    fc.assert(
      fc.property(text, (given) => {
        for (const { value, error } of [parseProduces(given), parseClaims(given)]) {
          assert.equal(value === undefined, error !== undefined)
          assert.ok((error ?? 'a: b').includes(': ') && (error ?? '').length < 700)
        }
      }),
    )
  })
  it('yields only what is complete, and what objects may be called', () => {
    fc.assert(
      fc.property(text, (given) => {
        const made = parseProduces(given).value ?? []
        assert.equal(new Set(made.map(dataKey)).size, made.length)
        for (const { system, type, name } of made)
          assert.ok(system !== '' && type !== '' && name !== '' && !`${system}${type}`.includes('/'))
        const claims = parseClaims(given).value ?? []
        assert.equal(new Set(claims).size, claims.length)
        for (const name of claims) assert.deepEqual(checkDns1123Subdomain(name), [])
      }),
    )
  })
})

describe('the key of a name', () => {
  it('is different for different names, wherever their parts begin and end', () => {
    assert.notEqual(dataKey(named('a', 'b/c', 'd')), dataKey(named('a/b', 'c', 'd')))
    assert.notEqual(dataKey(named('a', 'b","c', 'd')), dataKey(named('a","b', 'c', 'd')))
    const part = fc.string({ maxLength: 4, unit: fc.constantFrom('"', ',', '/', '\\', '[', 'a', '\ud800', '\ufffd', '\u0000') })
    const name = fc.record({ system: part, type: part, name: part })
    fc.assert(
      fc.property(name, name, (a, b) =>
        assert.equal(dataKey(a) === dataKey(b), a.system === b.system && a.type === b.type && a.name === b.name),
      ),
      { numRuns: 1000 },
    )
  })
})
