import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Operation, applyPatch as reference } from 'rfc6902'
import { deepClone, deepEqual, deepFreeze } from '../../base/json.ts'
import { applyPatch, DoesNotApply, type PatchOperation } from './json-patch.ts'

const add = (path: string, value: unknown): PatchOperation => ({ operator: 'add', path, value })
const replace = (path: string, value: unknown): PatchOperation => ({ operator: 'replace', path, value })
const remove = (path: string): PatchOperation => ({ operator: 'remove', path })

describe('a patch of an override', () => {
  const cases: [string, unknown, PatchOperation[], unknown][] = [
    ['adds a key', { a: 1 }, [add('/b', 2)], { a: 1, b: 2 }],
    ['adds over a key', { a: 1 }, [add('/a', 2)], { a: 2 }],
    ['adds deep down', { a: { b: {} } }, [add('/a/b/c', [1])], { a: { b: { c: [1] } } }],
    ['inserts into a list', { a: [1, 3] }, [add('/a/1', 2)], { a: [1, 2, 3] }],
    ['appends to a list', { a: [1] }, [add('/a/-', 2)], { a: [1, 2] }],
    ['inserts at the end by index', { a: [1] }, [add('/a/1', 2)], { a: [1, 2] }],
    ['counts from the end', { a: [1, 2, 3] }, [replace('/a/-1', 9)], { a: [1, 2, 9] }],
    ['replaces', { a: { b: 1 } }, [replace('/a/b', null)], { a: { b: null } }],
    ['removes a key', { a: 1, b: 2 }, [remove('/a')], { b: 2 }],
    ['removes from a list', { a: [1, 2] }, [remove('/a/0')], { a: [2] }],
    ['reads escapes', { 'x/y~z': 1 }, [replace('/x~1y~0z', 2)], { 'x/y~z': 2 }],
    ['takes an absent value for null', { a: 1 }, [{ operator: 'add', path: '/b' }], { a: 1, b: null }],
    ['does one after the other', {}, [add('/a', {}), add('/a/b', 1), replace('/a/b', 2)], { a: { b: 2 } }],
    ['has an empty key, too', { '': 1 }, [replace('/', 2)], { '': 2 }],
    ['replaces the whole', { a: 1 }, [replace('', [1])], [1]],
    ['treats no key as special', {}, [add('/__proto__', { a: 1 })], JSON.parse('{"__proto__":{"a":1}}')],
  ]
  for (const [name, document, patch, wanted] of cases) {
    it(name, () => assert.deepEqual(applyPatch(deepFreeze(document), patch), wanted))
  }

  const refused: [string, unknown, PatchOperation, string][] = [
    ['replace of nothing', { a: {} }, replace('/a/b', 1), 'replace "/a/b": there is no "b"'],
    ['removal of nothing', {}, remove('/a'), 'remove "/a": there is no "a"'],
    ['nothing on the way', {}, add('/a/b', 1), 'add "/a/b": there is no "a"'],
    ['a value on the way', { a: 1 }, add('/a/b', 1), 'add "/a/b": "b" cannot be added to what is neither an object nor a list'],
    ['null on the way', { a: null }, replace('/a/b', 1), 'replace "/a/b": "b" is looked for in what is neither an object nor a list'],
    ['beyond a list', { a: [1] }, replace('/a/1', 1), 'replace "/a/1": a list has no index 1'],
    ['insertion beyond a list', { a: [1] }, add('/a/3', 1), 'add "/a/3": a list has no index 3'],
    ['a name in a list', { a: [1] }, remove('/a/x'), 'remove "/a/x": "x" is no index of a list'],
    ['the place after the last', { a: [1] }, remove('/a/-'), 'remove "/a/-": "-" is no index of a list'],
    ['a path without slash', { a: 1 }, replace('a', 2), 'replace "a": a path begins with a slash'],
    ['removal of the whole', { a: 1 }, remove(''), 'remove "": the whole cannot be removed'],
    ['a whole that is no container', { a: 1 }, replace('', 'x'), 'replace "": the whole can only become an object or a list'],
    ['inherited names', {}, remove('/toString'), 'remove "/toString": there is no "toString"'],
    ['other operators', {}, { operator: 'move', path: '/a' }, 'move "/a": there is no such operator; there are add, remove and replace'],
  ]
  for (const [name, document, operation, message] of refused) {
    it(`refuses ${name}`, () => assert.throws(() => applyPatch(deepFreeze(document), [operation]), { message }))
  }

  it('keeps keys in their places, new ones last', () => {
    const result = applyPatch({ b: 1, a: { d: 1, c: 2 } }, [replace('/a/d', 3), add('/a/b', 4), replace('/b', 5)])
    assert.equal(JSON.stringify(result), '{"b":5,"a":{"d":3,"c":2,"b":4}}')
  })

  it('is all or nothing, and agrees with another implementation of the standard', () => {
    const key = fc.constantFrom('a', 'b', '0', '1', '-')
    const { tree } = fc.letrec<{ tree: unknown; leaf: unknown; list: unknown; object: unknown }>((tie) => ({
      leaf: fc.constantFrom(1, 'x', null, true),
      list: fc.array(tie('tree'), { maxLength: 2 }),
      object: fc.dictionary(fc.constantFrom('a', 'b'), tie('tree'), { maxKeys: 2, noNullPrototype: true }),
      tree: fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('list'), tie('object')),
    }))
    const document = fc.dictionary(fc.constantFrom('a', 'b'), tree, { noNullPrototype: true })
    const path = fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => `/${keys.join('/')}`)
    const patch = fc.array(
      fc.oneof(
        fc.tuple(path, tree).map(([at, value]) => add(at, value)),
        fc.tuple(path, tree).map(([at, value]) => replace(at, value)),
        path.map(remove),
      ),
      { minLength: 1, maxLength: 4 },
    )
    const outcome = (act: () => unknown): { result: unknown } | 'refused' => {
      try {
        return { result: act() }
      } catch (error) {
        assert.ok(error instanceof DoesNotApply)
        return 'refused'
      }
    }
    /** It modifies its input, and breaks if a scalar is in the way. */
    const standard = (given: unknown, operations: readonly PatchOperation[]): { result: unknown } | 'refused' => {
      const result = deepClone(given)
      const patch = operations.map(({ operator, path, value }) => ({ op: operator, path, value: deepClone(value) })) as Operation[]
      try {
        return reference(result, patch).every((error) => error === null) ? { result } : 'refused'
      } catch (error) {
        assert.ok(error instanceof TypeError)
        return 'refused'
      }
    }
    let applied = 0
    fc.assert(
      fc.property(document, patch, (given, operations) => {
        const ours = outcome(() => applyPatch(deepFreeze(deepClone(given)), operations))
        const theirs = standard(given, operations)
        if (theirs === 'refused') assert.equal(ours, 'refused')
        // The other implementation accepts names and positions beyond the end of a list.
        if (ours === 'refused' || theirs === 'refused') return
        applied++
        assert.ok(deepEqual(ours.result, theirs.result), JSON.stringify({ ours, theirs }))
      }),
      { numRuns: 2000 },
    )
    assert.ok(applied > 100, `only ${applied} patches applied`)
  })
})
