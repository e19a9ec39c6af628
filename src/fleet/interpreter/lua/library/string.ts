/** The string library. Positions count bytes, whatever the characters are. */
import type { Run } from '../run.ts'
import { byteCount, byteWork, fromBytes, isAscii, toBytes } from '../text.ts'
import { isTruthy, type LuaFunction, type LuaResult, type LuaValue, NOTHING } from '../values.ts'
import { type Arguments, library } from './arguments.ts'
import { format } from './format.ts'
import { Matcher } from './pattern.ts'

const MAX_RESULTS = 8000
const SPECIAL = /[\^$*+?.([%-]/

function made(run: Run, bytes: string): string {
  run.make(bytes.length)
  run.work(byteWork(bytes))
  return fromBytes(run, bytes)
}

/** From 1, or from the end when negative. */
const positionFrom = (position: number, length: number): number => (position >= 0 ? position : Math.max(length + position + 1, 0))

function slice(args: Arguments): string {
  const bytes = toBytes(args.boundedText(1))
  const start = Math.max(positionFrom(args.integer(2, 1), bytes.length), 1)
  const end = Math.min(positionFrom(args.integer(3, -1), bytes.length), bytes.length)
  return start > end ? '' : made(args.run, bytes.slice(start - 1, end))
}

function byte(args: Arguments): LuaResult {
  const bytes = toBytes(args.boundedText(1))
  const start = Math.max(positionFrom(args.integer(2, 1), bytes.length), 1)
  const end = Math.min(positionFrom(args.integer(3, start), bytes.length), bytes.length)
  if (start > end) return NOTHING
  if (end - start >= MAX_RESULTS) return args.run.fail(args.site, 'string slice too long')
  args.run.work(end - start)
  return Array.from({ length: end - start + 1 }, (_, i) => bytes.charCodeAt(start - 1 + i))
}

function char(args: Arguments): string {
  let bytes = ''
  for (let i = 1; i <= args.count; i++) bytes += String.fromCharCode(args.integer(i) & 0xff)
  return made(args.run, bytes)
}

/** Characters whose other case is longer are left unchanged, as in Go. */
function inCase(args: Arguments, change: (char: string) => string): string {
  const text = args.boundedText(1)
  args.run.make(text.length)
  if (isAscii(text)) return change(text)
  let changed = ''
  for (const symbol of text) {
    const other = change(symbol)
    changed += other.length === symbol.length ? other : symbol
  }
  return changed
}

/** The captures, as strings. The bytes of an ASCII string are the string itself. */
function texts(run: Run, results: LuaValue[], isPlain: boolean): LuaValue[] {
  for (let i = 0; i < results.length; i++) {
    const value = results[i]
    if (typeof value !== 'string') continue
    if (isPlain) run.make(value.length)
    else results[i] = made(run, value)
  }
  return results
}

function search(args: Arguments, isFind: boolean): LuaResult {
  const given = args.boundedText(1)
  const text = toBytes(given)
  const isPlain = text === given
  const pattern = toBytes(args.boundedText(2))
  let at = Math.min(Math.max(positionFrom(args.integer(3, 1), text.length) - 1, 0), text.length)
  if (isFind && (isTruthy(args.any(4)) || !SPECIAL.test(pattern))) {
    // In the worst case the pattern is compared at every position.
    args.run.work((text.length >> 4) + Math.floor((text.length * pattern.length) / 512))
    const found = text.indexOf(pattern, at)
    return found < 0 ? undefined : [found + 1, found + pattern.length]
  }
  const matcher = new Matcher(args, text, pattern)
  const isAnchored = pattern[0] === '^'
  do {
    const end = matcher.matchAt(at, isAnchored ? 1 : 0)
    if (end === undefined) continue
    return isFind ? [at + 1, end, ...texts(args.run, matcher.captured(), isPlain)] : texts(args.run, matcher.results(at, end), isPlain)
  } while (++at <= text.length && !isAnchored)
  return undefined
}

function matches(args: Arguments): LuaFunction {
  const given = args.boundedText(1)
  const text = toBytes(given)
  const isPlain = text === given
  const matcher = new Matcher(args, text, toBytes(args.boundedText(2)))
  let at = 0
  return (run) => {
    for (; at <= text.length; at++) {
      const end = matcher.matchAt(at, 0)
      if (end === undefined) continue
      const results = texts(run, matcher.results(at, end), isPlain)
      at = end > at ? end : at + 1
      return results
    }
    return undefined
  }
}

const unsupported = (name: string) => (args: Arguments) =>
  args.run.fail(
    args.site,
    `The Lua function string.${name} is not supported by Karmada. If you believe this function is essential for your use case, please submit an issue to let us know why you need it.`,
  )

export const stringLibrary = library({
  byte,
  char,
  dump: unsupported('dump'),
  find: (args) => search(args, true),
  format,
  gfind: matches,
  gmatch: matches,
  gsub: unsupported('gsub'),
  len: (args) => byteCount(args.boundedText(1)),
  lower: (args) => inCase(args, (text) => text.toLowerCase()),
  match: (args) => search(args, false),
  rep: unsupported('rep'),
  reverse(args) {
    const bytes = toBytes(args.boundedText(1))
    args.run.read(bytes.length)
    return made(args.run, [...bytes].reverse().join(''))
  },
  sub: slice,
  upper: (args) => inCase(args, (text) => text.toUpperCase()),
})
