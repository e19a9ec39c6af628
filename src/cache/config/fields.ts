/**
 * Reads fields of parsed JSON that others wrote: each is of the expected type and within bounds, or the error names the field and
 * says what is expected. Only own properties count.
 */
import { isJsonObject, type JsonObject } from '../../base/json.ts'

/** A configuration that cannot be used; the message names the field. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface Fields {
  readonly where: string
  readonly object: JsonObject
}

const LONGEST_TEXT = 4096
const MOST_ENTRIES = 1024

export function fieldsOf(value: unknown, where: string): Fields {
  if (!isJsonObject(value)) throw new ConfigError(`${where} must be an object`)
  return { where, object: value }
}

export const own = ({ object }: Fields, name: string): unknown => (Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined)

export function textOf(fields: Fields, name: string, longest = LONGEST_TEXT): string | undefined {
  const value = own(fields, name)
  if (value === undefined) return undefined
  if (typeof value !== 'string' || value.length > longest || value.includes('\0'))
    throw new ConfigError(`${fields.where}.${name} must be a text of at most ${longest} characters`)
  return value
}

export function flagOf(fields: Fields, name: string): boolean {
  const value = own(fields, name)
  if (value !== undefined && typeof value !== 'boolean') throw new ConfigError(`${fields.where}.${name} must be true or false`)
  return value ?? false
}

export function countOf(fields: Fields, name: string, most: number): number | undefined {
  const value = own(fields, name)
  if (value === undefined) return undefined
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > most)
    throw new ConfigError(`${fields.where}.${name} must be a whole number from 0 to ${most}`)
  return value as number
}

export function listOf(fields: Fields, name: string, most = MOST_ENTRIES): readonly unknown[] {
  const value = own(fields, name)
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > most)
    throw new ConfigError(`${fields.where}.${name} must be a list of at most ${most} entries`)
  return value
}

export const textsOf = (fields: Fields, name: string, most = MOST_ENTRIES): string[] =>
  listOf(fields, name, most).map((value, i) => {
    if (typeof value !== 'string' || value.length > LONGEST_TEXT || value.includes('\0'))
      throw new ConfigError(`${fields.where}.${name}[${i}] must be a text of at most ${LONGEST_TEXT} characters`)
    return value
  })

/** A map of texts. A Map, because keys come from input. */
export function textMapOf(fields: Fields, name: string): ReadonlyMap<string, string> {
  const value = own(fields, name)
  if (value === undefined) return new Map()
  if (!isJsonObject(value) || Object.keys(value).length > MOST_ENTRIES)
    throw new ConfigError(`${fields.where}.${name} must be an object of at most ${MOST_ENTRIES} texts`)
  return new Map(
    Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string' || text.length > LONGEST_TEXT)
        throw new ConfigError(`${fields.where}.${name}[${JSON.stringify(key)}] must be a text`)
      return [key, text]
    }),
  )
}
