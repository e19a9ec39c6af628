/**
 * JSON that is printed exactly as it was, except for what changes: without spaces, keys in their places, numbers and
 * strings verbatim. To that end, in a parsed document each number and string is a symbol whose description is its source
 * text, and each object a Map, because JavaScript objects reorder some keys.
 */
import { isJsonObject } from '../../base/json.ts'
import { compareStrings, goJson } from '../../kube/go-print.ts'
import { JsonTextError, parseJsonText } from '../../kube/json-text.ts'
import { DoesNotApply } from './json-patch.ts'

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g

/** Throws DoesNotApply for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    parseJsonText(text)
  } catch (error) {
    if (error instanceof JsonTextError) throw new DoesNotApply(`the text is not JSON: ${error.message}`)
    throw error
  }
  // Every token becomes a string that holds its source text; keys are decoded a second time.
  return unmarked(JSON.parse(text.replace(TOKENS, (token) => JSON.stringify(token))))
}

function unmarked(value: unknown): unknown {
  if (typeof value === 'string') return Symbol(value)
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isJsonObject(value)) return value
  return new Map(Object.keys(value).map((key) => [JSON.parse(key) as string, unmarked(value[key])]))
}

export function printJson(value: unknown): string {
  if (typeof value === 'symbol') return withoutHtml(value.description ?? '')
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`
  if (!(value instanceof Map)) return goJson(value)
  return `{${[...(value as ReadonlyMap<string, unknown>)].map(([key, one]) => `${goJson(key)}:${printJson(one)}`).join(',')}}`
}

/** As Go's encoder leaves strings that it copies. */
const withoutHtml = (text: string): string =>
  text.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Values that a policy inserts have sorted keys, because that is how API servers store them. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isJsonObject(value)) return value
  return new Map(
    Object.keys(value)
      .sort(compareStrings)
      .map((key) => [key, inOrder(value[key])]),
  )
}
