/** The math library. `random` starts with the same seed at every call: a rule is a function of its arguments. */
import type { Run } from '../run.ts'
import { NOTHING } from '../values.ts'
import { type Arguments, library } from './arguments.ts'

/** mulberry32. */
function nextRandom(run: Run): number {
  run.seed = (run.seed + 0x6d2b79f5) >>> 0
  let t = run.seed
  t = Math.imul(t ^ (t >>> 15), t | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

function random(args: Arguments): number {
  if (args.count === 0) return nextRandom(args.run)
  const [low, high] = args.count === 1 ? [1, args.integer(1)] : [args.integer(1), args.integer(2)]
  if (low > high) args.wrong(args.count === 1 ? 1 : 2, 'interval is empty')
  return low + Math.floor(nextRandom(args.run) * (high - low + 1))
}

function extreme(args: Arguments, choose: (a: number, b: number) => number): number {
  let result = args.number(1)
  for (let i = 2; i <= args.count; i++) result = choose(result, args.number(i))
  return result
}

/** Mantissa in [0.5, 1) and exponent. */
function frexp(value: number): number[] {
  if (value === 0 || !Number.isFinite(value)) return [value, 0]
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(value))) + 1)
  let mantissa = value * 2 ** -exponent
  while (Math.abs(mantissa) < 0.5) {
    mantissa *= 2
    exponent--
  }
  while (Math.abs(mantissa) >= 1) {
    mantissa /= 2
    exponent++
  }
  return [mantissa, exponent]
}

const ofOne = (compute: (value: number) => number) => (args: Arguments) => compute(args.number(1))
const ofTwo = (compute: (a: number, b: number) => number) => (args: Arguments) => compute(args.number(1), args.number(2))

export const mathLibrary = library(
  {
    abs: ofOne(Math.abs),
    acos: ofOne(Math.acos),
    asin: ofOne(Math.asin),
    atan: ofOne(Math.atan),
    atan2: ofTwo(Math.atan2),
    ceil: ofOne(Math.ceil),
    cos: ofOne(Math.cos),
    cosh: ofOne(Math.cosh),
    deg: ofOne((value) => (value * 180) / Math.PI),
    exp: ofOne(Math.exp),
    floor: ofOne(Math.floor),
    fmod: ofTwo((a, b) => a % b),
    frexp: (args) => frexp(args.number(1)),
    ldexp: ofTwo((a, b) => a * 2 ** b),
    log: ofOne(Math.log),
    log10: ofOne(Math.log10),
    max: (args) => extreme(args, Math.max),
    min: (args) => extreme(args, Math.min),
    mod: ofTwo((a, b) => a % b),
    modf(args) {
      const value = args.number(1)
      const whole = Math.trunc(value)
      return [whole, Number.isFinite(value) ? value - whole : 0]
    },
    pow: ofTwo((a, b) => a ** b),
    rad: ofOne((value) => (value * Math.PI) / 180),
    random,
    randomseed(args) {
      args.run.seed = args.integer(1) >>> 0
      return NOTHING
    },
    sin: ofOne(Math.sin),
    sinh: ofOne(Math.sinh),
    sqrt: ofOne(Math.sqrt),
    tan: ofOne(Math.tan),
    tanh: ofOne(Math.tanh),
  },
  { huge: Infinity, pi: Math.PI },
)
