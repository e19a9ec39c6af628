import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Script } from './script.ts'
import { answerOf, failureOf } from './testing.ts'

/** Expression or statements → what `return` yields, as JSON. */
const CASES: readonly [string, string, unknown][] = [
  ['numbers print without fraction when whole', 'return tostring(10/2) .. tostring(2^53) .. tostring(-0)', '590071992547409920'],
  [
    'numbers with a fraction print as Go prints them',
    'return tostring(0.1) .. " " .. tostring(1234567.5) .. " " .. tostring(1e-7)',
    '0.1 1.2345675e+06 1e-07',
  ],
  ['infinity and what is no number', 'return tostring(1/0) .. tostring(-1/0) .. tostring(0/0)', '+Inf-InfNaN'],
  ['text counts as a number', 'return "10" + 5 .. ""', '15'],
  ['hexadecimal text counts as a number', 'return "0x10" + 0', 16],
  ['the remainder has the sign of the divisor', 'return {5 % 3, -5 % 3, 5 % -3, -5 % -3, 5.5 % 2}', [2, 1, -1, -2, 1.5]],
  ['power binds to the right and before minus', 'return {2^3^2, -2^2}', [512, -4]],
  ['concatenation takes numbers', 'return 1 .. 2', '12'],
  ['and, or give their operands', 'return {nil or 1, false or 2, 0 and 3, nil and 4 or 5}', [1, 2, 3, 5]],
  ['only nil and false are untrue', 'if 0 and "" then return "yes" end', 'yes'],
  [
    'and does not evaluate its right side in vain',
    'local n = 0; local function f() n = n + 1 return true end; local _ = false and f(); return n',
    0,
  ],
  [
    'comparison of texts goes by bytes',
    'return {"a" < "b", "Z" < "a", "é" > "z", "\\239\\191\\189" < "\\240\\159\\152\\128"}',
    [true, true, true, true],
  ],
  ['equality does not coerce', 'return {1 == "1", "a" == "a", {} == {}}', [false, true, false]],
  ['locals shadow', 'local x = 1; do local x = x + 1; x = x + 1 end; return x', 1],
  ['a local is not visible in its own value', 'local x = 1; local x = x + 1; return x', 2],
  ['functions are recursive', 'local function fact(n) if n <= 1 then return 1 end return n * fact(n - 1) end return fact(10)', 3628800],
  [
    'closures keep a variable per turn',
    'local fs = {}; for i = 1, 3 do fs[i] = function() return i end end; return fs[1]() + fs[2]() * 10 + fs[3]() * 100',
    321,
  ],
  ['closures share a variable', 'local n = 0; local function inc() n = n + 1 end; inc(); inc(); return n', 2],
  ['several values from a call', 'local function two() return 1, 2 end; local a, b, c = two(); return {a, b, c == nil}', [1, 2, true]],
  ['only the last call is spread', 'local function two() return 1, 2 end; return {two(), two()}', [1, 1, 2]],
  ['parentheses cut to one value', 'local function two() return 1, 2 end; return {(two())}', [1]],
  ['parentheses cut in arguments', 'local function two() return 1, 2 end; return select("#", (two()))', 1],
  [
    'parentheses cut in return',
    'local function two() return 1, 2 end; local function one() return (two()) --[[ cut ]] end; return select("#", one())',
    1,
  ],
  ['variable arguments', 'local function f(...) local a, b = ...; return select("#", ...), a, b end; return {f(7, nil, 9)}', [3, 7]],
  ['variable arguments in parentheses', 'local function f(...) return (...) end; return {f(1, 2, 3)}', [1]],
  ['assignment evaluates the right side first', 'local a, b = 1, 2; a, b = b, a; return {a, b}', [2, 1]],
  ['assignment fixes tables and keys first', 'local i, t = 1, {}; i, t[i] = i + 1, 20; return {i, t[1]}', [2, 20]],
  ['missing values are nil', 'local a, b = 1; return b == nil', true],
  ['methods get themselves', 'local t = {n = 5}; function t:add(k) return self.n + k end; return t:add(3)', 8],
  ['functions in tables', 'local t = {a = {}}; function t.a.f(x) return x * 2 end; return t.a.f(4)', 8],
  ['calls with a text or a table', 'local function f(x) return type(x) end; return f"x" .. f{1}', 'stringtable'],
  ['while and break', 'local i = 0; while true do i = i + 1; if i > 5 then break end end; return i', 6],
  ['repeat sees the locals of its body', 'local i = 0; repeat local done = i >= 3; i = i + 1 until done; return i', 4],
  [
    'break leaves the inner loop only',
    'local n = 0; for i = 1, 3 do for j = 1, 3 do if j == 2 then break end; n = n + 1 end end; return n',
    3,
  ],
  ['numeric for with a step', 'local t = {}; for i = 10, 1, -3 do t[#t + 1] = i end; return t', [10, 7, 4, 1]],
  ['numeric for runs not at all', 'local n = 0; for i = 3, 1 do n = n + 1 end; return n', 0],
  ['the loop variable is a copy', 'local n = 0; for i = 1, 3 do local j = i; i = 10; n = n + j end; return n', 6],
  [
    'goto continue',
    'local t = {}; for i = 1, 5 do if i % 2 == 0 then goto continue end; local x = i * 10; t[#t + 1] = x; ::continue:: end; return t',
    [10, 30, 50],
  ],
  [
    'goto continue in repeat',
    'local i, n = 0, 0; repeat i = i + 1; if i == 2 then goto continue end; n = n + i; ::continue:: until i >= 3; return n',
    4,
  ],
  ['goto back', 'local i = 1; ::again:: i = i * 2; if i < 100 then goto again end; return i', 128],
  [
    'goto out of two loops',
    'local n = 0; for i = 1, 3 do for j = 1, 3 do n = n + 1; if n == 4 then goto out end end end; ::out:: return n',
    4,
  ],
  ['break beside a label', 'local n = 0; while true do n = n + 1; ::top:: if n < 3 then n = n + 1; goto top end; break end; return n', 3],
  [
    'pairs in the order of insertion',
    'local s = ""; local t = {}; t.z = 1; t.a = 2; t[1] = 3; for k, v in pairs(t) do s = s .. k .. v end; return s',
    '13z1a2',
  ],
  ['pairs while fields are removed', 'local t = {a = 1, b = 2, c = 3}; for k in pairs(t) do t[k] = nil end; return next(t) == nil', true],
  ['ipairs stops at nil', 'local n = 0; for _, v in ipairs({1, 2, nil, 4}) do n = n + v end; return n', 3],
  [
    'iterators of the script',
    'local function upto(n) local i = 0; return function() i = i + 1; if i <= n then return i, i * i end end end; local s = 0; for i, sq in upto(3) do s = s + sq end; return s',
    14,
  ],
  [
    'next walks a table',
    'local t = {10, x = 20}; local k, v = next(t); local k2, v2 = next(t, k); return {k, v, k2, v2, next(t, k2) == nil}',
    [1, 10, 'x', 20, true],
  ],
  [
    'a script may have its own pairs',
    'local function pairs(t) return function() end end; local n = 0; for _ in pairs({1}) do n = n + 1 end; return n',
    0,
  ],
  ['globals of the script', 'x = 1; local function f() x = x + 1 end; f(); return x', 2],
  ['globals as a table', '_G.y = 5; y = y + 1; return _G["y"]', 6],
  ['_G names the library', 'return _G.string.upper("a") .. tostring(_G._G == _G)', 'Atrue'],
  ['nil fields are not there', 'local t = {1, 2, 3}; t[3] = nil; return #t', 2],
  ['fields set before the ones in front', 'local t = {}; t[2] = "b"; t[1] = "a"; return {#t, t[1], t[2]}', [2, 'a', 'b']],
  ['the list wins over written keys', 'return {[1] = "x", "y"}', ['y']],
  ['empty statement and comments', 'local a = 1; --[==[ long ]] ]==] return a -- end', 1],
  ['escapes', 'return "a\\tb\\n\\"\\65\\x41"', 'a\tb\n"AA'],
  ['long strings', 'return [[\nline]]', 'line'],
  ['beyond ASCII', 'return "grüße " .. "日本"', 'grüße 日本'],
  ['length counts bytes', 'return {#"é", ("日本"):len(), #"abc"}', [2, 6, 3]],
  [
    'hostile names are names',
    'local constructor, __proto__, arguments, this, await = 1, 2, 3, 4, 5; return constructor + __proto__ + arguments + this + await',
    15,
  ],
]

