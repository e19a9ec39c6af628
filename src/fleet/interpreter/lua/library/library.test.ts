import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerOf, failureOf } from '../testing.ts'

const CASES: readonly [string, unknown][] = [
  // string
  ['return ("hello"):sub(2, 4)', 'ell'],
  ['return ("hello"):sub(-3)', 'llo'],
  ['return ("hello"):sub(0) .. ("hello"):sub(4, 2) .. ("hello"):sub(2, 100)', 'helloello'],
  ['return ("grüße"):sub(1, 4)', 'grü'],
  ['return ("grüße"):sub(1, 3) .. ("grüße"):sub(4, 4) == "grü"', false],
  ['return {("grüße"):sub(1, 3)}', ['gr\ufffd']],
  ['return ("abc"):upper() .. ("ÄÖ"):lower() .. ("straße"):upper()', 'ABCäöSTRAßE'],
  ['return ("abc"):reverse() .. #("äb"):reverse()', 'cba3'],
  ['return {("abc"):byte(1, -1)}', [97, 98, 99]],
  ['return {("é"):byte(1, 2)}', [195, 169]],
  ['return string.char(72, 105, 195, 169)', 'Hié'],
  ['return string.len("日")', 3],
  // find and match
  ['return {("hello world"):find("o w")}', [5, 7]],
  ['return {("a.b"):find(".", 1, true)}', [2, 2]],
  ['return {("a+b"):find("+", 1, true)}', [2, 2]],
  ['return {("hello"):find("l+")}', [3, 4]],
  ['return {("hello"):find("(l)(l)")}', [3, 4, 'l', 'l']],
  ['return ("hello"):find("xyz") == nil', true],
  ['return {("hello"):find("", 10)}', [6, 5]],
  ['return ("key = value"):match("^(%w+)%s*=%s*(%w+)$")', 'key'],
  ['return {("key = value"):match("^(%w+)%s*=%s*(%w+)$")}', ['key', 'value']],
  ['return ("2024-02-03"):match("%d+")', '2024'],
  ['return ("  trim  "):match("^%s*(.-)%s*$")', 'trim'],
  ['return ("f(a(b)c)d"):match("%b()")', '(a(b)c)'],
  ['return {("hello"):match("()ll()")}', [3, 5]],
  ['return ("x=1"):match("[^=]*")', 'x'],
  ['return ("a-b]c"):match("[%]%-]")', '-'],
  ['return ("THE (quick) fox"):find("%f[%a]%a+%f[%A]")', 1],
  ['return ("abab"):match("(ab)%1")', 'ab'],
  ['return ("colour"):match("colou?r") .. ("color"):match("colou?r")', 'colourcolor'],
  ['return ("100Mi"):match("^(%d+)(%a*)$") .. "/" .. select(2, ("100Mi"):match("^(%d+)(%a*)$"))', '100/Mi'],
  ['return ("[[x]]"):match("[[]+")', '[['],
  ['return ("a,b,,c"):match(",([^,]*),", 4)', ''],
  ['return ("größe"):match("ö")', 'ö'],
  ['local t = {}; for w in ("one two three"):gmatch("%a+") do t[#t + 1] = w end; return t', ['one', 'two', 'three']],
  ['local t = {}; for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do t[k] = v end; return t', { a: '1', b: '2' }],
  ['local n = 0; for _ in ("abc"):gmatch("") do n = n + 1 end; return n', 4],
  // format
  ['return string.format("%d %5d|%-5d|%05d|%+d", 3.7, 42, 42, -42, 7)', '3    42|42   |-0042|+7'],
  ['return string.format("%x %X %#x %o %c", 255, 255, 255, 8, 65)', 'ff FF 0xff 10 A'],
  ['return string.format("%.2f %e %g %g %g", 3.14159, 12345.678, 0.0001, 1e20, 100000)', '3.14 1.234568e+04 0.0001 1e+20 100000'],
  ['return string.format("%5s|%-5s|%.2s|%%|%s %s", "ab", "ab", "abc", nil, true)', '   ab|ab   |ab|%|nil true'],
  ['return string.format("%q", "a\\"b\\n")', '"a\\"b\\\n"'],
  // table
  ['local t = {1, 2}; table.insert(t, 3); table.insert(t, 1, 0); return t', [0, 1, 2, 3]],
  ['local t = {1, 2, 3}; return {table.remove(t, 1), table.remove(t), #t}', [1, 3, 1]],
  ['return table.remove({}) == nil', true],
  ['return table.concat({1, "b", 3}, ", ", 2, 3)', 'b, 3'],
  ['local t = {3, 1, 2}; table.sort(t); return t', [1, 2, 3]],
  ['local t = {"b", "a"}; table.sort(t, function(x, y) return x > y end); return t', ['b', 'a']],
  ['return {table.getn({1, 2}), table.maxn({1, [10] = 1}), unpack({7, 8})}', [2, 10, 7, 8]],
  ['return {select(-1, "a", "b"), select(2, "a", "b", "c")}', ['b', 'b', 'c']],
  // numbers
  [
    'return {tonumber("12"), tonumber(" 0x1F "), tonumber("1e2"), tonumber("ff", 16), tonumber("z", 36), tonumber("777", 8)}',
    [12, 31, 100, 255, 35, 511],
  ],
  ['return {tonumber("1a") == nil, tonumber("") == nil, tonumber({}) == nil, tonumber("9", 8) == nil}', [true, true, true, true]],
  [
    'return {math.floor(-1.5), math.ceil(1.2), math.max("10", 9), math.min(3, 1, 2), math.fmod(-5, 3), math.pow(2, 3)}',
    [-2, 2, 10, 1, -2, 8],
  ],
  ['return {math.modf(3.25)}', [3, 0.25]],
  ['return {math.frexp(8)}', [0.5, 4]],
  ['return math.random(1, 6) == math.random(1, 6) and "same" or "other"', 'other'],
  ['return math.pi > 3.14 and math.huge == 1/0', true],
  // time
  ['return os.time()', 1706933106],
  ['return os.time({year = 2024, month = 2, day = 3, hour = 4, min = 5, sec = 6})', 1706933106],
  ['return os.date("!%Y-%m-%dT%H:%M:%SZ", 0)', '1970-01-01T00:00:00Z'],
  ['return os.date("%a %d %b %j %p %%")', 'Sat 03 Feb 034 AM %'],
  ['local d = os.date("*t"); return {d.year, d.wday, d.yday, d.isdst}', [2024, 7, 34, false]],
  [
    'return {os.execute == nil, os.getenv == nil, os.exit == nil, io == nil, debug == nil, coroutine == nil}',
    [true, true, true, true, true, true],
  ],
  ['return select("#", print("nobody reads this"))', 0],
]

