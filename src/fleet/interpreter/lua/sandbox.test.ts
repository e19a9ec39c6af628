/**
 * No access to the host. Programs are generated at random from a grammar that favours the names used to escape from
 * JavaScript sandboxes; whatever they do, they must end with a Lua value, a Lua error or a limit, and leave the host as it
 * was.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LuaError, LuaLimitError, LuaSyntaxError } from './errors.ts'
import { Script } from './script.ts'
import { LuaTable } from './table.ts'
import { run } from './testing.ts'
import type { LuaValue } from './values.ts'

const HOSTILE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'call',
  'apply',
  'bind',
  'arguments',
  'caller',
  'length',
  'name',
  'globalThis',
  'process',
  'require',
  'Function',
  'eval',
  'then',
  'run',
  'steps',
  'hash',
  'source',
  'get',
  'set',
  '$r',
  '$field',
]
const EXPECTED = [LuaError, LuaLimitError, LuaSyntaxError]

const identifiers = HOSTILE_NAMES.filter((name) => /^[a-zA-Z_]\w*$/.test(name))
const name = fc.constantFrom(
  ...identifiers,
  'a',
  'b',
  'string',
  'table',
  'math',
  'os',
  'pairs',
  'next',
  'pcall',
  'tostring',
  'select',
  '_G',
)
const text = fc
  .oneof(fc.constantFrom(...HOSTILE_NAMES), fc.string({ maxLength: 6 }))
  .map((value) => JSON.stringify(value).replace(/\\u[0-9a-f]{4}|\\[bf]/g, '?'))

const { expression, statement } = fc.letrec<{ expression: string; statement: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    name,
    text,
    fc.constantFrom('1', '0', '-1', 'nil', 'true', '{}', '1e309', 'obj', '...'),
    fc.tuple(tie('expression'), name).map(([base, key]) => `(${base}).${key}`),
    fc.tuple(tie('expression'), tie('expression')).map(([base, key]) => `(${base})[${key}]`),
    fc.tuple(tie('expression'), tie('expression')).map(([target, arg]) => `(${target})(${arg})`),
    fc.tuple(tie('expression'), name, tie('expression')).map(([target, method, arg]) => `(${target}):${method}(${arg})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('+', '..', '==', '<', 'and', 'or', '%'), tie('expression'))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(text, tie('expression'), tie('expression')).map(([key, a, b]) => `{[${key}] = ${a}, ${b}}`),
    fc.tuple(name, tie('expression')).map(([parameter, body]) => `function(${parameter}, ...) return ${body} end`),
  ),
  statement: fc.oneof(
    { maxDepth: 2 },
    fc.tuple(name, tie('expression')).map(([target, value]) => `${target} = ${value}`),
    fc.tuple(name, tie('expression')).map(([target, value]) => `local ${target} = ${value}`),
    fc.tuple(name, text, tie('expression')).map(([target, key, value]) => `(${target})[${key}] = ${value}`),
    tie('expression').map((value) => `pcall(function() return ${value} end)`),
    fc.tuple(name, tie('expression'), tie('statement')).map(([key, over, body]) => `for ${key} in pairs(${over}) do ${body} end`),
    fc.tuple(tie('expression'), tie('statement')).map(([condition, body]) => `if ${condition} then ${body} end`),
  ),
}))

const program = fc
  .tuple(fc.array(statement, { maxLength: 4 }), expression)
  .map(([body, answer]) => `function main(obj, ...)\n${body.join('\n')}\nreturn ${answer}\nend`)

function isLuaValue(value: LuaValue | undefined): boolean {
  return value === undefined || ['boolean', 'number', 'string', 'function'].includes(typeof value) || value instanceof LuaTable
}

/** Everything about the host that an escape would be likely to change. */
function hostState(): string {
  return JSON.stringify(
    [Object, Array, Function, Map, String, Number, LuaTable]
      .map((host) => Object.getOwnPropertyNames(host.prototype).concat(Object.getOwnPropertyNames(host)))
      .concat([Object.getOwnPropertyNames(globalThis)]),
  )
}