describe('lua', () => {
  for (const [name, body, expected] of CASES) it(name, () => assert.deepEqual(answerOf(body), expected))

  it('starts every call with fresh globals and libraries', () => {
    const body =
      'count = (count or 0) + 1; local old = string.extra; string.extra = "changed"; table.insert = nil; return {count, old == nil}'
    for (let i = 0; i < 3; i++) assert.deepEqual(answerOf(body), [1, true])
    assert.equal(answerOf('local t = {}; table.insert(t, 1); return #t'), 1)
  })

  it('what a script can change is looked up when it is used', () => {
    assert.equal(answerOf('local function f() return type(1) end; type = function() return "mine" end; return f()'), 'mine')
    assert.equal(answerOf('local t = table; t.insert = function() return "mine" end; return table.insert({}, 1)'), 'mine')
    assert.equal(answerOf('local function f(table) return table.insert end; return f({insert = 5})'), 5)
    assert.equal(answerOf('function math.twice(x) return 2 * x end; return math.twice(4) + math.floor(1.5)'), 9)
    assert.equal(answerOf('local seen = {}; for name in pairs(os) do seen[#seen + 1] = name end; return #seen'), 2)
    assert.equal(answerOf('local upper = string.upper; return upper("a") .. string.lower("B")'), 'Ab')
  })

  it('a module that is only read from is known at once, and one that is changed is a copy', () => {
    const call = (source: string) => new Script(source, 'main').call([], { now: () => 0 })
    assert.equal(call('local kube = require("kube")\nfunction main() return kube.resourceAdd("1", "500m") end').value(1), '1500m')
    assert.equal(call('local kube = require "kube"\nfunction main() return kube.nothing == nil end').value(1), true)
    assert.throws(
      () => call('local kube = require("kube")\nfunction main()\n return kube.nothing() end'),
      /line 3: attempt to call a nil value \(field 'nothing'\)/,
    )
    assert.equal(
      call('local kube = require("kube")\nkube.resourceAdd = nil\nfunction main() return kube.resourceAdd == nil end').value(1),
      true,
    )
    assert.equal(call('local kube = require("kube")\nfunction main(kube) return kube == nil end').value(1), true)
    assert.equal(call('function require() return {x = 7} end\nlocal kube = require("kube")\nfunction main() return kube.x end').value(1), 7)
  })

  it('a changed string library is what methods use, in that call', () => {
    assert.equal(answerOf('string.twice = function(s) return s .. s end; return ("ab"):twice()'), 'abab')
    assert.match(failureOf('return ("ab"):twice()'), /attempt to call a nil value \(method 'twice'\)/)
  })
})

