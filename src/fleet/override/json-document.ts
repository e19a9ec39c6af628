/**
 * JSON that is printed again as it was, but for what changes: without spaces, keys in their places, numbers to the digit.
 * JavaScript would round some numbers, so while the document is at hand each is a symbol whose description is its text.
 */
import { isJsonObject, setOwn } from '../../base/json.ts'
import { goJson } from '../../kube/go-print.ts'
import { JsonTextError, parseJsonText } from '../../kube/json-text.ts'
import { DoesNotApply } from './json-patch.ts'

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g

/** Throws DoesNotApply for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    parseJsonText(text)
  } catch (error) {
    if (error instanceof JsonTextError) throw new DoesNotApply(`the text is not JSON: ${error.message}`)
    throw error
  }
  // The first character of every text then tells what it was: a text (keys, too) or a number.
  const marked = text.replace(TOKENS, (token) => (token.startsWith('"') ? `"t${token.slice(1)}` : `"n${token}"`))
  return unmarked(JSON.parse(marked))
}

function unmarked(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('n') ? Symbol(value.slice(1)) : value.slice(1)
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isJsonObject(value)) return value
  const object = {}
  for (const key of Object.keys(value)) setOwn(object, key.slice(1), unmarked(value[key]))
  return object
}

export function printJson(value: unknown): string {
  if (typeof value === 'symbol') return value.description ?? ''
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`
  if (!isJsonObject(value)) return goJson(value)
  return `{${Object.keys(value)
    .map((key) => `${goJson(key)}:${printJson(value[key])}`)
    .join(',')}}`
}