describe('lua library', () => {
  for (const [body, expected] of CASES) it(body, () => assert.deepEqual(answerOf(body), expected))

  it('random numbers begin the same at every call', () => {
    const body = 'return {math.random(), math.random(100)}'
    assert.deepEqual(answerOf(body), answerOf(body))
  })

  for (const name of [
    'collectgarbage',
    'dofile',
    'getfenv',
    'getmetatable',
    'load',
    'loadfile',
    'loadstring',
    'rawequal',
    'rawget',
    'rawset',
    'setfenv',
    'setmetatable',
    'module',
    'newproxy',
  ]) {
    it(`${name} raises`, () => {
      assert.equal(
        failureOf(`${name}({}, {})`),
        `line 1: call function ${name} is not supported in karmada customized resourceinterpreter.`,
      )
    })
  }

  for (const name of ['rep', 'gsub', 'dump']) {
    it(`string.${name} raises`, () =>
      assert.match(failureOf(`return ("x"):${name}("x", "y")`), new RegExp(`string\\.${name} is not supported by Karmada`)))
  }

  it('texts beyond a million bytes are refused by the string library', () => {
    const grow = 'local s = "0123456789"; for _ = 1, 6 do s = s .. s .. s .. s .. s .. s .. s .. s .. s .. s end; return s:find("9")'
    assert.match(
      failureOf(grow),
      /string length 10000000 exceeds the maximum allowed input string length 1000000 in Karmada lua string lib/,
    )
  })

  const MALFORMED: readonly [string, RegExp][] = [
    ['("x"):match("[a")', /malformed pattern \(missing '\]'\)/],
    ['("x"):match("%")', /malformed pattern \(ends with '%'\)/],
    ['("x"):match("(x")', /unfinished capture/],
    ['("x"):match("x)")', /invalid pattern capture/],
    ['("x"):match("%1")', /invalid capture index/],
    ['("x"):match("%b")', /unbalanced pattern/],
    ['("x"):match("%f")', /missing '\[' after '%f'/],
    ['string.format("%d", "x")', /bad argument #2 to 'format' \(number expected, got string\)/],
    ['string.format("%y", 1)', /invalid option '%y' to 'format'/],
    ['string.format("%d")', /bad argument #2 to 'format' \(number expected, got no value\)/],
    ['table.concat({1, {}})', /invalid value \(table\) at index 2 in table for 'concat'/],
    ['table.sort({1, "x"})', /attempt to compare/],
    ['math.random(0)', /interval is empty/],
    ['require("os")', /module os not found/],
    ['package.loadlib("x", "y")', /package.loadlib is not supported/],
  ]
  for (const [call, message] of MALFORMED) it(`refuses ${call}`, () => assert.match(failureOf(`return ${call}`), message))
})
