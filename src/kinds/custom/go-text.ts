/** Values as Go prints them into the messages about custom resources. */
import { compareStrings, goJson } from '../../kube/go-print.ts'

/** %v of a number: shortest digits, exponent form below 1e-4 and from 1e21 on, two exponent digits at least. */
export function goNumber(value: number): string {
  if (Object.is(value, -0)) return '0'
  const size = Math.abs(value)
  if (size !== 0 && size < 1e-4) {
    const [digits = '', exponent = ''] = value.toExponential().split('e-')
    return `${digits}e-${exponent.padStart(2, '0')}`
  }
  return String(value)
}

/** JSON as encoding/json writes decoded JSON: maps with their keys sorted. */
export const goMapJson = (value: unknown): string => goJson(sortKeys(value))

export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort(compareStrings)
      .map((key) => [key, sortKeys((value as Record<string, unknown>)[key])]),
  )
}
