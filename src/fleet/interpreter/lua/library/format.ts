/** `string.format`. */
import { display } from '../values.ts'
import type { Arguments } from './arguments.ts'

const SPECIFIER = /%(?:%|([-+ #0]{0,5})(\d{0,2})(?:\.(\d{0,2}))?([a-zA-Z]?))/g

interface Specifier {
  flags: string
  width: number
  precision: number | undefined
}

/** A piece of a format: literal text, or a placeholder. */
type Piece = string | (Specifier & { letter: string; whole: string })

/** Scripts use a few formats over and over. */
const templates = new Map<string, readonly Piece[]>()
const MANY_TEMPLATES = 500

function piecesOf(template: string): readonly Piece[] {
  const known = templates.get(template)
  if (known !== undefined) return known
  const pieces = parsed(template)
  if (template.length > 100) return pieces
  if (templates.size >= MANY_TEMPLATES) templates.clear()
  templates.set(template, pieces)
  return pieces
}

function parsed(template: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const match of template.matchAll(SPECIFIER)) {
    const [whole, flags, width, precision, letter = ''] = match
    pieces.push(template.slice(end, match.index))
    end = match.index + whole.length
    if (flags === undefined) pieces.push('%')
    else pieces.push({ flags, width: Number(width), precision: precision === undefined ? undefined : Number(precision), letter, whole })
  }
  pieces.push(template.slice(end))
  return pieces.filter((piece) => piece !== '')
}

export function format(args: Arguments): string {
  let position = 1
  let text = ''
  for (const piece of piecesOf(args.boundedText(1))) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    const formatted = one(args, ++position, piece.letter, piece, piece.whole)
    args.run.make(formatted.length)
    text += formatted
  }
  args.run.make(text.length)
  return text
}

function one(args: Arguments, position: number, letter: string, specifier: Specifier, whole: string): string {
  switch (letter) {
    case 'd':
    case 'i':
    case 'u':
      return padNumber(signed(integerText(args, position, 10, specifier), specifier), specifier, specifier.precision === undefined)
    case 'o':
      return padNumber(integerText(args, position, 8, specifier), specifier, specifier.precision === undefined)
    case 'x':
      return padNumber(integerText(args, position, 16, specifier), specifier, specifier.precision === undefined)
    case 'X':
      return padNumber(integerText(args, position, 16, specifier).toUpperCase(), specifier, specifier.precision === undefined)
    case 'e':
    case 'f':
    case 'g':
      return padNumber(signed(floatText(args.number(position), letter, specifier), specifier), specifier, true)
    case 'E':
    case 'G':
      return padNumber(signed(floatText(args.number(position), letter.toLowerCase(), specifier).toUpperCase(), specifier), specifier, true)
    case 'c':
      return padText(String.fromCharCode(args.integer(position) & 0xff), specifier)
    case 'q':
      return quote(args.boundedText(position))
    case 's': {
      if (position > args.count) args.wrong(position, 'no value')
      const text = display(args.any(position))
      return padText(specifier.precision === undefined ? text : text.slice(0, specifier.precision), specifier)
    }
    default:
      return args.run.fail(args.site, `invalid option '${whole}' to 'format'`)
  }
}

function integerText(args: Arguments, position: number, base: number, { precision, flags }: Specifier): string {
  const value = Math.trunc(args.number(position))
  if (!Number.isFinite(value)) return args.wrong(position, 'number has no integer representation')
  const isNegative = value < 0
  // Other bases show the bits of a negative number.
  const magnitude = base !== 10 && isNegative ? BigInt.asUintN(64, BigInt(value)) : BigInt(Math.abs(value))
  const digits = magnitude.toString(base).padStart(precision ?? 1, '0')
  if (base === 16 && flags.includes('#')) return `0x${digits}`
  return isNegative && base === 10 ? `-${digits}` : digits
}

function floatText(value: number, letter: string, { precision, flags }: Specifier): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (letter === 'f') return Math.abs(value) < 1e21 ? value.toFixed(precision ?? 6) : BigInt(value).toString()
  if (letter === 'e') return exponentOfTwoDigits(value.toExponential(precision ?? 6))
  const digits = Math.max(precision ?? 6, 1)
  const exponent = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1])
  const isPlain = exponent >= -4 && exponent < digits
  const text = isPlain ? value.toFixed(digits - 1 - exponent) : value.toExponential(digits - 1)
  return exponentOfTwoDigits(flags.includes('#') ? text : text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, ''))
}

const exponentOfTwoDigits = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2')

const signed = (text: string, { flags }: Specifier): string =>
  text.startsWith('-') ? text : flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text

function padNumber(text: string, specifier: Specifier, allowsZeros: boolean): string {
  const { flags, width } = specifier
  if (!flags.includes('0') || flags.includes('-') || !allowsZeros || text.length >= width) return padText(text, specifier)
  const sign = /^[-+ ]?/.exec(text)?.[0] ?? ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}

const padText = (text: string, { flags, width }: Specifier): string => (flags.includes('-') ? text.padEnd(width) : text.padStart(width))

const quote = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is quoted
  `"${text.replace(/["\\\n\r\u0000]/g, (char) => (char === '\r' ? '\\r' : char === '\u0000' ? '\\000' : `\\${char}`))}"`
