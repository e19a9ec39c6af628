import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LuaLimitError } from './errors.ts'
import { run } from './testing.ts'

const STEPS = /takes more than 2000000 steps/
const MEMORY = /makes more than 67108864 bytes/
const STACK = /stack overflow/

/** A text of 2^23 characters, and another that differs in the last one. */
const LONG = 'local a = "0123456789abcdef"; for _ = 1, 19 do a = a .. a end; local b = a .. "x"; a = a .. "y";'
const NON_ASCII = 'local s = "äöüß"; for _ = 1, 15 do s = s .. s end;'
const STRAYS = `${NON_ASCII} s = s:sub(2);`

/** Each of these would keep a process busy, or exhaust its memory, if nothing were counted. */
const HOSTILE: readonly [string, string, RegExp][] = [
  ['an endless loop', 'while true do end', STEPS],
  ['an endless repeat', 'repeat until false', STEPS],
  ['an endless goto', '::top:: goto top', STEPS],
  ['an endless numeric for', 'for i = 1, 1/0 do end', STEPS],
  ['a for that cannot reach its end', 'for i = 2^53, 2^53 + 2 do end', STEPS],
  ['an endless iterator', 'for _ in function() return 1 end do end', STEPS],
  ['a loop that catches its own end', 'while true do pcall(function() while true do end end) end', STEPS],
  ['a table that grows while it is walked', 'local t = {1}; for i in ipairs(t) do t[i + 1] = 1 end', /steps|bytes/],
  ['endless recursion', 'local function f() return f() end f()', STACK],
  ['endless recursion under pcall', 'local function f() pcall(f) end f()', STACK],
  ['recursion by sorting', 'local function f() table.sort({1, 2}, f) end f()', STACK],
  ['doubling of a text', 'local s = "x"; while true do s = s .. s end', MEMORY],
  ['doubling of a text by format', 'local s = "x"; while true do s = string.format("%s%s", s, s) end', /bytes|exceeds the maximum/],
  ['doubling of a text by concat', 'local s = "x"; while true do s = table.concat({s, s}) end', MEMORY],
  ['a heap of tables', 'local t = {}; while true do t = {t} end', MEMORY],
  ['a heap of fields', 'local t, i = {}, 0; while true do i = i + 1; t["k" .. i] = i end', /steps|bytes/],
  ['a heap of functions', 'local f; while true do local g = f; f = function() return g end end', STEPS],
  ['copies of a big table', 'local t = {}; for i = 1, 8000 do t[i] = i end; while true do local u = {unpack(t)} end', /steps|bytes/],
  ['insertions at the front', 'local t = {}; while true do table.insert(t, 1, 1) end', /steps|bytes/],
  ['sorting without end', 'local t = {}; for i = 1, 100000 do t[i] = -i end; while true do table.sort(t) end', /steps|bytes/],
  [
    'next over a big table, again and again',
    'local t = {}; for i = 1, 20000 do t["k" .. i] = i end; while true do local k = next(t); while k do k = next(t, k) end end',
    STEPS,
  ],
  [
    'a pattern that tries everything',
    'local s = ("a"):upper():lower(); for _ = 1, 12 do s = s .. s end; return s:find(".-.-.-.-.-b")',
    STEPS,
  ],
  ['a pattern of many stars', 'local s = "a"; for _ = 1, 10 do s = s .. s end; return s:match("a*a*a*a*a*a*b")', STEPS],
  ['a balanced match over and over', 'local s = "("; for _ = 1, 14 do s = s .. s end; return s:find("%b()x")', STEPS],
  ['formats of a big text', 'local s = "x"; for _ = 1, 19 do s = s .. s end; while true do local _ = string.format("%s", s) end', MEMORY],
  ['upper case of a big text', 'local s = "x"; for _ = 1, 19 do s = s .. s end; while true do s:upper() end', /steps|bytes/],
  ['find in a big text', 'local s = "x"; for _ = 1, 19 do s = s .. s end; while true do s:find("y", 1, true) end', STEPS],
  ['a result that unfolds without end', 'local t = {1}; for _ = 1, 60 do t = {t, t} end; return t', STEPS],
  [
    'many texts in one concat',
    'local t = {}; for i = 1, 1000 do t[i] = "0123456789" end; while true do table.concat(t) end',
    /steps|bytes/,
  ],
  ['comparisons of long texts', `${LONG} while true do local _ = a < b end`, STEPS],
  ['comparisons of long texts, the other way round', `${LONG} while true do local _ = a >= b end`, STEPS],
  ['equal long texts', `${LONG} while a ~= b do end`, STEPS],
  ['equal long texts in one place', `${LONG} local t = {a, b}; while true do local _ = t[1] == t[2] end`, STEPS],
  ['long texts as keys', `${LONG} local t = {}; t[a] = 1; while true do local _ = t[b] end`, STEPS],
  ['long texts as keys that are set', `${LONG} local t = {}; while true do t[a] = 1; t[b] = 1 end`, STEPS],
  [
    'keys that share a hash',
    'local s = "x"; for _ = 1, 14 do s = s .. s end; local t = {}; for i = 1000, 2000 do t[s .. i] = i end; while true do local _ = t[s .. 1999] end',
    /steps|bytes/,
  ],
  [
    'long texts that are sorted',
    `${LONG} local t = {}; for i = 1, 100 do t[i] = i % 2 == 0 and a or b end; while true do table.sort(t) end`,
    STEPS,
  ],
  ['lengths of texts beyond ASCII', `${NON_ASCII} while true do local _ = #s end`, STEPS],
  ['pieces of texts beyond ASCII', `${NON_ASCII} while true do local _ = s:sub(1, 1) end`, STEPS],
  ['lengths of texts of stray bytes', `${STRAYS} while true do local _ = #s end`, STEPS],
  ['pieces of texts of stray bytes', `${STRAYS} while true do local _ = s:sub(2, 3) end`, STEPS],
  ['upper case beyond ASCII', `${NON_ASCII} while true do s:upper() end`, /steps|bytes/],
  [
    'a plain search that almost succeeds everywhere',
    'local s = "a"; for _ = 1, 18 do s = s .. s end; local p = "b" .. s; s = s .. s; while true do s:find(p, 1, true) end',
    STEPS,
  ],
  [
    'many arguments, passed on and on',
    'local t = {}; for i = 1, 7000 do t[i] = i end; local function f(...) while true do select("#", ...) end end f(unpack(t))',
    STEPS,
  ],
  [
    'many arguments, selected',
    'local t = {}; for i = 1, 7000 do t[i] = i end; local function f(...) while true do local _ = select(2, ...) end end f(unpack(t))',
    STEPS,
  ],
  [
    'empty places before a field',
    'local t = {}; for i = 1, 30000 do t["k" .. i] = i end; for i = 1, 14000 do t["k" .. i] = nil end; while true do next(t) end',
    STEPS,
  ],
  [
    'empty places before a field, walked',
    'local t = {}; for i = 1, 30000 do t["k" .. i] = i end; for i = 1, 14000 do t["k" .. i] = nil end; while true do for _ in pairs(t) do break end end',
    STEPS,
  ],
  [
    'empty places in a list',
    'local t = {}; for i = 1, 30000 do t[i] = i end; for i = 1, 29999 do t[i] = nil end; while true do next(t) end',
    STEPS,
  ],
  ['the largest key of a big table', 'local t = {}; for i = 1, 30000 do t["k" .. i] = i end; while true do table.maxn(t) end', STEPS],
  ['digits of other bases', `${LONG} while true do tonumber(a, 16) end`, STEPS],
  [
    'quantities of very many digits',
    'local kube = require("kube"); local s = "1"; for _ = 1, 17 do s = s .. s end; while true do pcall(kube.getResourceQuantity, s) end',
    STEPS,
  ],
  [
    'sums of long quantities',
    'local kube = require("kube"); local s = "1"; for _ = 1, 17 do s = s .. s end; while true do pcall(kube.resourceAdd, s, s) end',
    STEPS,
  ],
  [
    'pods of very many containers',
    'local kube = require("kube"); local c = {}; for i = 1, 5000 do c[i] = {name = "a", image = "b"} end; local t = {spec = {containers = c}}; while true do kube.accuratePodRequirements(t) end',
    /steps|bytes/,
  ],
  ['a result that holds one long text many times', `${LONG} local t = {}; for i = 1, 1000 do t[i] = a end; return t`, MEMORY],
]

