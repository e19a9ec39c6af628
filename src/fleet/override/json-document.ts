/**
 * JSON that is printed again as it was, but for what changes: without spaces, keys in their places, numbers and texts to the
 * letter. So while the document is at hand, each number and each text in it is a symbol whose description is how it was
 * written, and each object a Map, because objects of JavaScript put some keys before others.
 */
import { isJsonObject } from '../../base/json.ts'
import { compareStrings, goJson } from '../../kube/go-print.ts'
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
  // Every token becomes a text that holds how it was written; keys are read a second time.
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

/** As Go's encoder leaves texts that it takes over. */
const withoutHtml = (text: string): string =>
  text.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** What a policy puts into a document has its keys in order: so API servers keep them. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isJsonObject(value)) return value
  return new Map(
    Object.keys(value)
      .sort(compareStrings)
      .map((key) => [key, inOrder(value[key])]),
  )
}
