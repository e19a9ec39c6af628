/** The global functions, including those that only report that they must not be used. */
import { LuaError } from '../errors.ts'
import { next, nextIndex } from '../iteration.ts'
import { display, isTruthy, type LuaFunction, type LuaValue, listOf, NOTHING, parseNumber, typeName } from '../values.ts'
import { type Arguments, library } from './arguments.ts'

const FORBIDDEN = [
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
]

/** More results than this would not fit a call. */
const MAX_RESULTS = 8000

/** Fields `first` to `last` as results. */
export function unpack(args: Arguments, first: number, last: number): LuaValue[] {
  if (last - first >= MAX_RESULTS) args.run.fail(args.site, 'too many results to unpack')
  const table = args.table(1)
  const values: LuaValue[] = []
  for (let i = first; i <= last; i++) values.push(table.get(i))
  args.run.work(values.length)
  return values
}

function toNumber(args: Arguments): number | undefined {
  const base = args.integer(2, 10)
  const value = args.any(1)
  if (args.count === 0) args.wrong(1, 'value expected')
  if (base === 10) return typeof value === 'number' ? value : typeof value === 'string' ? parseNumber(value) : undefined
  if (base < 2 || base > 36) args.wrong(2, 'base out of range')
  const given = args.text(1)
  args.run.read(given.length)
  const text = given.trim().toLowerCase().slice(0, 400)
  const digits = base === 16 ? text.replace(/^0x/, '') : text
  const isNumeral = digits !== '' && [...digits].every((digit) => /[0-9a-z]/.test(digit) && Number.parseInt(digit, 36) < base)
  return isNumeral ? Number.parseInt(digits, base) : undefined
}

function raise(args: Arguments): never {
  const value = args.any(1)
  if (typeof value !== 'string') throw new LuaError(display(value), value)
  throw new LuaError(args.integer(2, 1) === 0 ? value : args.run.at(args.site) + value)
}

/** Catches errors of a script, but never an exhausted budget. */
function protectedCall(args: Arguments, onError: (value: LuaValue) => LuaValue): LuaValue[] {
  const depth = args.run.depth
  try {
    return [true, ...listOf((args.any(1) as LuaFunction)(args.run, args.site, ...args.from(2)))]
  } catch (error) {
    if (!(error instanceof LuaError)) throw error
    args.run.depth = depth
    return [false, onError(error.value)]
  }
}

export const baseLibrary = library(
  {
    assert(args) {
      if (args.count === 0) args.wrong(1, 'value expected')
      if (isTruthy(args.any(1))) return args.from(1)
      const message = args.any(2)
      if (message !== undefined && typeof message !== 'string') throw new LuaError(display(message), message)
      throw new LuaError(message ?? 'assertion failed!')
    },
    error: raise,
    ipairs: (args) => [nextIndex, args.table(1), 0],
    pairs: (args) => [next, args.table(1), undefined],
    pcall(args) {
      if (typeof args.any(1) !== 'function') return [false, `attempt to call a ${typeName(args.any(1))} value`]
      return protectedCall(args, (value) => value)
    },
    /** There is nowhere to print to. */
    print: () => NOTHING,
    select(args) {
      if (args.any(1) === '#') return args.count - 1
      const position = args.integer(1)
      if (position === 0 || position < 1 - args.count) args.wrong(1, 'index out of range')
      return args.from(position < 0 ? args.count + position + 1 : position + 1)
    },
    tonumber: toNumber,
    tostring(args) {
      if (args.count === 0) args.wrong(1, 'value expected')
      return display(args.any(1))
    },
    type(args) {
      return args.count === 0 ? args.wrong(1, 'value expected') : typeName(args.any(1))
    },
    unpack: (args) => unpack(args, args.integer(2, 1), args.integer(3, args.table(1).length())),
    xpcall(args) {
      const handler = args.function(2)
      const failed = protectedCall(args, (value) => listOf(handler(args.run, args.site, value))[0])
      return failed
    },
    ...Object.fromEntries(
      FORBIDDEN.map((name) => [
        name,
        (args: Arguments) => args.run.fail(args.site, `call function ${name} is not supported in karmada customized resourceinterpreter.`),
      ]),
    ),
  },
  { _VERSION: 'Lua 5.1', next },
)