describe('lua limits', () => {
  for (const [name, body, message] of HOSTILE) {
    it(`${name} ends`, () => {
      assert.throws(
        () => {
          const results = run(body)
          if (results.type(1) === 'table') results.json(1, { root: 'list' })
        },
        (error: Error) => message.test(error.message),
      )
    })
  }

  it('the end of a budget cannot be caught', () => {
    assert.throws(() => run('local ok = pcall(function() while true do end end); return ok'), LuaLimitError)
    assert.throws(() => run('return xpcall(function() while true do end end, function() return 1 end)'), LuaLimitError)
  })

  it('a pattern with too many open choices is refused', () => {
    assert.throws(() => run('local p, s = "a?", "a"; for _ = 1, 10 do p, s = p .. p, s .. s end; return s:match(p)'), /pattern too complex/)
    assert.throws(
      () => run('return ("x"):match("((((((((((((((((((((((((((((((((((x))))))))))))))))))))))))))))))))))")'),
      /too many captures/,
    )
  })

  it('results are limited in number', () => {
    assert.throws(() => run('local t = {}; for i = 1, 9000 do t[i] = i end; return unpack(t)'), /too many results to unpack/)
    assert.throws(() => run('return unpack({}, 1, 1e9)'), /too many results to unpack/)
    assert.throws(() => run('local s = "x"; for _ = 1, 14 do s = s .. s end; return s:byte(1, -1)'), /string slice too long/)
  })

  const given =
    (value: unknown, body: string): (() => unknown) =>
    () =>
      run(body, [value]).json(1, { root: 'list', references: [{}] })
  it('what a script reads of its arguments is counted as well', () => {
    const long = 'x'.repeat(1_000_000)
    const containers = Array.from({ length: 5000 }, () => ({ name: 'a' }))
    const ofPods = 'local kube = require("kube"); while true do kube.accuratePodRequirements(arg1) end'
    assert.throws(given([long], 'local t = {}; for i = 1, 100 do t[i] = arg1 end; return t'), MEMORY)
    assert.throws(given({ a: long, b: `${long.slice(1)}y` }, 'while arg1.a ~= arg1.b do end'), STEPS)
    assert.throws(given({ spec: { containers } }, ofPods), STEPS)
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, {}]))
    assert.throws(given(fields, 'while true do next(arg1) end'), STEPS)
  })

  it('what is read again and again of an argument is found without a search', () => {
    const nulls = Array.from({ length: 1_000_000 }, () => null)
    assert.equal(run('local n = 0; for i = 1, 100000 do n = n + #arg1 end; return n', [nulls]).value(1), 0)
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, {}]))
    assert.equal(run('local n = 0; for _, v in pairs(arg1) do if v then n = n + 1 end end; return n', [fields]).value(1), 20_000)
    const body = 'arg1.k19999.a = 1; for _, v in pairs(arg1) do v.b = 2 end; return arg1.k19999.a + arg1.k3.b'
    assert.equal(run(body, [fields]).value(1), 3)
  })

  it('limits are those that are given', () => {
    const body = 'local n = 0; for i = 1, 50 do n = n + i end; return n'
    assert.equal(run(body, [], { steps: 60, memoryBytes: 1000, depth: 5 }).value(1), 1275)
    assert.throws(() => run(body, [], { steps: 40, memoryBytes: 1000, depth: 5 }), /more than 40 steps/)
    assert.throws(() => run('return {1, 2, 3, 4, 5}', [], { steps: 60, memoryBytes: 100, depth: 5 }), /more than 100 bytes/)
  })

  it('the same script ends at the same step every time', () => {
    const body = 'local t = {}; local i = 0; while true do i = i + 1; t[#t + 1] = ("x"):upper() .. i end'
    const message = (): string => {
      try {
        run(body)
      } catch (error) {
        return (error as Error).message
      }
      return 'no end'
    }
    assert.equal(message(), message())
  })
})