describe('lua sandbox', () => {
  it('random programs end as Lua ends, and change nothing outside', () => {
    const before = hostState()
    const object = Object.freeze({ apiVersion: 'v1', list: Object.freeze([1, Object.freeze({ a: 'b' })]), text: 'x' })
    let compiled = 0
    fc.assert(
      fc.property(program, (source) => {
        try {
          const script = new Script(source, 'main')
          compiled++
          const results = script.call([object, 'more'], { now: () => 0, limits: { steps: 20_000, memoryBytes: 1_000_000, depth: 50 } })
          assert.ok(isLuaValue(results.value(1)))
          if (results.type(1) === 'table') JSON.stringify(results.json(1, { root: 'struct' }))
        } catch (error) {
          assert.ok(
            EXPECTED.some((kind) => error instanceof kind),
            `${(error as Error).stack}\n${source}`,
          )
        }
      }),
      { numRuns: 3000 },
    )
    assert.ok(compiled > 1000, `most programs compile (${compiled})`)
    assert.equal(hostState(), before)
  })

  it('random texts are compiled or refused', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({
            unit: fc.constantFrom(
              ...'(){}[]=.,:;"\'-+*/%^#<>~ \n',
              'end',
              'do',
              'if',
              'then',
              'x',
              '1',
              'function',
              'local',
              'return',
              'goto',
              '::',
            ),
          }),
        ),
        (source) => {
          try {
            assert.ok(new Script(source, 'main'))
          } catch (error) {
            assert.ok(error instanceof LuaSyntaxError, `${(error as Error).stack}\n${source}`)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  for (const key of HOSTILE_NAMES) {
    it(`nothing of the host is behind ${key}`, () => {
      const quoted = JSON.stringify(key)
      const body = `
        local function f() end
        local seen = {}
        for _, value in ipairs({arg1, {}, string, table, f and {}, arg1.list}) do
          local found = value[${quoted}]
          if found ~= nil and value ~= string and value ~= table then seen[#seen + 1] = type(found) end
        end
        return #seen`
      assert.equal(run(body, [{ list: [1] }]).value(1), 0)
      // Neither functions nor numbers can be indexed.
      assert.throws(() => run(`return (print)[${quoted}]`), /attempt to index a function value/)
      assert.throws(() => run(`return (1)[${quoted}]`), /attempt to index a number value/)
    })
  }

  it('texts of the script cannot end the code around them', () => {
    const texts = [
      '"];globalThis.escaped=1;["',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: that is the attempt
      '`${globalThis.escaped=1}`',
      '\u2028globalThis.escaped=1//',
      "'+globalThis.escaped+'",
      '*/ globalThis.escaped=1 /*',
      '</script>',
    ]
    for (const value of texts) {
      const literal = `"${value.replace(/[\\"]/g, '\\$&')}"`
      assert.equal(run(`local t = {[${literal}] = ${literal}}; return t[${literal}]`).value(1), value)
    }
    assert.equal((globalThis as { escaped?: number }).escaped, undefined)
  })

  it('compiled code sees no variables but its own', () => {
    for (const global of [
      'process',
      'globalThis',
      'Buffer',
      'Function',
      'setTimeout',
      'console',
      'eval',
      'undefined',
      'this',
      'arguments',
      'run',
      'compile',
    ]) {
      assert.equal(run(`return ${global} == nil`).value(1), true, global)
    }
  })

  it('very deep scripts are refused, not crashed on', () => {
    for (const source of [
      `return ${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
      `return ${'{'.repeat(50_000)}${'}'.repeat(50_000)}`,
      `${'do '.repeat(50_000)}${'end '.repeat(50_000)}`,
      `return ${'-'.repeat(1)}${'not '.repeat(50_000)}1`,
    ]) {
      assert.throws(() => new Script(source, 'main'), LuaSyntaxError)
    }
    assert.throws(() => new Script('-'.repeat(2_000_000), 'main'), /longer than/)
  })
})
