/** IntOrString: a number, or a text that is usually a percentage. */
import { goQuote } from './go-print.ts'
import { type Parsed, parsed, unparsed } from './parsed.ts'

export type IntOrString = number | string

/** The number a value stands for, given a total; percentages are rounded as requested, plain numbers are used unchanged. */
export function scaledIntOrPercent(value: IntOrString | undefined | null, total: number, roundUp: boolean): Parsed<number> {
  if (value === undefined || value === null) return unparsed('nil value for IntOrString')
  if (typeof value === 'number') return parsed(value)
  if (!value.endsWith('%')) return unparsed('invalid value for IntOrString: invalid type: string is not a percentage')
  const number = atoi(value.slice(0, -1))
  if (number.error !== undefined) return unparsed(`invalid value for IntOrString: invalid value ${goQuote(value)}: ${number.error}`)
  const scaled = (number.value * total) / 100
  return parsed(roundUp ? Math.ceil(scaled) : Math.floor(scaled))
}

/** The percentage a text states, or undefined when it is none. */
export function percentOf(value: IntOrString): number | undefined {
  if (typeof value !== 'string' || !value.endsWith('%')) return undefined
  return atoi(value.slice(0, -1)).value
}

/** strconv.Atoi. */
function atoi(text: string): Parsed<number> {
  if (!/^[+-]?[0-9]+$/.test(text)) return unparsed(`strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)
  const value = Number(text)
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? unparsed(`strconv.Atoi: parsing ${goQuote(text)}: value out of range`) : parsed(value)
}