const FAILURES: readonly [string, string, string][] = [
  ['indexing nil names the field', 'local o = {}\nreturn o.spec.replicas', "line 2: attempt to index a nil value (field 'spec')"],
  ['indexing an undefined global', 'return missing.x', "line 1: attempt to index a nil value (global 'missing')"],
  ['calling nil', 'local f\n\nf()', "line 3: attempt to call a nil value (local 'f')"],
  ['arithmetic on a table', 'local t = {}\nreturn t + 1', "line 2: attempt to perform arithmetic on a table value (local 't')"],
  ['comparing unlike things', 'return 1 < "2"', 'line 1: attempt to compare number with string'],
  ['comparing tables', 'return {} < {}', 'line 1: attempt to compare two table values'],
  ['concatenating nil', 'return "a" .. nil', 'line 1: attempt to concatenate a nil value'],
  ['length of nil', 'return #nil', 'line 1: attempt to get length of a nil value'],
  ['a nil key', 'local t = {}; t[nil] = 1', 'line 1: table index is nil'],
  ['a key that is no number', 'local t = {}; t[0/0] = 1', 'line 1: table index is NaN'],
  ['a loop of zero steps', 'for i = 1, 2, 0 do end', "line 1: 'for' step is zero"],
  ['a loop over nil', '\nfor _ in pairs(nil) do end', "line 2: bad argument #1 to 'pairs' (table expected, got nil)"],
  ['an error of the script', '\n\nerror("broken")', 'line 3: broken'],
  ['an error without a place', 'error("broken", 0)', 'broken'],
  ['an assertion', 'assert(false, "no")', 'no'],
  ['a wrong argument', 'table.insert(nil, 1)', "line 1: bad argument #1 to 'insert' (table expected, got nil)"],
]

describe('lua errors', () => {
  for (const [name, body, message] of FAILURES) it(name, () => assert.equal(failureOf(body), message))

  it('are caught by pcall', () => {
    assert.deepEqual(answerOf('local ok, message = pcall(function() error("x") end); return {ok, message}'), [false, 'line 1: x'])
    assert.deepEqual(answerOf('local ok, e = pcall(error, {code = 7}); return {ok, e.code}'), [false, 7])
    assert.deepEqual(answerOf('return {pcall(function() return 1, 2 end)}'), [true, 1, 2])
    assert.deepEqual(answerOf('return {xpcall(function() error("x", 0) end, function(m) return m .. "!" end)}'), [false, 'x!'])
    assert.deepEqual(answerOf('return {pcall(nil)}'), [false, 'attempt to call a nil value'])
  })
})
